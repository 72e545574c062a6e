package elastic

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/elastic/go-elasticsearch/v9/esapi"

	"countersign.dev/internal/domain/codesearch"
	"countersign.dev/internal/domain/codesearch/index"
)

// serving is the index behind a repository's alias.
type serving struct {
	index string // empty: there is none
	meta  index.Meta
	parts int   // documents of its words
	err   error // why it cannot be searched
}

// good reports whether there is an index that can be built upon.
func (s serving) good() bool { return s.err == nil }

// knownFor is how long what the aliases lead to is reused. An index that was replaced
// meanwhile is gone, and a search that misses it looks again.
const knownFor = time.Second

// listed is an index as the engine lists it.
type listed struct {
	Aliases  map[string]struct{}
	Mappings struct {
		Meta description `json:"_meta"`
	}
}

// list lists the indices of this store, by name.
func (s *Store) list(ctx context.Context) (map[string]listed, error) {
	none := true
	all := map[string]listed{}
	r := esapi.IndicesGetRequest{Index: []string{s.prefix + "*"}, AllowNoIndices: &none, FilterPath: []string{"*.aliases", "*.mappings._meta"}}
	return all, s.Send(ctx, r, &all)
}

// serving finds the indices of repositories, in their order. fresh asks the engine
// again, whatever is known.
func (s *Store) serving(ctx context.Context, names []string, fresh bool) ([]serving, error) {
	s.mu.Lock()
	known := s.known
	if fresh || s.asked.IsZero() || time.Since(s.asked) > knownFor {
		known = nil
	}
	s.mu.Unlock()
	if known == nil {
		var err error
		if known, err = s.look(ctx); err != nil {
			return nil, err
		}
	}
	all := make([]serving, len(names))
	for i, name := range names {
		one, ok := known[s.alias(name)]
		if !ok || one.err == nil && one.meta.Name != name {
			one = serving{err: codesearch.ErrNoIndex}
		}
		all[i] = one
	}
	return all, nil
}

// look asks the engine what the aliases lead to.
func (s *Store) look(ctx context.Context) (map[string]serving, error) {
	began := time.Now()
	indices, err := s.list(ctx)
	if err != nil {
		return nil, err
	}
	known := map[string]serving{}
	for name, one := range indices {
		for alias := range one.Aliases {
			known[alias] = servingOf(name, one.Mappings.Meta)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known, s.asked = known, began
	maps.DeleteFunc(s.words, func(name string, _ *index.Index) bool { _, there := indices[name]; return !there })
	return known, nil
}

func servingOf(name string, d description) serving {
	if d.Version != version {
		return serving{index: name, err: codesearch.Unreadable{Err: fmt.Errorf("%w: %d, and this program reads %d. Build it again with `countersign index`", index.ErrVersion, d.Version, version)}}
	}
	return serving{index: name, meta: d.Repository, parts: d.Words}
}

// Describe implements [codesearch.Store].
func (s *Store) Describe(ctx context.Context, names []string) (all []codesearch.Described, _ error) {
	found, err := s.serving(ctx, names, true)
	for _, one := range found {
		all = append(all, codesearch.Described{Meta: one.meta, Err: one.err})
	}
	return all, err
}

// alias is the name under which a repository's index is searched.
func (s *Store) alias(name string) string {
	safe := index.SafeName(name)
	if len(safe) > maxName {
		safe = safe[:maxName] + "-" + digest(name)
	}
	return s.prefix + safe
}

// maxName is how many bytes of a repository's name its alias has at most.
const maxName = 120
