package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"countersign.dev/internal/domain/support"
	engine "countersign.dev/internal/sqlite"
)

// stemMark begins a stem among the words: no word of a text or a query has it.
const stemMark = "\ue001"

// within is the condition that a scope puts on a row t. Every statement that
// reads or changes tickets or articles goes through it.
func within(visible support.Rows) (c engine.Clause) {
	switch visible {
	case support.AllRows:
		c.And("true")
	case support.PublishedRows:
		c.And("t.status = '" + support.ArticlePublished + "'")
	default:
		c.And("false")
	}
	return c
}

// table is how rows of one kind are read.
type table[T any] struct {
	name    string // its words are in the table of this name and _words
	columns string
	scan    func(row *T, scan func(...any) error) error // score comes last
}

var ticketTable = table[support.Ticket]{"tickets",
	`t.id, t.subject, t.description, t.status, t.priority, t.customer_id, t.customer_name, t.customer_email, t.assigned_to, t.category, t.tags,
  t.created_at, t.updated_at, t.resolved_at, t.resolution, t.resolution_type, t.customer_notified, t.closed_by, t.closed_at, t.version`, scanTicket}

var articleTable = table[support.Article]{"articles",
	`t.id, t.title, t.summary, t.content, t.category, t.tags, t.author, t.status, t.views, t.votes, t.created_at, t.updated_at`, scanArticle}

func scanTicket(t *support.Ticket, scan func(...any) error) error {
	var created, updated int64
	var resolved, closed *int64
	var tags string
	var outcome, by sql.NullString
	err := scan(&t.ID, &t.Subject, &t.Description, &t.Status, &t.Priority, &t.CustomerID, &t.CustomerName, &t.CustomerEmail, &t.AssignedTo, &t.Category, &tags,
		&created, &updated, &resolved, &t.Resolution, &outcome, &t.Notified, &by, &closed, &t.Version.Number, &t.Score)
	if err != nil {
		return err
	}
	t.Outcome, t.ClosedBy = outcome.String, by.String
	t.CreatedAt, t.UpdatedAt = time.UnixMilli(created).UTC(), time.UnixMilli(updated).UTC()
	t.ResolvedAt, t.ClosedAt = moment(resolved), moment(closed)
	return json.Unmarshal([]byte(tags), &t.Tags)
}

// moment reads a time that a row may not have.
func moment(ms *int64) *time.Time {
	if ms == nil {
		return nil
	}
	return new(time.UnixMilli(*ms).UTC())
}

func scanArticle(a *support.Article, scan func(...any) error) error {
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
func (s *Store) Ticket(ctx context.Context, scope support.Scope, id string) (support.Ticket, bool, error) {
	return one(ctx, s, ticketTable, within(scope.Tickets()), id)
}

// Article returns one article.
func (s *Store) Article(ctx context.Context, scope support.Scope, id string) (support.Article, bool, error) {
	return one(ctx, s, articleTable, within(scope.Articles()), id)
}

// one reads a row by its id; it has no score.
func one[T any](ctx context.Context, s *Store, of table[T], where engine.Clause, id string) (row T, found bool, err error) {
	ctx, cancel := engine.Bounded(ctx)
	defer cancel()
	where.And("t.id = ?", id)
	read := s.In(ctx).QueryRowContext(ctx, "select "+of.columns+", 0.0 from "+of.name+" t where "+where.String(), where.Args...)
	if err = of.scan(&row, read.Scan); errors.Is(err, sql.ErrNoRows) {
		return row, false, nil
	}
	return row, err == nil, s.Fault(ctx, err)
}

// Tickets returns a page.
func (s *Store) Tickets(ctx context.Context, scope support.Scope, q support.TicketQuery) ([]support.Ticket, error) {
	where := within(scope.Tickets())
	narrow(&where, "status", q.Status)
	narrow(&where, "priority", q.Priority)
	narrow(&where, "customer_id", q.CustomerID)
	return find(ctx, s, ticketTable, where, q.Find, q.After, q.Limit)
}

// Articles returns a page.
func (s *Store) Articles(ctx context.Context, scope support.Scope, q support.ArticleQuery) ([]support.Article, error) {
	where := within(scope.Articles())
	narrow(&where, "category", q.Category)
	return find(ctx, s, articleTable, where, q.Find, q.After, q.Limit)
}

// narrow adds that a column has a value, in whatever case, unless nothing is asked for.
func narrow(where *engine.Clause, column, value string) {
	if value != "" {
		where.And("t."+column+" = ? collate nocase", value)
	}
}

func find[T any](ctx context.Context, s *Store, of table[T], where engine.Clause, q support.Query, after *support.Key, limit int) (found []T, err error) {
	if q.Nothing() {
		return nil, nil
	}
	ctx, cancel := engine.Bounded(ctx)
	defer cancel()
	statement, args := of.newest(where, q, after)
	if q.Scored() {
		statement, args = of.best(where, q, after)
	}
	rows, err := s.In(ctx).QueryContext(ctx, statement, append(args, limit)...)
	err = s.Each(ctx, rows, err, func() error {
		var row T
		err := of.scan(&row, rows.Scan)
		found = append(found, row)
		return err
	})
	return found, err
}

// newest is the statement for a query without words.
func (of table[T]) newest(where engine.Clause, q support.Query, after *support.Key) (string, []any) {
	if without := q.Without(); len(without) > 0 {
		where.And("t.n not in (select rowid from "+of.name+"_words where "+of.name+"_words match ?)", anyOf(without))
	}
	if after != nil {
		where.And("(t.created_at, t.id) < (?, ?)", after.Created, after.ID)
	}
	return "select " + of.columns + ", 1.0 from " + of.name + " t where " + where.String() + " order by t.created_at desc, t.id desc limit ?", where.Args
}

// best is the statement for a query with words, with the scores that
// [support.Query] defines. FTS5's own ranks count words over all rows, hidden ones
// too. The page is found first, so that whole rows are sorted for no others.
func (of table[T]) best(where engine.Clause, q support.Query, after *support.Key) (string, []any) {
	words := of.name + "_words"
	found := "select rowid from " + words + " where " + words + " match ?"
	score, args := fmt.Sprintf("%d.0", len(q.With())*support.TermScore), []any{}
	if q.IsAny() { // each term counts where it is
		score = "0.0"
	}
	for _, t := range q.With() {
		if q.IsAny() {
			score += fmt.Sprintf(" + %d.0 * (rowid in (%s))", support.TermScore, found)
			args = append(args, quoted(t))
		}
		score += fmt.Sprintf(" + %d.0 * (rowid in (%s))", support.HeadScore, found)
		args = append(args, "head : "+quoted(t))
	}
	if after != nil {
		where.And("(m.score, t.created_at, t.id) < (?, ?, ?)", after.Score, after.Created, after.ID)
	}
	ranked := "select rowid as n, " + score + " as score from " + words + " where " + words + " match ?"
	page := "select m.n, m.score from (" + ranked + ") m join " + of.name + " t on t.n = m.n where " + where.String() + " order by m.score desc, t.created_at desc, t.id desc limit ?"
	return "select " + of.columns + ", p.score from (" + page + ") p join " + of.name + " t on t.n = p.n order by p.score desc, t.created_at desc, t.id desc",
		append(append(args, match(q)), where.Args...)
}

// match writes a query in the language of FTS5. Between the quotes are letters,
// marks, digits and spaces only, which have no meaning in that language.
func match(q support.Query) string {
	parts := make([]string, len(q.With()))
	for i, t := range q.With() {
		parts[i] = quoted(t)
	}
	between := " AND "
	if q.IsAny() {
		between = " OR "
	}
	expression := "(" + strings.Join(parts, between) + ")"
	if len(q.Without()) > 0 {
		expression += " NOT (" + anyOf(q.Without()) + ")"
	}
	return expression
}

func anyOf(terms []support.Term) string {
	parts := make([]string, len(terms))
	for i, t := range terms {
		parts[i] = quoted(t)
	}
	return strings.Join(parts, " OR ")
}

// quoted writes a term; a single word is found by its stem too.
func quoted(t support.Term) string {
	if stem := t.Stem(); stem != "" {
		return `("` + t.Words[0] + `" OR "` + stemMark + stem + `")`
	}
	text := `"` + strings.Join(t.Words, " ") + `"`
	if t.Prefix {
		text += " *"
	}
	return text
}
