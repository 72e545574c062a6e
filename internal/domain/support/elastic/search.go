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

// page asks for a page and hands over its documents. All of its requests have one deadline.
func (e *Store) page(ctx context.Context, k kind, w wanted, each func(hit) error) error {
	if w.find.Nothing() {
		return nil
	}
	ctx, cancel := elasticsearch.Bounded(ctx)
	defer cancel()
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

// newest is the page of a query without words. All documents match it alike, with score 1.
func (e *Store) newest(ctx context.Context, k kind, w wanted) ([]hit, error) {
	return e.ofLevel(ctx, k, w, level{score: 1}, w.after)
}

// best is the page of a query with words. To know the best documents, the engine scores all
// that match. Documents of one score it finds newest first instead, which is the order of its
// index, and stops where the page is full: so the page is asked for score by score. Where the
// best score does not fill it and there are several others, all matches are scored if they
// are few.
func (e *Store) best(ctx context.Context, k kind, w wanted) ([]hit, error) {
	levels, bounded := w.levels(k)
	if !bounded {
		answer, err := e.allScored(ctx, k, w, 0)
		return answer.Hits.Hits, err
	}
	first := min(1, len(levels))
	found, err := e.byScore(ctx, k, w, levels[:first], nil)
	if err != nil || len(found) == w.limit {
		return found, err
	}
	if len(levels) > fewLevels {
		answer, err := e.allScored(ctx, k, w, e.scored)
		if err != nil || !answer.Terminated {
			return answer.Hits.Hits, err
		}
	}
	return e.byScore(ctx, k, w, levels[first:], found)
}

// allScored asks for the best of all documents that match. Over a limit it gives up; 0: there is none.
func (e *Store) allScored(ctx context.Context, k kind, w wanted, limit int) (answer hits, err error) {
	body := w.body(k, w.scores(k), object{"_score": "desc"})
	if w.after != nil {
		body["search_after"] = []any{w.after.Score, w.after.Created, w.after.ID}
	}
	if limit > 0 {
		body["terminate_after"] = limit
	}
	err = e.Send(ctx, search(e.indices[k], body), &answer)
	return answer, err
}

// byScore adds the documents of some levels to those of the ones above, until the page is full.
func (e *Store) byScore(ctx context.Context, k kind, w wanted, levels []level, found []hit) ([]hit, error) {
	size := w.limit
	for _, l := range levels {
		if w.limit = size - len(found); w.limit == 0 {
			break
		}
		after := w.after
		if after != nil && after.Score > float64(l.score) {
			after = nil
		}
		more, err := e.ofLevel(ctx, k, w, l, after)
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	return found, nil
}

// ofLevel finds the documents of one score, newest first.
func (e *Store) ofLevel(ctx context.Context, k kind, w wanted, l level, after *support.Key) ([]hit, error) {
	c := conditions{not: w.without()}
	if terms, _ := w.terms(k); !w.find.IsAny() {
		c.filter = terms
	}
	if l.have > 0 {
		c.filter = append(c.filter, atLeast(l.have, l.parts))
	}
	if l.have < len(l.parts) {
		c.not = append(c.not, atLeast(l.have+1, l.parts))
	}
	body := w.body(k, c)
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

// search asks an index of ours. What a part of it cannot answer, none of it
// does: half an answer looks like a whole one.
func search(index string, body object) esapi.SearchRequest {
	whole := false
	return esapi.SearchRequest{Index: []string{index}, Body: elasticsearch.JSON(body), AllowPartialSearchResults: &whole, TrackTotalHits: false}
}

// level is one score of a query: exactly so many of some conditions hold for its documents.
type level struct {
	score int
	parts []object
	have  int
}

const (
	fewLevels = 3 // a query of so many, of two words, is never scored as a whole
	maxLevels = 9 // and one of more always is
)

// levels are the levels of a query from the page's first row on, the highest score first;
// bounded is false where there are too many.
func (w wanted) levels(k kind) (all []level, bounded bool) {
	scores := w.find.Scores()
	if len(scores) > maxLevels {
		return nil, false
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
	return all, true
}

// atLeast is the condition that so many of some conditions hold.
func atLeast(n int, of []object) object {
	return object{"bool": object{"should": of, "minimum_should_match": n}}
}

// unread are the fields of a document that no answer needs.
var unread = []string{"confirmation", stemsField, headStemsField}

// conditions are those of a search within its scope.
type conditions struct{ filter, must, should, not []object }

// body is a search for a page of what meets the conditions, by some keys and then newest
// first. No search is made without it, and its scope.
func (w wanted) body(k kind, c conditions, keys ...object) object {
	return object{
		"size": w.limit, "_source": object{"excludes": unread},
		"query": object{"bool": object{
			"filter": slices.Concat([]object{}, w.in.all, c.filter), "must": slices.Concat([]object{}, c.must),
			"should": slices.Concat([]object{}, c.should), "must_not": slices.Concat([]object{}, c.not),
		}},
		"sort": append(keys, object{"created_at": "desc"}, object{idField(k): "desc"}),
	}
}

// scores are the conditions of a query with words, with the scores that
// [support.Query] defines. The engine's own count words over all documents, hidden
// ones too.
func (w wanted) scores(k kind) conditions {
	terms, heads := w.terms(k)
	must, should := scored(terms, support.TermScore), scored(heads, support.HeadScore)
	if w.find.IsAny() {
		must = []object{atLeast(1, must)}
	}
	return conditions{must: must, should: should, not: w.without()}
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
func (w wanted) without() (all []object) {
	for _, t := range w.find.Without() {
		all = append(all, in(t, wordsField, stemsField))
	}
	return all
}

func headField(k kind) string { return [...]string{"subject", "title"}[k] }

// scored gives every document the same score for each condition that it meets.
func scored(conditions []object, score int) []object {
	var all []object
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
