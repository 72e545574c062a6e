package elastic

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/elastic/go-elasticsearch/v9/esapi"

	"countersign.dev/internal/domain/support"
	"countersign.dev/internal/elasticsearch"
)

// wanted is a page of a search.
type wanted struct {
	in    filters
	find  support.Query
	after *support.Key
	limit int
}

// hits is the answer of a search.
type hits struct {
	Hits       struct{ Hits []hit }
	Terminated bool `json:"terminated_early"` // more documents may match than were looked at
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
	find := e.newest
	if w.find.Scored() {
		find = e.best
	}
	found, err := find(ctx, k, w)
	if err != nil {
		return err
	}
	for _, h := range found {
		if err := each(h); err != nil {
			return err
		}
	}
	return nil
}

// newest is the page of a query without words, which all documents match alike.
func (e *Store) newest(ctx context.Context, k kind, w wanted) ([]hit, error) {
	return e.ofLevel(ctx, k, w, level{score: 1}, w.after)
}

// best is the page of a query with words. The engine knows the best documents when it
// has scored all that match. Documents of one score it finds newest first, which is the
// order of its index: it stops where the page is full. So a query of one or two words is
// asked score by score, and one of more words if it has many matches.
func (e *Store) best(ctx context.Context, k kind, w wanted) ([]hit, error) {
	levels := w.levels(k)
	if len(levels) == 0 || len(levels) > fewLevels {
		answer, err := e.allScored(ctx, k, w, len(levels) > 0)
		if err != nil || !answer.Terminated {
			return answer.Hits.Hits, err
		}
	}
	var found []hit
	for _, l := range levels {
		after := w.after
		if after != nil && after.Score > float64(l.score) {
			after = nil
		}
		more, err := e.ofLevel(ctx, k, w, l, after)
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
		if w.limit -= len(more); w.limit == 0 {
			break
		}
	}
	return found, nil
}

// allScored asks for the best of all documents that match, or gives up where they are many.
func (e *Store) allScored(ctx context.Context, k kind, w wanted, mayGiveUp bool) (answer hits, err error) {
	body := w.body(k, w.scores(k), object{"_score": "desc"})
	if w.after != nil {
		body["search_after"] = []any{w.after.Score, w.after.Created, w.after.ID}
	}
	if mayGiveUp {
		body["terminate_after"] = e.scored
	}
	err = e.Send(ctx, search(e.indices[k], body), &answer)
	return answer, err
}

// level is what the documents of one score have: so many of the parts, and no more.
type level struct {
	score int
	parts []object
	have  int
}

// How many searches a page may take: without trying to score all matches first, and after
// that was given up. A query of more words has all of its matches scored.
const (
	fewLevels = 3
	maxLevels = 9
)

// levels are the levels of a query from the page's first row on, the highest score first.
func (w wanted) levels(k kind) (all []level) {
	scores := w.find.Scores()
	if len(scores) > maxLevels {
		return nil
	}
	terms, heads := w.terms(k)
	parts, base, each := heads, len(terms)*support.TermScore, support.HeadScore
	if w.find.IsAny() { // a part for each point
		parts, base, each = slices.Concat(slices.Repeat(terms, support.TermScore), slices.Repeat(heads, support.HeadScore)), 0, 1
	}
	for _, score := range scores {
		if w.after == nil || float64(score) <= w.after.Score {
			all = append(all, level{score, parts, (score - base) / each})
		}
	}
	return all
}

// ofLevel finds the documents of one score, newest first.
func (e *Store) ofLevel(ctx context.Context, k kind, w wanted, l level, after *support.Key) ([]hit, error) {
	filter, without := append([]object{}, w.in.all...), w.without()
	if terms, _ := w.terms(k); !w.find.IsAny() {
		filter = append(filter, terms...)
	}
	if l.have > 0 {
		filter = append(filter, atLeast(l.have, l.parts))
	}
	if l.have < len(l.parts) {
		without = append(without, atLeast(l.have+1, l.parts))
	}
	body := w.body(k, object{"filter": filter, "must_not": without})
	if after != nil {
		body["search_after"] = []any{after.Created, after.ID}
	}
	var answer hits
	err := e.Send(ctx, search(e.indices[k], body), &answer)
	for i := range answer.Hits.Hits {
		answer.Hits.Hits[i].Score = float64(l.score)
	}
	return answer.Hits.Hits, err
}

// atLeast is the condition that so many of some conditions hold.
func atLeast(n int, of []object) object {
	return object{"bool": object{"should": of, "minimum_should_match": n}}
}

// search asks an index of ours. What a part of it cannot answer, none of it
// does: half an answer looks like a whole one.
func search(index string, body object) esapi.SearchRequest {
	whole := false
	return esapi.SearchRequest{Index: []string{index}, Body: elasticsearch.JSON(body), AllowPartialSearchResults: &whole, TrackTotalHits: false}
}

// unread are the fields of a document that no answer needs.
var unread = []string{"confirmation", stemsField, headStemsField}

// body is a search for a page of what meets the conditions, by some keys and then
// newest first.
func (w wanted) body(k kind, conditions object, keys ...object) object {
	return object{
		"size": w.limit, "query": object{"bool": conditions}, "_source": object{"excludes": unread},
		"sort": append(keys, object{"created_at": "desc"}, object{idField(k): "desc"}),
	}
}

// scores are the conditions of a query with words, with the scores that
// [support.Query] defines. The engine's own count words over all documents, hidden
// ones too.
func (w wanted) scores(k kind) object {
	terms, heads := w.terms(k)
	must, should := scored(terms, support.TermScore), scored(heads, support.HeadScore)
	if w.find.IsAny() {
		must = []object{atLeast(1, must)}
	}
	return object{"filter": append([]object{}, w.in.all...), "must": must, "should": should, "must_not": w.without()}
}

// terms are the conditions that a document has each word, anywhere and in its head.
func (w wanted) terms(k kind) (anywhere, heads []object) {
	for _, t := range w.find.With() {
		anywhere = append(anywhere, in(t, wordsField, stemsField))
		heads = append(heads, in(t, headField(k), headStemsField))
	}
	return anywhere, heads
}

// without are the conditions of the words that a document must not have.
func (w wanted) without() []object {
	mustNot := []object{}
	for _, t := range w.find.Without() {
		mustNot = append(mustNot, in(t, wordsField, stemsField))
	}
	return mustNot
}

func headField(k kind) string { return [...]string{"subject", "title"}[k] }

// scored gives every document the same score for each condition that it meets.
func scored(conditions []object, score int) []object {
	all := []object{}
	for _, condition := range conditions {
		all = append(all, object{"constant_score": object{"filter": condition, "boost": score}})
	}
	return all
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
