// Package elastic keeps the indexes of code search in Elasticsearch or OpenSearch: an
// index for each repository under an alias, with a document for each chunk, which is
// found by the terms of package words, and one for each file, which holds what the
// ranking needs. The engine counts words, filters, and finds the first candidates; the
// order is package query's. Start with [Open], then search.go and update.go.
package elastic

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/elastic/go-elasticsearch/v9/esapi"

	"countersign.dev/internal/domain/codesearch"
	"countersign.dev/internal/domain/codesearch/index"
	"countersign.dev/internal/elasticsearch"
)

// writeLimit is how long one call of an update may take.
const writeLimit = time.Minute

// The sizes of calls.
const (
	batchBytes = 4 << 20 // of packed files in one bulk request, about
	batchFiles = 500     // changed files in one bulk request
	pageFiles  = 1000    // files that are listed at a time
)

// Prefix begins the names of all indices and aliases, unless the options name another.
const Prefix = "countersign-code-"

// searchLimit is how long a search may take, with all its calls.
const searchLimit = 4 * time.Second

// Options tunes a store. The zero value is a good default.
type Options struct {
	Prefix string        // of the names of indices and aliases; default Prefix
	Limit  time.Duration // of a search with all its calls; zero: 4 s
}

// Store is a [codesearch.Store]. It is safe for concurrent use.
type Store struct {
	*elasticsearch.Client
	prefix string
	limit  time.Duration
	files  cache

	mu    sync.Mutex
	known map[string]serving      // by alias
	asked time.Time               // when they were looked up; zero: not yet
	words map[string]*index.Index // by index: see wordsOf
}

var _ codesearch.Store = (*Store)(nil)

// Open prepares for a server without calling it, as [elasticsearch.Open] does.
func Open(addresses string, o *Options) (*Store, error) {
	if o == nil {
		o = &Options{}
	}
	s := &Store{prefix: cmp.Or(o.Prefix, Prefix), limit: cmp.Or(o.Limit, searchLimit)}
	var err error
	s.Client, err = elasticsearch.Open(addresses, "code search store")
	return s, err
}

// Version names the engine and its version.
func (s *Store) Version(ctx context.Context) (string, error) {
	var said struct {
		Version struct{ Distribution, Number string }
	}
	if err := s.Send(ctx, esapi.InfoRequest{}, &said); err != nil {
		return "", err
	}
	if said.Version.Distribution == "opensearch" {
		return "OpenSearch " + said.Version.Number, nil
	}
	return "Elasticsearch " + said.Version.Number, nil
}
