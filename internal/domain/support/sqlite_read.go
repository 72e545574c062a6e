package support

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"strings"
	"time"
)

// clause is a condition in the making. Its texts are constants of this room;
// every value is a parameter.
type clause struct {
	texts []string
	args  []any
}

func (c *clause) and(text string, args ...any) {
	c.texts = append(c.texts, text)
	c.args = append(c.args, args...)
}

// equals narrows by a column, unless nothing is asked for.
func (c *clause) equals(column, value string) {
	if value != "" {
		c.and("t."+column+" = ?", value)
	}
}

func (c clause) String() string { return strings.Join(c.texts, " and ") }

// rows is the condition that a scope puts on a row t. Every statement that
// reads or changes tickets or articles goes through it.
func (s Scope) rows(k kind) clause {
	var c clause
	switch {
	case !s.staff:
		c.and("false")
	case k == tickets || s.drafts:
		c.and("true")
	default:
		c.and("t.status = '" + articlePublished + "'")
	}
	return c
}

// shelf is how rows of one kind are read.
type shelf[T any] struct {
	kind    kind
	table   string // its words stand in the table of the same name and _words
	columns string
	scan    func(row *T, scan func(...any) error) error // score comes last
}

var ticketShelf = shelf[Ticket]{tickets, "tickets",
	`t.id, t.subject, t.description, t.status, t.priority, t.customer_id, t.customer_name, t.customer_email, t.assigned_to, t.category, t.tags,
  t.created_at, t.updated_at, t.resolved_at, t.resolution, t.version`, scanTicket}

var articleShelf = shelf[Article]{articles, "articles",
	`t.id, t.title, t.summary, t.content, t.category, t.tags, t.author, t.status, t.views, t.votes, t.created_at, t.updated_at`, scanArticle}

func scanTicket(t *Ticket, scan func(...any) error) error {
	var created, updated int64
	var resolved *int64
	var tags string
	err := scan(&t.ID, &t.Subject, &t.Description, &t.Status, &t.Priority, &t.CustomerID, &t.CustomerName, &t.CustomerEmail, &t.AssignedTo, &t.Category, &tags,
		&created, &updated, &resolved, &t.Resolution, &t.Version.Number, &t.Score)
	if err != nil {
		return err
	}
	t.CreatedAt, t.UpdatedAt = time.UnixMilli(created).UTC(), time.UnixMilli(updated).UTC()
	if resolved != nil {
		at := time.UnixMilli(*resolved).UTC()
		t.ResolvedAt = &at
	}
	return json.Unmarshal([]byte(tags), &t.Tags)
}

func scanArticle(a *Article, scan func(...any) error) error {
	var created, updated int64
	var tags string
	err := scan(&a.ID, &a.Title, &a.Summary, &a.Content, &a.Category, &tags, &a.Author, &a.Status, &a.Views, &a.Votes, &created, &updated, &a.Score)
	if err != nil {
		return err
	}
	a.CreatedAt, a.UpdatedAt = time.UnixMilli(created).UTC(), time.UnixMilli(updated).UTC()
	return json.Unmarshal([]byte(tags), &a.Tags)
}

// Ticket returns one ticket.
func (s *SQLite) Ticket(ctx context.Context, scope Scope, id string) (Ticket, bool, error) {
	return one(ctx, s, ticketShelf, scope, id)
}

// Article returns one article.
func (s *SQLite) Article(ctx context.Context, scope Scope, id string) (Article, bool, error) {
	return one(ctx, s, articleShelf, scope, id)
}

// one reads a row by its id; it has no score.
func one[T any](ctx context.Context, s *SQLite, of shelf[T], scope Scope, id string) (row T, found bool, err error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	where := scope.rows(of.kind)
	where.and("t.id = ?", id)
	found1 := s.In(ctx).QueryRowContext(ctx, "select "+of.columns+", 0.0 from "+of.table+" t where "+where.String(), where.args...)
	if err = of.scan(&row, found1.Scan); errors.Is(err, sql.ErrNoRows) {
		return row, false, nil
	}
	return row, err == nil, s.Fault(ctx, err)
}

// Tickets returns a page.
func (s *SQLite) Tickets(ctx context.Context, scope Scope, q TicketQuery) ([]Ticket, error) {
	where := scope.rows(tickets)
	where.equals("status", q.Status)
	where.equals("priority", q.Priority)
	where.equals("customer_id", q.CustomerID)
	return find(ctx, s, ticketShelf, where, q.Find, q.After, q.Limit)
}

// Articles returns a page.
func (s *SQLite) Articles(ctx context.Context, scope Scope, q ArticleQuery) ([]Article, error) {
	where := scope.rows(articles)
	where.equals("category", q.Category)
	return find(ctx, s, articleShelf, where, q.Find, q.After, q.Limit)
}

func find[T any](ctx context.Context, s *SQLite, of shelf[T], where clause, q Query, after *Key, limit int) (found []T, err error) {
	if q.Nothing() {
		return nil, nil
	}
	ctx, cancel := bounded(ctx)
	defer cancel()
	statement, args := of.newest(where, q, after, limit)
	if q.Scored() {
		statement, args = of.best(where, q, after, limit)
	}
	rows, err := s.In(ctx).QueryContext(ctx, statement, args...)
	if err != nil {
		return nil, s.Fault(ctx, err)
	}
	defer rows.Close()
	for rows.Next() {
		var row T
		if err := of.scan(&row, rows.Scan); err != nil {
			return nil, s.Fault(ctx, err)
		}
		found = append(found, row)
	}
	return found, s.Fault(ctx, rows.Err())
}

// newest is the statement for a query without words.
func (of shelf[T]) newest(where clause, q Query, after *Key, limit int) (string, []any) {
	if len(q.minus) > 0 {
		where.and("t.n not in (select rowid from "+of.table+"_words where "+of.table+"_words match ?)", anyOf(q.minus))
	}
	if after != nil {
		where.and("(t.created_at, t.id) < (?, ?)", after.Created, after.ID)
	}
	return "select " + of.columns + ", 1.0 from " + of.table + " t where " + where.String() + " order by t.created_at desc, t.id desc limit ?",
		append(where.args, limit)
}

// best is the statement for a query with words. A word in the head counts
// three times as much. The scores are made once, before anything else is asked.
func (of shelf[T]) best(where clause, q Query, after *Key, limit int) (string, []any) {
	if after != nil {
		where.and("(m.score < ? or m.score = ? and t.id < ?)", after.Score, after.Score, after.ID)
	}
	words := of.table + "_words"
	statement := "with m as materialized (select rowid as n, -bm25(" + words + ", 3.0, 1.0) as score from " + words + " where " + words + " match ?) " +
		"select " + of.columns + ", m.score from m join " + of.table + " t on t.n = m.n where " + where.String() + " order by m.score desc, t.id desc limit ?"
	return statement, append(append([]any{match(q)}, where.args...), limit)
}

// match writes a query in the language of FTS5. Between the quotes stand letters,
// marks, digits and spaces only, which that language gives no meaning.
func match(q Query) string {
	parts := make([]string, len(q.with))
	for i, t := range q.with {
		parts[i] = quoted(t)
	}
	expression := "(" + strings.Join(parts, " AND ") + ")"
	if len(q.minus) > 0 {
		expression += " NOT (" + anyOf(q.minus) + ")"
	}
	return expression
}

func anyOf(terms []term) string {
	parts := make([]string, len(terms))
	for i, t := range terms {
		parts[i] = quoted(t)
	}
	return strings.Join(parts, " OR ")
}

func quoted(t term) string {
	text := `"` + strings.Join(t.words, " ") + `"`
	if t.prefix {
		text += " *"
	}
	return text
}
