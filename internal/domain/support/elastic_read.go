package support

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"strings"

	"github.com/elastic/go-elasticsearch/v9/esapi"
)

// jsonBody encodes what this room has made itself.
func jsonBody(v any) io.Reader {
	encoded, err := json.Marshal(v)
	if err != nil {
		panic(err) // a map of texts and numbers always encodes
	}
	return bytes.NewReader(encoded)
}

// filters is a list of conditions that stands within a scope. Only Scope.within
// makes one, and no search of this store takes any other.
type filters struct{ all []object }

// within narrows a scope by more conditions, all of which must hold.
func (s Scope) within(k kind, more ...object) filters {
	var all []object
	switch {
	case !s.staff:
		all = append(all, object{"match_none": object{}})
	case k == articles && !s.drafts:
		all = append(all, only("status", articlePublished))
	}
	for _, condition := range more {
		if condition != nil {
			all = append(all, condition)
		}
	}
	return filters{all}
}

// only is the condition that a field equals a value. An empty one asks for
// nothing.
func only(field, value string) object {
	if value == "" {
		return nil
	}
	return object{"term": object{field: object{"value": value}}}
}

// Tickets returns a page.
func (e *Elastic) Tickets(ctx context.Context, s Scope, q TicketQuery) ([]Ticket, error) {
	in := s.within(tickets, only("status", q.Status), only("priority", q.Priority), only("customer_id", q.CustomerID))
	var found []Ticket
	err := e.page(ctx, tickets, wanted{in, q.Find, q.After, q.Limit}, func(h hit) error {
		t := Ticket{Score: h.Score}
		err := json.Unmarshal(h.Source, &t)
		found = append(found, t)
		return err
	})
	return found, err
}

// Articles returns a page.
func (e *Elastic) Articles(ctx context.Context, s Scope, q ArticleQuery) ([]Article, error) {
	in := s.within(articles, only("category", q.Category))
	var found []Article
	err := e.page(ctx, articles, wanted{in, q.Find, q.After, q.Limit}, func(h hit) error {
		a := Article{Score: h.Score}
		err := json.Unmarshal(h.Source, &a)
		found = append(found, a)
		return err
	})
	return found, err
}

// wanted is a page of a search.
type wanted struct {
	in    filters
	find  Query
	after *Key
	limit int
}

// hits is the answer of a search.
type hits struct {
	Hits struct{ Hits []hit }
}

type hit struct {
	ID     string          `json:"_id"`
	Score  float64         `json:"_score"`
	Source json.RawMessage `json:"_source"`
}

// page asks for a page and hands over its documents.
func (e *Elastic) page(ctx context.Context, k kind, w wanted, each func(hit) error) error {
	if w.find.Nothing() {
		return nil
	}
	r := search(e.indices[k], w.body(k))
	if w.find.Scored() {
		r.Preference = samePlace(w.find)
	}
	var found hits
	if err := e.send(ctx, r, &found); err != nil {
		return err
	}
	for _, h := range found.Hits.Hits {
		if !w.find.Scored() {
			h.Score = 1 // as for everything that matches all the same
		}
		if err := each(h); err != nil {
			return err
		}
	}
	return nil
}

// search asks an index of ours. What a part of it cannot answer, none of it
// does: half an answer looks like a whole one.
func search(index string, body object) esapi.SearchRequest {
	whole := false
	return esapi.SearchRequest{Index: []string{index}, Body: jsonBody(body), AllowPartialSearchResults: &whole, TrackTotalHits: false}
}

// samePlace sends the pages of one query to the same copy of an index: copies
// count words a little differently.
func samePlace(q Query) string {
	sum := sha256.Sum256([]byte(q.String()))
	return "query-" + hex.EncodeToString(sum[:8])
}

func idField(k kind) string { return [...]string{"ticket_id", "article_id"}[k] }

func headField(k kind) string { return [...]string{"subject", "title"}[k] }

func (w wanted) body(k kind) object {
	sort := []object{{"created_at": "desc"}, {idField(k): "desc"}}
	if w.find.Scored() {
		sort = []object{{"_score": "desc"}, {idField(k): "desc"}}
	}
	body := object{
		"size": w.limit, "query": w.query(k), "sort": sort, "_source": object{"excludes": []string{"confirmation"}},
	}
	if w.after != nil && w.find.Scored() {
		body["search_after"] = []any{w.after.Score, w.after.ID}
	} else if w.after != nil {
		body["search_after"] = []any{w.after.Created, w.after.ID}
	}
	return body
}

// query writes a query in the engine's own terms. A word in the head counts
// three times as much: once among the words, and twice there.
func (w wanted) query(k kind) object {
	must, should, mustNot := []object{}, []object{}, []object{}
	for _, t := range w.find.with {
		must = append(must, t.in(wordsField, 1))
		if !t.prefix {
			should = append(should, t.in(headField(k), 2))
		}
	}
	for _, t := range w.find.minus {
		mustNot = append(mustNot, t.in(wordsField, 1))
	}
	return object{"bool": object{"filter": append([]object{}, w.in.all...), "must": must, "should": should, "must_not": mustNot}}
}

// in is the condition that a term stands in a field.
func (t term) in(field string, weight int) object {
	text := strings.Join(t.words, " ")
	switch {
	case t.prefix:
		return object{"prefix": object{field: object{"value": text}}}
	case len(t.words) > 1:
		return object{"match_phrase": object{field: object{"query": text, "boost": weight}}}
	}
	return object{"match": object{field: object{"query": text, "operator": "and", "boost": weight}}}
}

// Ticket returns one ticket.
func (e *Elastic) Ticket(ctx context.Context, s Scope, id string) (t Ticket, found bool, err error) {
	d, err := e.document(ctx, tickets, id)
	if err != nil || !d.Found {
		return Ticket{}, false, err
	}
	t.Version = Version{Number: d.SeqNo, Term: d.PrimaryTerm}
	if err := json.Unmarshal(d.Source, &t); err != nil || !s.sees(tickets, t.Status) {
		return Ticket{}, false, err
	}
	return t, true, nil
}

// Article returns one article.
func (e *Elastic) Article(ctx context.Context, s Scope, id string) (a Article, found bool, err error) {
	d, err := e.document(ctx, articles, id)
	if err != nil || !d.Found {
		return Article{}, false, err
	}
	if err := json.Unmarshal(d.Source, &a); err != nil || !s.sees(articles, a.Status) {
		return Article{}, false, err
	}
	return a, true, nil
}

// document is a document as it is now, refreshed or not.
type document struct {
	Found       bool
	SeqNo       int64           `json:"_seq_no"`
	PrimaryTerm int64           `json:"_primary_term"`
	Source      json.RawMessage `json:"_source"`
	Error       *complaint      // in place of the document
}

// document reads a document by its id, which stands in the body: an address
// would read it as a path.
func (e *Elastic) document(ctx context.Context, k kind, id string) (document, error) {
	if id == "" {
		return document{}, nil
	}
	var answer struct{ Docs []document }
	r := esapi.MgetRequest{Index: e.indices[k], Body: jsonBody(object{"ids": []string{id}}), SourceExcludes: []string{"confirmation"}}
	if err := e.send(ctx, r, &answer); err != nil || len(answer.Docs) == 0 {
		return document{}, err
	}
	d := answer.Docs[0]
	if d.Error != nil {
		return document{}, (&refusal{Type: d.Error.Type}).fault()
	}
	return d, nil
}
