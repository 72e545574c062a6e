package elastic

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

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
	var there []serving
	for i, one := range all {
		if one.err != nil {
			found.Missing = append(found.Missing, codesearch.Missing{Name: names[i], Err: one.err})
			continue
		}
		there = append(there, one)
	}
	if len(there) == 0 {
		return found, nil
	}
	known, err := s.statistics(ctx, there)
	if err != nil {
		return found, err
	}
	plan := query.NewPlan(r, known)
	if plan.Empty() {
		return found, nil
	}
	files, err := s.candidates(ctx, there, plan, known)
	if err != nil {
		return found, err
	}
	if found.Shards, err = s.partial(ctx, there, files, plan); err != nil {
		return found, err
	}
	read := func(files []query.FileOf) error { return s.texts(ctx, there, found.Shards, files) }
	if found.Hits, err = plan.Rank(found.Shards, read); err != nil {
		return found, err
	}
	found.More = plan.More() || len(files) >= Candidates // each is of a chunk
	var shown []query.FileOf
	for _, h := range found.Hits[min(r.Shown, len(found.Hits)):] {
		shown = append(shown, query.FileOf{Shard: h.Shard, File: int(found.Shards[h.Shard].Chunks[h.Chunk].File)})
	}
	return found, read(shown)
}

// partial makes shards of files, with what the plan needs of them.
func (s *Store) partial(ctx context.Context, all []serving, files []fileID, p *query.Plan) (shards []query.Shard, _ error) {
	docs, err := s.read(ctx, files, false)
	if err != nil {
		return nil, err
	}
	in := map[string][]index.Packed{}
	for _, d := range docs {
		in[d.at.index] = append(in[d.at.index], d.Packed)
	}
	var terms []string
	for _, t := range p.Terms() {
		terms = append(terms, t.Text)
	}
	defined := slices.Collect(maps.Keys(p.Names()))
	for _, one := range all {
		packed := in[one.index]
		slices.SortFunc(packed, func(a, b index.Packed) int { return inOrder(a.Path, b.Path) })
		ix, err := index.Partial(one.meta, packed, terms, defined)
		if err != nil {
			return nil, fault.StoreFailed("code search store", err)
		}
		shards = append(shards, query.Shard{Repository: one.meta.Name, Index: ix})
	}
	return shards, nil
}

// texts gives shards the texts of files that they do not have.
func (s *Store) texts(ctx context.Context, all []serving, shards []query.Shard, files []query.FileOf) error {
	at := map[fileID]query.FileOf{}
	for _, f := range files {
		if shard := shards[f.Shard]; !shard.HasText(f.File) {
			at[fileID{all[f.Shard].index, digest(shard.Files[f.File].Path)}] = f
		}
	}
	docs, err := s.read(ctx, slices.Collect(maps.Keys(at)), true)
	if err != nil {
		return err
	}
	for _, d := range docs {
		f := at[d.at]
		if err := shards[f.Shard].SetText(f.File, d.text); err != nil {
			return fault.StoreFailed("code search store", err)
		}
	}
	return nil
}

// inOrder orders paths as a walk through folders meets them.
func inOrder(a, b string) int {
	return slices.Compare(strings.Split(a, "/"), strings.Split(b, "/"))
}

// candidates returns the files of the chunks that the ranking orders.
func (s *Store) candidates(ctx context.Context, there []serving, p *query.Plan, known statistics) ([]fileID, error) {
	var indices []string
	for _, one := range there {
		indices = append(indices, one.index)
	}
	filters, words := filtersOf(p.Request), wordsQuery(p, known)
	searches := []lookup{{indices, candidateBody(object{"filter": filters, "must": words})}}
	if names := p.Names(); len(names) > 0 {
		var defined []object
		for name, weight := range names {
			defined = append(defined, object{"constant_score": object{"filter": term(namesField, name), "boost": weight}})
		}
		either := object{"dis_max": object{"queries": defined}}
		searches = append(searches, lookup{indices, candidateBody(object{"filter": filters, "must": either, "should": words})})
	}
	answers, err := s.search(ctx, digest(p.Text), searches...)
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
func wordsQuery(p *query.Plan, known statistics) object {
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

// File implements [codesearch.Store].
func (s *Store) File(ctx context.Context, name, path string) (file codesearch.File, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.limit)
	defer cancel()
	err = s.current(ctx, []string{name}, func(all []serving) error {
		if all[0].err != nil {
			return all[0].err
		}
		docs, err := s.read(ctx, []fileID{{all[0].index, digest(path)}}, true)
		if errors.Is(err, errMissing) {
			return codesearch.ErrNoFile
		}
		if err != nil {
			return err
		}
		ix, err := index.Partial(all[0].meta, []index.Packed{docs[0].Packed}, nil, nil)
		if err == nil {
			err = ix.SetText(0, docs[0].text)
		}
		if err != nil {
			return fault.StoreFailed("code search store", err)
		}
		text, err := ix.Text(&ix.Files[0])
		file = codesearch.File{File: ix.Files[0], Meta: all[0].meta, Text: text}
		return err
	})
	return file, err
}
