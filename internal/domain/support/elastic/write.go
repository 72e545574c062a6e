package elastic

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"

	"github.com/elastic/go-elasticsearch/v9/esapi"

	"countersign.dev/internal/access"
	"countersign.dev/internal/company"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/domain/support"
	"countersign.dev/internal/elasticsearch"
)

// confirmation is the receipt inside the document that was changed.
type confirmation struct {
	ID      string       `json:"id"`
	Owner   access.Owner `json:"owner"`
	Tool    string       `json:"tool"`
	Receipt string       `json:"receipt"` // text, so that it comes back byte for byte
}

// Change runs fn and then writes what it changed, with the receipt, as one
// update of one document.
func (e *Store) Change(ctx context.Context, fn func(context.Context) error) error {
	ctx, cancel := elasticsearch.Bounded(ctx)
	defer cancel()
	return confirm.ChangeDocument(ctx, fn)
}

// Keep adds the receipt to the update.
func (e *Store) Keep(ctx context.Context, r confirm.Receipt) error {
	return confirm.KeepInDocument(ctx, r)
}

// Find returns an owner's receipt, byte for byte, however recently it
// was written.
func (e *Store) Find(ctx context.Context, owner access.Owner, id confirm.ID) (json.RawMessage, bool, error) {
	c, found, err := e.confirmed(ctx, id)
	if err != nil || !found || c.Owner != owner {
		return nil, false, err
	}
	return json.RawMessage(c.Receipt), true, nil
}

// confirmed finds the confirmation of an id. When a search does not show it, the
// index is refreshed first: a process that ended between a change and its answer
// did not wait for the refresh.
func (e *Store) confirmed(ctx context.Context, id confirm.ID) (c confirmation, found bool, err error) {
	if c, found, err = e.shown(ctx, id); found || err != nil {
		return c, found, err
	}
	if err := e.Send(ctx, esapi.IndicesRefreshRequest{Index: e.indices[tickets : tickets+1]}, new(object)); err != nil {
		return c, false, err
	}
	return e.shown(ctx, id)
}

func (e *Store) shown(ctx context.Context, id confirm.ID) (c confirmation, found bool, err error) {
	body := object{"size": 1, "query": object{"term": object{"confirmation.id": object{"value": string(id)}}}, "_source": []string{"confirmation"}}
	var answer hits
	if err := e.Send(ctx, search(e.indices[tickets], body), &answer); err != nil || len(answer.Hits.Hits) == 0 {
		return c, false, err
	}
	var source struct{ Confirmation confirmation }
	err = json.Unmarshal(answer.Hits.Hits[0].Source, &source)
	return source.Confirmation, err == nil, err
}

// CloseTicket closes a ticket that is as it was seen, at the end of Change.
func (e *Store) CloseTicket(ctx context.Context, s support.Scope, c support.Closing) error {
	t, found, err := e.Ticket(ctx, s, c.ID)
	switch {
	case err != nil:
		return err
	case !found || t.Version != c.Version || t.Status == support.TicketClosed:
		return confirm.Stale()
	}
	return confirm.StageDocument(ctx, func(ctx context.Context, r confirm.Receipt) error { return e.close(ctx, t, c, r) })
}

// close updates one document, on the condition that no other writer has changed
// it since it was read. It returns when searches show the change.
func (e *Store) close(ctx context.Context, t support.Ticket, c support.Closing, r confirm.Receipt) error {
	_, used, err := e.confirmed(ctx, r.ID)
	if err != nil {
		return err
	}
	if used {
		return errors.New("the confirmation has made a change before")
	}
	resolved := c.At
	if t.ResolvedAt != nil {
		resolved = *t.ResolvedAt
	}
	seen := action{"update": object{"_id": c.ID, "if_seq_no": c.Version.Number, "if_primary_term": c.Version.Term}}
	outcomes, err := e.Bulk(ctx, e.indices[tickets], "wait_for", 1, seen, object{"doc": object{
		"status": support.TicketClosed, "resolution": c.Resolution, "resolution_type": c.ResolutionType, "customer_notified": c.CustomerNotified,
		"closed_by": c.By, "closed_at": c.At, "resolved_at": resolved, "updated_at": c.At,
		"confirmation": confirmation{string(r.ID), r.Owner, r.Tool, string(r.Answer)},
	}})
	if err != nil {
		return err
	}
	return e.written(ctx, outcomes[0], r)
}

// written reads the outcome of an update. A conflict may be with ourselves: the
// client sends an update again when its answer is lost.
func (e *Store) written(ctx context.Context, o elasticsearch.Outcome, r confirm.Receipt) error {
	switch o.Status {
	case http.StatusConflict:
		ours, found, err := e.confirmed(ctx, r.ID)
		if err != nil || found && ours.Owner == r.Owner {
			return err
		}
		return confirm.Stale()
	case http.StatusNotFound:
		return confirm.Stale()
	}
	return e.OutcomeFault(o)
}

// action is the first line of a pair in a bulk request.
type action map[string]any

// fillBatch is how many documents are sent at a time.
const fillBatch = 1000

// Fill makes the indices and adds what is missing. It can be run again after a
// failure.
func (e *Store) Fill(ctx context.Context, rows company.Support) error {
	if err := e.Migrate(ctx); err != nil {
		return err
	}
	if err := add(ctx, e, tickets, rows.Tickets, newTicket); err != nil {
		return err
	}
	if err := add(ctx, e, articles, rows.Articles, newArticle); err != nil {
		return err
	}
	return e.Send(ctx, esapi.IndicesRefreshRequest{Index: e.indices[:]}, new(object))
}

// add creates a document for each row that has none.
func add[Row, Doc any](ctx context.Context, e *Store, k kind, rows iter.Seq[Row], doc func(Row) (id string, d Doc)) error {
	var lines []any
	for row := range rows {
		id, d := doc(row)
		if lines = append(lines, action{"create": object{"_id": id}}, d); len(lines) == 2*fillBatch {
			if err := e.create(ctx, k, lines); err != nil {
				return err
			}
			lines = lines[:0]
		}
	}
	return e.create(ctx, k, lines)
}

func (e *Store) create(ctx context.Context, k kind, lines []any) error {
	if len(lines) == 0 {
		return nil
	}
	outcomes, err := e.Bulk(ctx, e.indices[k], "", len(lines)/2, lines...)
	if err != nil {
		return err
	}
	for _, o := range outcomes {
		if err := e.OutcomeFault(o); err != nil && o.Status != http.StatusConflict { // it is there already
			return err
		}
	}
	return nil
}

// newTicket is the document of a row: what a search returns.
func newTicket(row company.Ticket) (id string, d stemmed[support.Ticket]) {
	t := support.Ticket{
		ID: row.ID, Subject: row.Subject, Description: row.Description, Status: row.Status, Priority: row.Priority,
		CustomerID: row.CustomerID, CustomerName: row.CustomerName, CustomerEmail: row.CustomerEmail, Category: row.Category,
		Tags: append([]string{}, row.Tags...), CreatedAt: row.Created, UpdatedAt: row.Updated, Resolution: row.Resolution,
	}
	if row.AssignedTo != "" {
		t.AssignedTo = &row.AssignedTo
	}
	if !row.Resolved.IsZero() {
		t.ResolvedAt = &row.Resolved
	}
	return row.ID, stemmed[support.Ticket]{t, support.Stems(t.Subject), support.Stems(append([]string{t.ID, t.Subject, t.Description, t.CustomerName, t.Category}, t.Tags...)...)}
}

// stemmed is a document with the stems of its words.
type stemmed[T any] struct {
	Row       T
	HeadStems []string
	Stems     []string
}

// MarshalJSON writes the stems beside the row's own fields.
func (s stemmed[T]) MarshalJSON() ([]byte, error) {
	row, err := json.Marshal(s.Row)
	if err != nil {
		return nil, err
	}
	stems, err := json.Marshal(map[string][]string{headStemsField: s.HeadStems, stemsField: s.Stems})
	if err != nil {
		return nil, err
	}
	return append(append(row[:len(row)-1], ','), stems[1:]...), nil
}

func newArticle(row company.Article) (id string, d stemmed[support.Article]) {
	a := support.Article{
		ID: row.ID, Title: row.Title, Summary: row.Summary, Content: row.Content, Category: row.Category, Tags: append([]string{}, row.Tags...),
		Author: row.Author, Status: row.Status, Views: row.Views, Votes: row.Votes, CreatedAt: row.Created, UpdatedAt: row.Updated,
	}
	return row.ID, stemmed[support.Article]{a, support.Stems(a.Title), support.Stems(append([]string{a.ID, a.Title, a.Summary, a.Content, a.Category}, a.Tags...)...)}
}
