// Package elastic keeps support in Elasticsearch or OpenSearch. What people type
// travels in JSON bodies only, never in an address. Start with [Open].
package elastic

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"countersign.dev/internal/domain/support"
	"countersign.dev/internal/elasticsearch"
)

// The indices that support is kept in, unless the options name others.
const (
	TicketIndex  = "support_tickets"
	ArticleIndex = "knowledge_base"
)

// Options tunes a store. The zero value is a
// good default.
type Options struct {
	Tickets  string        // default TicketIndex
	Articles string        // default ArticleIndex
	Refresh  time.Duration // how long a new index may take to show a change; zero: the server's own default
	Scored   int           // how many matching documents one search scores before it gives up, see best; zero: 5,000
}

// Store is a [support.Store] in two indices with explicit mappings. It is safe
// for concurrent use.
type Store struct {
	*elasticsearch.Client
	indices [2]string // by kind
	refresh time.Duration
	scored  int
}

// Open prepares for a server without calling it, as [elasticsearch.Open] does.
func Open(addresses string, o *Options) (*Store, error) {
	if o == nil {
		o = &Options{}
	}
	e := &Store{indices: [2]string{TicketIndex, ArticleIndex}, refresh: o.Refresh, scored: cmp.Or(o.Scored, manyMatches)}
	for k, name := range map[kind]string{tickets: o.Tickets, articles: o.Articles} {
		if name != "" {
			e.indices[k] = name
		}
		if e.indices[k] != url.PathEscape(e.indices[k]) || strings.ContainsAny(e.indices[k], "*,") {
			return nil, fmt.Errorf("%q cannot be the name of an index", e.indices[k])
		}
	}
	var err error
	e.Client, err = elasticsearch.Open(addresses, "support store")
	return e, err
}

// Oversize is always empty: the engine has no such limit here.
func (e *Store) Oversize(context.Context) (string, error) { return "", nil }

var _ support.Store = (*Store)(nil)

// manyMatches is how many documents are scored for one search.
const manyMatches = 5_000

// object is a JSON object on its way to the server.
type object = elasticsearch.Object

// wordsField is where every word of a document is searched: the engine copies
// the fields there, and no document holds it.
const wordsField = "words"

// kind is one of the two indices.
type kind uint8

const (
	tickets kind = iota
	articles
)
