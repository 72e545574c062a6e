package elastic

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/elastic/go-elasticsearch/v9/esapi"

	"countersign.dev/internal/domain/codesearch"
	"countersign.dev/internal/domain/codesearch/index"
	"countersign.dev/internal/domain/codesearch/query"
	"countersign.dev/internal/elasticsearch"
	"countersign.dev/internal/fault"
)

// Candidates is how many chunks the engine finds for the ranking by their words, and
// as many again by what they define.
const Candidates = 200

// Search implements [codesearch.Store].
func (s *Store) Search(ctx context.Context, names []string, r query.Request) (found codesearch.Results, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.limit)
	defer cancel()
	err = s.current(ctx, names, func(all []serving) error {
		found, err = s.rank(ctx, names, all, r)
		return err
	})
	return found, err
}

// An index that is being replaced refuses searches a moment before the alias is seen
// to lead elsewhere.
const (
	replaceLooks = 5
	replacePause = 50 * time.Millisecond
)

// current calls fn with the indices of repositories, and again when the engine refused
// because one of them was replaced meanwhile.
func (s *Store) current(ctx context.Context, names []string, fn func([]serving) error) error {
	all, err := s.serving(ctx, names, false)
	if err != nil {
		return err
	}
	for {
		refused := fn(all)
		var e *elasticsearch.Error
		if !errors.As(refused, &e) {
			return refused
		}
		now, replaced := s.replaced(ctx, names, all)
		if !replaced {
			return refused
		}
		all = now
	}
}

// replaced looks until an index of the repositories is another one than it was.
func (s *Store) replaced(ctx context.Context, names []string, before []serving) (now []serving, ok bool) {
	pause := time.NewTicker(replacePause)
	defer pause.Stop()
	for range replaceLooks {
		now, err := s.serving(ctx, names, true)
		if err != nil {
			return nil, false
		}
		if !slices.EqualFunc(before, now, func(a, b serving) bool { return a.index == b.index }) {
			return now, true
		}
		select {
		case <-ctx.Done():
			return nil, false
		case <-pause.C:
		}
	}
	return nil, false
}

// rank finds candidates in the indices, and orders them.
func (s *Store) rank(ctx context.Context, names []string, all []serving, r query.Request) (codesearch.Results, error) {
	var found codesearch.Results
	var indices []string
	chunks := 0
	for i, one := range all {
		if one.err != nil {
			found.Missing = append(found.Missing, codesearch.Missing{Name: names[i], Err: one.err})
			continue
		}
		indices = append(indices, one.index)
		chunks += one.meta.Chunks
	}
	if len(indices) == 0 {
		return found, nil
	}
	plan, known, err := s.plan(ctx, indices, chunks, r)
	if err != nil || plan.Empty() {
		return found, err
	}
	files, err := s.candidates(ctx, indices, plan, known)
	if err != nil {
		return found, err
	}
	entries, err := s.entries(ctx, files)
	if err != nil {
		return found, err
	}
	for i, one := range all {
		if in := entries[one.index]; len(in) > 0 {
			found.Shards = append(found.Shards, query.Shard{Repository: names[i], Index: index.Memory(one.meta, in)})
		}
	}
	found.Hits = plan.Rank(found.Shards)
	return found, nil
}

// candidates returns the files of the chunks that the ranking orders.
func (s *Store) candidates(ctx context.Context, indices []string, p *query.Plan, known *statistics) ([]fileID, error) {
	filters, words := filtersOf(p.Request), wordsQuery(p, known)
	searches := []object{candidateBody(object{"filter": filters, "must": words})}
	if names := p.Names(); len(names) > 0 {
		var defined []object
		for name, weight := range names {
			defined = append(defined, object{"constant_score": object{"filter": term(namesField, name), "boost": weight}})
		}
		either := object{"dis_max": object{"queries": defined}}
		searches = append(searches, candidateBody(object{"filter": filters, "must": either, "should": words}))
	}
	answers, err := s.search(ctx, indices, digest(p.Text), searches...)
	if err != nil {
		return nil, err
	}
	var all []fileID
	seen := map[fileID]bool{}
	for _, a := range answers {
		for _, h := range a.Hits.Hits {
			for _, file := range h.Fields.Of {
				if at := (fileID{h.Index, file}); !seen[at] {
					seen[at] = true
					all = append(all, at)
				}
			}
		}
	}
	return all, nil
}

// candidateBody asks for chunks by nothing but the documents of their files, which are
// not read from where the texts are.
func candidateBody(conditions object) object {
	return object{"size": Candidates, "stored_fields": "_none_", "docvalue_fields": []string{ofField}, "track_total_hits": false, "query": object{"bool": conditions}}
}

// otherForms is how much the further forms of a word count beside the best one.
const otherForms = 0.3

// leastRarity keeps the weight of a word that is everywhere finite.
const leastRarity = 0.05

// wordsQuery scores chunks as the ranking weighs words: the engine multiplies by how
// rare it takes each to be, and the ranking's own weight is in the place of that.
func wordsQuery(p *query.Plan, known *statistics) object {
	var groups [][]object
	for _, t := range p.Terms() {
		if t.Group == len(groups) {
			groups = append(groups, nil)
		}
		boost := t.Weight / max(leastRarity, query.Rarity(known.Frequency(t.Text), known.chunks))
		groups[t.Group] = append(groups[t.Group], object{"term": object{termsField: object{"value": t.Text, "boost": boost}}})
	}
	either := each(groups, func(forms []object) object {
		return object{"dis_max": object{"queries": forms, "tie_breaker": otherForms}}
	})
	return object{"bool": object{"should": either, "minimum_should_match": 1}}
}

// filtersOf are the conditions of a request's filters.
func filtersOf(r query.Request) []object {
	all := []object{}
	if r.Language != "" {
		all = append(all, term(languageField, strings.ToLower(r.Language)))
	}
	if pattern := r.Pattern(); pattern != "" {
		below := []object{term(pathField, pattern), {"prefix": object{pathField: object{"value": pattern + "/"}}}}
		if expression, ok := expressionOf(pattern); ok {
			below = append(below, object{"regexp": object{pathField: object{"value": expression, "flags": "NONE"}}})
		}
		all = append(all, object{"bool": object{"should": below, "minimum_should_match": 1}})
	}
	return all
}

// entries reads files and returns those of each index, in the order of an index.
func (s *Store) entries(ctx context.Context, files []fileID) (map[string][]index.Entry, error) {
	all := map[string][]index.Entry{}
	if len(files) == 0 {
		return all, nil
	}
	docs, err := s.read(ctx, files)
	if err != nil {
		return nil, err
	}
	for _, d := range docs {
		e, err := index.Unpack(d.Source.File, d.Source.Analysis, d.Source.Text)
		if err != nil {
			return nil, fault.StoreFailed("code search store", err)
		}
		all[d.Index] = append(all[d.Index], e)
	}
	for _, entries := range all {
		slices.SortFunc(entries, func(a, b index.Entry) int { return inOrder(a.Path, b.Path) })
	}
	return all, nil
}

// inOrder orders paths as a walk through folders meets them.
func inOrder(a, b string) int {
	return slices.Compare(strings.Split(a, "/"), strings.Split(b, "/"))
}

// read reads documents of files that are there. An index is written once, so that
// what was read of it stays true.
func (s *Store) read(ctx context.Context, files []fileID) ([]stored, error) {
	known, unknown := s.files.find(files)
	if len(unknown) == 0 {
		return known, nil
	}
	read, err := s.fetch(ctx, unknown)
	if err != nil {
		return nil, err
	}
	s.files.add(read)
	return append(known, read...), nil
}

func (s *Store) fetch(ctx context.Context, files []fileID) ([]stored, error) {
	var answer struct{ Docs []stored }
	r := esapi.MgetRequest{Body: elasticsearch.JSON(object{"docs": files})}
	if err := s.Send(ctx, r, &answer); err != nil {
		return nil, err
	}
	for _, d := range answer.Docs {
		switch {
		case d.Error != nil:
			return nil, s.Fault(&elasticsearch.Error{Status: http.StatusNotFound, Type: d.Error.Type})
		case !d.Found:
			return nil, errMissing
		}
	}
	return answer.Docs, nil
}

// errMissing reports a document that is not there.
var errMissing = errors.New("the store has no such document")

// answered is the answer to one of several searches.
type answered struct {
	Status   int
	Error    *elasticsearch.ErrorBody
	TimedOut bool                 `json:"timed_out"`
	Shards   struct{ Failed int } `json:"_shards"`
	Hits     struct{ Hits []stored }

	Aggregations map[string]json.RawMessage
}

// search searches indices, which are named in the body: an address would be too short
// for many. What a part of them cannot answer, none does: half an answer looks like a
// whole one. Searches with the same preference ask the same copies of the indices, which
// number equal documents alike.
func (s *Store) search(ctx context.Context, indices []string, preference string, searches ...object) ([]answered, error) {
	var lines []any
	kind := "query_then_fetch"
	if len(indices) > 1 { // words are as rare as they are in all of them together
		kind = "dfs_query_then_fetch"
	}
	for _, one := range searches {
		lines = append(lines, object{"index": indices, "search_type": kind, "allow_partial_search_results": false, "preference": "code-" + preference}, one)
	}
	body, err := elasticsearch.Lines(lines...)
	if err != nil {
		return nil, err
	}
	var answer struct{ Responses []answered }
	if err := s.Send(ctx, esapi.MsearchRequest{Body: body}, &answer); err != nil {
		return nil, err
	}
	for _, a := range answer.Responses {
		switch {
		case a.Error != nil:
			kind := a.Error.Type
			if len(a.Error.Roots) > 0 {
				kind = cmp.Or(a.Error.Roots[0].Type, kind)
			}
			return nil, s.Fault(&elasticsearch.Error{Status: a.Status, Type: kind})
		case a.TimedOut || a.Shards.Failed > 0:
			return nil, s.Fault(&elasticsearch.Error{Status: http.StatusServiceUnavailable, Type: "partial"})
		}
	}
	if len(answer.Responses) != len(searches) {
		return nil, s.Fault(&elasticsearch.Error{Status: http.StatusServiceUnavailable, Type: "incomplete"})
	}
	return answer.Responses, nil
}

// File implements [codesearch.Store].
func (s *Store) File(ctx context.Context, name, path string) (file codesearch.File, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.limit)
	defer cancel()
	err = s.current(ctx, []string{name}, func(all []serving) error {
		if all[0].err != nil {
			return all[0].err
		}
		docs, err := s.read(ctx, []fileID{{all[0].index, digest(path)}})
		if errors.Is(err, errMissing) {
			return codesearch.ErrNoFile
		}
		if err != nil {
			return err
		}
		e, err := index.Unpack(docs[0].Source.File, docs[0].Source.Analysis, docs[0].Source.Text)
		if err != nil {
			return fault.StoreFailed("code search store", err)
		}
		ix := index.Memory(all[0].meta, []index.Entry{e})
		text, err := ix.Text(&ix.Files[0])
		file = codesearch.File{File: ix.Files[0], Meta: all[0].meta, Text: text}
		return err
	})
	return file, err
}
