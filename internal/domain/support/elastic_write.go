package support

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"

	"github.com/elastic/go-elasticsearch/v9/esapi"

	"countersign.dev/internal/access"
	"countersign.dev/internal/company"
	"countersign.dev/internal/confirm"
)

// confirmation is the receipt inside the document that was changed.
type confirmation struct {
	ID      string       `json:"id"`
	Owner   access.Owner `json:"owner"`
	Tool    string       `json:"tool"`
	Receipt string       `json:"receipt"` // text, so that it comes back byte for byte
}

// Change runs fn as it is: its one update is atomic by itself, and carries the
// receipt.
func (e *Elastic) Change(ctx context.Context, fn func(context.Context) error) error {
	ctx, cancel := bounded(ctx)
	defer cancel()
	return fn(ctx)
}

// Keep makes sure that the receipt stands beside the change, where the update
// has written it.
func (e *Elastic) Keep(ctx context.Context, r confirm.Receipt) error {
	kept, found, err := e.Find(ctx, r.Owner, r.ID)
	if err != nil {
		return err
	}
	if !found || string(kept) != string(r.Answer) {
		return fmt.Errorf("the receipt of %s is not beside its change", r.Tool)
	}
	return nil
}

// Find returns an owner's receipt, byte for byte, however short ago it was
// written.
func (e *Elastic) Find(ctx context.Context, owner access.Owner, id confirm.ID) (json.RawMessage, bool, error) {
	c, found, err := e.confirmed(ctx, id)
	if err != nil || !found || c.Owner != owner {
		return nil, false, err
	}
	return json.RawMessage(c.Receipt), true, nil
}

// confirmed finds what was confirmed under an id. When the index shows nothing
// yet it is told to show everything: whoever died between a change and its
// answer waited for no refresh.
func (e *Elastic) confirmed(ctx context.Context, id confirm.ID) (c confirmation, found bool, err error) {
	if c, found, err = e.shown(ctx, id); found || err != nil {
		return c, found, err
	}
	if err := e.send(ctx, esapi.IndicesRefreshRequest{Index: e.indices[tickets : tickets+1]}, new(object)); err != nil {
		return c, false, err
	}
	return e.shown(ctx, id)
}

func (e *Elastic) shown(ctx context.Context, id confirm.ID) (c confirmation, found bool, err error) {
	body := object{"size": 1, "query": object{"term": object{"confirmation.id": object{"value": string(id)}}}, "_source": []string{"confirmation"}}
	var answer hits
	if err := e.send(ctx, search(e.indices[tickets], body), &answer); err != nil || len(answer.Hits.Hits) == 0 {
		return c, false, err
	}
	var source struct{ Confirmation confirmation }
	err = json.Unmarshal(answer.Hits.Hits[0].Source, &source)
	return source.Confirmation, err == nil, err
}

// CloseTicket closes a ticket that is as it was seen, and keeps the receipt in
// it: one update of one document, on the condition that nobody has written it
// in between. It returns when searches show the change.
func (e *Elastic) CloseTicket(ctx context.Context, s Scope, c Closing) (bool, error) {
	t, found, err := e.Ticket(ctx, s, c.ID)
	if err != nil || !found || t.Version != c.Version || t.Status == ticketClosed {
		return false, err
	}
	_, used, err := e.confirmed(ctx, c.Receipt.ID)
	if err != nil {
		return false, err
	}
	if used {
		return false, errors.New("the confirmation has made a change before")
	}
	resolved := c.At
	if t.ResolvedAt != nil {
		resolved = *t.ResolvedAt
	}
	seen := action{"update": object{"_id": c.ID, "if_seq_no": c.Version.Number, "if_primary_term": c.Version.Term}}
	outcomes, err := e.bulk(ctx, tickets, "wait_for", seen, object{"doc": object{
		"status": ticketClosed, "resolution": c.Resolution, "resolution_type": c.ResolutionType, "customer_notified": c.CustomerNotified,
		"closed_by": c.By, "resolved_at": resolved, "updated_at": c.At,
		"confirmation": confirmation{string(c.Receipt.ID), c.Receipt.Owner, c.Receipt.Tool, string(c.Receipt.Answer)},
	}})
	if err != nil {
		return false, err
	}
	return e.won(ctx, outcomes[0], c)
}

// won reads what came of an update. A conflict may be with ourselves: when an
// answer is lost on its way, the update is sent again.
func (e *Elastic) won(ctx context.Context, r outcome, c Closing) (bool, error) {
	switch r.Status {
	case http.StatusConflict:
		ours, found, err := e.confirmed(ctx, c.Receipt.ID)
		return found && ours.Owner == c.Receipt.Owner, err
	case http.StatusNotFound:
		return false, nil
	}
	return r.Error == nil, r.fault()
}

// action is the first line of a pair in a bulk request.
type action map[string]any

// outcome is what came of a pair.
type outcome struct {
	Status int
	Error  *complaint
}

func (o outcome) fault() error {
	if o.Error == nil {
		return nil
	}
	return (&refusal{o.Status, o.Error.Type}).fault()
}

// bulk sends pairs of an action and its document. Ids stand in the body here,
// too.
func (e *Elastic) bulk(ctx context.Context, k kind, refresh string, lines ...any) ([]outcome, error) {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body) // a line each
	for _, line := range lines {
		if err := encoder.Encode(line); err != nil {
			return nil, err
		}
	}
	var answer struct{ Items []map[string]outcome }
	if err := e.send(ctx, esapi.BulkRequest{Index: e.indices[k], Body: &body, Refresh: refresh}, &answer); err != nil {
		return nil, err
	}
	outcomes := make([]outcome, 0, len(answer.Items))
	for _, item := range answer.Items {
		for _, o := range item { // the one action's
			outcomes = append(outcomes, o)
		}
	}
	if len(outcomes) != len(lines)/2 {
		return nil, fmt.Errorf("%d outcomes of %d changes", len(outcomes), len(lines)/2)
	}
	return outcomes, nil
}

// fillBatch is how many documents are sent at a time.
const fillBatch = 1000

// Fill makes the indices and adds what is missing. It can be run again after a
// failure.
func (e *Elastic) Fill(ctx context.Context, rows company.Support) error {
	if err := e.Migrate(ctx); err != nil {
		return err
	}
	if err := add(ctx, e, tickets, rows.Tickets, newTicket); err != nil {
		return err
	}
	if err := add(ctx, e, articles, rows.Articles, newArticle); err != nil {
		return err
	}
	return e.send(ctx, esapi.IndicesRefreshRequest{Index: e.indices[:]}, new(object))
}

// add creates a document for each row that has none.
func add[Row, Doc any](ctx context.Context, e *Elastic, k kind, rows iter.Seq[Row], doc func(Row) (id string, d Doc)) error {
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

func (e *Elastic) create(ctx context.Context, k kind, lines []any) error {
	if len(lines) == 0 {
		return nil
	}
	outcomes, err := e.bulk(ctx, k, "", lines...)
	if err != nil {
		return err
	}
	for _, o := range outcomes {
		if err := o.fault(); err != nil && o.Status != http.StatusConflict { // it is there already
			return err
		}
	}
	return nil
}

// newTicket is the document of a row: what a search returns.
func newTicket(row company.Ticket) (id string, t Ticket) {
	t = Ticket{
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
	return row.ID, t
}

func newArticle(row company.Article) (id string, a Article) {
	return row.ID, Article{
		ID: row.ID, Title: row.Title, Summary: row.Summary, Content: row.Content, Category: row.Category, Tags: append([]string{}, row.Tags...),
		Author: row.Author, Status: row.Status, Views: row.Views, Votes: row.Votes, CreatedAt: row.Created, UpdatedAt: row.Updated,
	}
}
