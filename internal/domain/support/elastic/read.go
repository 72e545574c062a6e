package elastic

import (
	"context"
	"encoding/json"

	"github.com/elastic/go-elasticsearch/v9/esapi"

	"countersign.dev/internal/domain/support"
	"countersign.dev/internal/elasticsearch"
	"countersign.dev/internal/fault"
)

// Tickets returns a page.
func (e *Store) Tickets(ctx context.Context, s support.Scope, q support.TicketQuery) ([]support.Ticket, error) {
	in := within(s.Tickets(), only("status", q.Status), only("priority", q.Priority), anyCase("customer_id", q.CustomerID))
	var found []support.Ticket
	err := e.page(ctx, tickets, wanted{in, q.Find, q.After, q.Limit}, func(h hit) error {
		t := support.Ticket{Score: h.Score}
		err := json.Unmarshal(h.Source, &t)
		found = append(found, t)
		return err
	})
	return found, err
}

// Articles returns a page.
func (e *Store) Articles(ctx context.Context, s support.Scope, q support.ArticleQuery) ([]support.Article, error) {
	in := within(s.Articles(), anyCase("category", q.Category))
	var found []support.Article
	err := e.page(ctx, articles, wanted{in, q.Find, q.After, q.Limit}, func(h hit) error {
		a := support.Article{Score: h.Score}
		err := json.Unmarshal(h.Source, &a)
		found = append(found, a)
		return err
	})
	return found, err
}

// Ticket returns one ticket.
func (e *Store) Ticket(ctx context.Context, s support.Scope, id string) (t support.Ticket, found bool, err error) {
	d, err := e.document(ctx, tickets, id)
	if err != nil || !d.Found {
		return support.Ticket{}, false, err
	}
	t.Version = support.Version{Number: d.SeqNo, Term: d.PrimaryTerm}
	if err := json.Unmarshal(d.Source, &t); err != nil || !s.Tickets().Hold(t.Status) {
		return support.Ticket{}, false, err
	}
	return t, true, nil
}

// Article returns one article.
func (e *Store) Article(ctx context.Context, s support.Scope, id string) (a support.Article, found bool, err error) {
	d, err := e.document(ctx, articles, id)
	if err != nil || !d.Found {
		return support.Article{}, false, err
	}
	if err := json.Unmarshal(d.Source, &a); err != nil || !s.Articles().Hold(a.Status) {
		return support.Article{}, false, err
	}
	return a, true, nil
}

// document is a document as it is now, refreshed or not.
type document struct {
	Found       bool
	SeqNo       int64                    `json:"_seq_no"`
	PrimaryTerm int64                    `json:"_primary_term"`
	Source      json.RawMessage          `json:"_source"`
	Error       *elasticsearch.ErrorBody // in place of the document
}

// document reads a document by its id, which is sent in the body: in an
// address it would be read as a path.
func (e *Store) document(ctx context.Context, k kind, id string) (document, error) {
	if id == "" {
		return document{}, nil
	}
	var answer struct{ Docs []document }
	r := esapi.MgetRequest{Index: e.indices[k], Body: elasticsearch.JSON(object{"ids": []string{id}}), SourceExcludes: unread}
	if err := e.Send(ctx, r, &answer); err != nil || len(answer.Docs) == 0 {
		return document{}, err
	}
	d := answer.Docs[0]
	if d.Error != nil {
		return document{}, e.Fault(&elasticsearch.Error{Type: d.Error.Type})
	}
	return d, nil
}

// Ready finds a document of each index by its words: an index that is missing,
// empty, or has another mapping has none.
func (e *Store) Ready(ctx context.Context) error {
	for _, index := range e.indices {
		probe := object{"size": 1, "_source": false, "terminate_after": 1, "query": object{"exists": object{"field": wordsField}}}
		var found hits
		err := e.Send(ctx, search(index, probe), &found)
		if elasticsearch.Refused(err, elasticsearch.NoIndex) {
			return fault.ServiceDown.New("The index %s does not exist.", index).Suggest(`Check the names of the indices, or run "countersign seed".`).Because(err)
		}
		if err != nil {
			return err
		}
		if len(found.Hits.Hits) == 0 {
			return fault.ServiceDown.New("The index %s holds nothing that can be searched.", index).Suggest(`Check the names of the indices, or run "countersign seed".`)
		}
	}
	return nil
}
