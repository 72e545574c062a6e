package elastic

import (
	"context"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/elastic/go-elasticsearch/v9/esapi"

	"countersign.dev/internal/domain/support"
	"countersign.dev/internal/elasticsearch"
	"countersign.dev/internal/fault"
)

// filters is a list of conditions within a scope. Only within makes one, and no
// search of this store takes any other.
type filters struct{ all []object }

// within narrows a scope by more conditions, all of which must hold.
func within(visible support.Rows, more ...object) filters {
	var all []object
	switch visible {
	case support.AllRows:
	case support.PublishedRows:
		all = append(all, only("status", support.ArticlePublished))
	default:
		all = append(all, object{"match_none": object{}})
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

// foldedRunes is the length of the longest value that is compared in any case.
// The engine builds an automaton for each, whose cost grows with the third power
// of the length: 100 letters of three bytes take 40 ms, 500 take 3 s.
const foldedRunes = 100

// anyCase is the same for what people write themselves, in whatever case. A value
// of more than [foldedRunes] is compared as it is written.
func anyCase(field, value string) object {
	if value == "" || utf8.RuneCountInString(value) > foldedRunes {
		return only(field, value)
	}
	return object{"term": object{field: object{"value": value, "case_insensitive": true}}}
}

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

// wanted is a page of a search.
type wanted struct {
	in    filters
	find  support.Query
	after *support.Key
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
func (e *Store) page(ctx context.Context, k kind, w wanted, each func(hit) error) error {
	if w.find.Nothing() {
		return nil
	}
	var found hits
	if err := e.Send(ctx, search(e.indices[k], w.body(k)), &found); err != nil {
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
	return esapi.SearchRequest{Index: []string{index}, Body: elasticsearch.JSON(body), AllowPartialSearchResults: &whole, TrackTotalHits: false}
}

func headField(k kind) string { return [...]string{"subject", "title"}[k] }

func (w wanted) body(k kind) object {
	sort := []object{{"created_at": "desc"}, {idField(k): "desc"}}
	if w.find.Scored() {
		sort = []object{{"_score": "desc"}, {idField(k): "desc"}}
	}
	body := object{
		"size": w.limit, "query": w.query(k), "sort": sort, "_source": object{"excludes": unread},
	}
	if w.after != nil && w.find.Scored() {
		body["search_after"] = []any{w.after.Score, w.after.ID}
	} else if w.after != nil {
		body["search_after"] = []any{w.after.Created, w.after.ID}
	}
	return body
}

// query writes a query in the engine's own terms, with the scores that
// [support.Query] defines. The engine's own count words over all documents, hidden
// ones too.
func (w wanted) query(k kind) object {
	must, should, mustNot := []object{}, []object{}, []object{}
	for _, t := range w.find.With() {
		must = append(must, scored(in(t, wordsField, stemsField), support.TermScore))
		should = append(should, scored(in(t, headField(k), headStemsField), support.HeadScore))
	}
	for _, t := range w.find.Without() {
		mustNot = append(mustNot, in(t, wordsField, stemsField))
	}
	if w.find.IsAny() {
		must = []object{{"bool": object{"should": must, "minimum_should_match": 1}}}
	}
	return object{"bool": object{"filter": append([]object{}, w.in.all...), "must": must, "should": should, "must_not": mustNot}}
}

// scored gives every document that meets a condition the same score.
func scored(condition object, score int) object {
	return object{"constant_score": object{"filter": condition, "boost": score}}
}

// in is the condition that a field has a term; a single word is found by its stem
// too, in the field of stems.
func in(t support.Term, field, stems string) object {
	if stem := t.Stem(); stem != "" {
		either := []object{as(t, field), {"term": object{stems: object{"value": stem}}}}
		return object{"bool": object{"should": either, "minimum_should_match": 1}}
	}
	return as(t, field)
}

// as is the condition that a field has a term as it is written.
func as(t support.Term, field string) object {
	text := strings.Join(t.Words, " ")
	switch {
	case t.Prefix:
		return object{"prefix": object{field: object{"value": text}}}
	case len(t.Words) > 1:
		return object{"match_phrase": object{field: object{"query": text}}}
	}
	return object{"match": object{field: object{"query": text, "operator": "and"}}}
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

// unread are the fields of a document that no answer needs.
var unread = []string{"confirmation", stemsField, headStemsField}

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
			return fault.ServiceDown.New("The index %s does not exist.", index).Suggest("Check the names of the indices, or seed the store.").Because(err)
		}
		if err != nil {
			return err
		}
		if len(found.Hits.Hits) == 0 {
			return fault.ServiceDown.New("The index %s holds nothing that can be searched.", index).Suggest("Check the names of the indices, or seed the store.")
		}
	}
	return nil
}
