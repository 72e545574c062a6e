package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"strings"

	"countersign.dev/internal/company"
	"countersign.dev/internal/domain/support"
)

const closeStatement = `
update tickets as t set status = 'closed', resolution = ?, resolution_type = ?, customer_notified = ?, closed_by = ?, closed_at = ?,
  resolved_at = coalesce(resolved_at, ?), updated_at = ?, version = version + 1
where t.id = ? and t.version = ? and t.status <> 'closed' and `

// CloseTicket closes a ticket that is as it was seen.
func (s *Store) CloseTicket(ctx context.Context, scope support.Scope, c support.Closing) error {
	in := within(scope.Tickets())
	return s.ExecOne(ctx, closeStatement+in.String(), append([]any{
		c.Resolution, c.ResolutionType, c.CustomerNotified, c.By, c.At.UnixMilli(), c.At.UnixMilli(), c.At.UnixMilli(), c.ID, c.Version.Number,
	}, in.Args...)...)
}

// Fill adds what is missing, all of it or nothing.
func (s *Store) Fill(ctx context.Context, rows company.Support) error {
	tx, err := s.Begin(ctx)
	if err != nil {
		return s.Fault(ctx, err)
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to undo
	f := &inserter{ctx: ctx, tx: tx, prepared: map[string]*sql.Stmt{}}
	for t := range rows.Tickets {
		f.ticket(t)
	}
	for a := range rows.Articles {
		f.article(a)
	}
	f.run("analyze")
	if f.err != nil {
		return s.Fault(ctx, f.err)
	}
	return s.Fault(ctx, tx.Commit())
}

const (
	insertTicket = `
insert into tickets (id, subject, description, status, priority, customer_id, customer_name, customer_email, assigned_to, category, tags,
  created_at, updated_at, resolved_at, resolution)
values (?, ?, ?, ?, ?, ?, ?, ?, nullif(?, ''), ?, ?, ?, ?, ?, ?) on conflict do nothing`
	insertArticle = `
insert into articles (id, title, summary, content, category, tags, author, status, views, votes, created_at, updated_at)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing`
	insertTicketWords  = `insert into tickets_words (rowid, head, body) values (?, ?, ?)`
	insertArticleWords = `insert into articles_words (rowid, head, body) values (?, ?, ?)`
)

// inserter writes rows one by one and stops at the first that fails.
type inserter struct {
	ctx      context.Context
	tx       *sql.Tx
	prepared map[string]*sql.Stmt // closed with the transaction
	err      error
}

// run returns the key of the row that a statement has added; 0 without one.
func (f *inserter) run(statement string, args ...any) (added int64) {
	if f.err != nil {
		return 0
	}
	prepared := f.prepared[statement]
	if prepared == nil {
		if prepared, f.err = f.tx.PrepareContext(f.ctx, statement); f.err != nil {
			return 0
		}
		f.prepared[statement] = prepared
	}
	result, err := prepared.ExecContext(f.ctx, args...)
	if err != nil {
		f.err = err
		return 0
	}
	if n, err := result.RowsAffected(); n == 0 || err != nil {
		f.err = err
		return 0
	}
	added, f.err = result.LastInsertId()
	return added
}

func (f *inserter) ticket(t company.Ticket) {
	var resolved any
	if !t.Resolved.IsZero() {
		resolved = t.Resolved.UnixMilli()
	}
	n := f.run(insertTicket, t.ID, t.Subject, t.Description, t.Status, t.Priority, t.CustomerID, t.CustomerName, t.CustomerEmail, t.AssignedTo, t.Category,
		f.list(t.Tags), t.Created.UnixMilli(), t.Updated.UnixMilli(), resolved, t.Resolution)
	if n != 0 {
		f.run(insertTicketWords, n, splitWords(t.Subject), splitWords(append([]string{t.Description, t.ID, t.CustomerName, t.Category}, t.Tags...)...))
	}
}

func (f *inserter) article(a company.Article) {
	n := f.run(insertArticle, a.ID, a.Title, a.Summary, a.Content, a.Category, f.list(a.Tags), a.Author, a.Status, a.Views, a.Votes,
		a.Created.UnixMilli(), a.Updated.UnixMilli())
	if n != 0 {
		f.run(insertArticleWords, n, splitWords(a.Title), splitWords(append([]string{a.Content, a.Summary, a.ID, a.Category}, a.Tags...)...))
	}
}

func (f *inserter) list(items []string) string {
	if items == nil {
		items = []string{}
	}
	encoded, err := json.Marshal(items)
	if f.err == nil {
		f.err = err
	}
	return string(encoded)
}

// splitWords writes the words of texts with single spaces, and then their stems. A character that no
// query can hold separates two texts, so that no phrase matches across them.
func splitWords(texts ...string) string {
	parts := make([]string, len(texts))
	for i, text := range texts {
		parts[i] = strings.Join(support.Words(text), " ")
	}
	for _, stem := range support.Stems(texts...) {
		parts = append(parts, stemMark+stem)
	}
	return strings.Join(parts, " \ue000 ")
}
