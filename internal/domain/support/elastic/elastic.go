// Package elastic keeps support in Elasticsearch or OpenSearch. What people type
// travels in JSON bodies only, never in an address. Start with [Open].
package elastic

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/elastic/elastic-transport-go/v8/elastictransport"
	"github.com/elastic/go-elasticsearch/v9/esapi"

	"countersign.dev/internal/admission"
	"countersign.dev/internal/domain/support"
	"countersign.dev/internal/fault"
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
}

// Store is a [support.Store] in two indices with explicit mappings. It is safe
// for concurrent use.
type Store struct {
	client  *elastictransport.Client
	idle    *http.Transport
	indices [2]string // by kind
	refresh time.Duration
}

// maxIdle is how many connections to a server are kept for the next call.
const maxIdle = 32

// Open prepares for a server without calling it: one that is away now may
// be there for the next call. Several nodes are separated by commas. An address
// that cannot be read is an error that does not repeat it, for it may hold a
// password.
func Open(addresses string, o *Options) (*Store, error) {
	if o == nil {
		o = &Options{}
	}
	e := &Store{indices: [2]string{TicketIndex, ArticleIndex}, refresh: o.Refresh}
	for k, name := range map[kind]string{tickets: o.Tickets, articles: o.Articles} {
		if name != "" {
			e.indices[k] = name
		}
		if e.indices[k] != url.PathEscape(e.indices[k]) || strings.ContainsAny(e.indices[k], "*,") {
			return nil, fmt.Errorf("%q cannot be the name of an index", e.indices[k])
		}
	}
	var nodes []*url.URL
	for address := range strings.SplitSeq(addresses, ",") {
		u, err := url.Parse(strings.TrimSpace(address))
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return nil, errors.New("the address of the support store is not an http or https URL")
		}
		nodes = append(nodes, u)
	}
	e.idle = &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: maxIdle, IdleConnTimeout: time.Minute, ForceAttemptHTTP2: true}
	var err error
	e.client, err = elastictransport.NewClient(elastictransport.WithURLs(nodes...), elastictransport.WithTransport(e.idle))
	return e, err
}

// storeTimeout bounds a call whose context has no deadline.
const storeTimeout = 5 * time.Second

// bounded gives a deadline to a call that has none.
func bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return admission.Bounded(ctx, storeTimeout)
}

// Close ends every connection.
func (e *Store) Close() error {
	ctx, cancel := bounded(context.Background())
	defer cancel()
	err := e.client.Close(ctx)
	e.idle.CloseIdleConnections()
	return err
}

// request is any of esapi's.
type request interface {
	Do(ctx context.Context, transport esapi.Transport) (*esapi.Response, error)
}

// send makes a request and reads its answer.
func (e *Store) send(ctx context.Context, r request, answer any) error {
	ctx, cancel := bounded(ctx)
	defer cancel()
	response, err := r.Do(ctx, e.client)
	if err != nil {
		return noAnswer(ctx, err)
	}
	defer response.Body.Close()
	if response.StatusCode >= http.StatusMultipleChoices {
		return newEngineError(response).fault()
	}
	if err := json.NewDecoder(response.Body).Decode(answer); err != nil {
		return noAnswer(ctx, err)
	}
	_, _ = io.Copy(io.Discard, response.Body) // so that the connection can be used again
	return nil
}

// noAnswer is the fault of a call without an answer. The cause is kept for the
// log; it may name addresses.
func noAnswer(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fault.Timeout.New("The support store did not answer in time.").Because(err)
	}
	return fault.ServiceDown.New("The support store cannot be reached.").Because(err)
}

// engineError is the error of a server. Its reason is left out: it may quote the
// query, which must not be logged.
type engineError struct {
	Status int
	Type   string
}

// errorBody is an error in a server's JSON.
type errorBody struct {
	Type  string
	Roots []struct{ Type string } `json:"root_cause"`
}

func newEngineError(response *esapi.Response) *engineError {
	const enough = 64 << 10
	var said struct{ Error errorBody }
	// What is no JSON, from a proxy in between, leaves the status to tell.
	_ = json.NewDecoder(io.LimitReader(response.Body, enough)).Decode(&said)
	if len(said.Error.Roots) > 0 {
		said.Error.Type = said.Error.Roots[0].Type
	}
	return &engineError{response.StatusCode, said.Error.Type}
}

// The refusals that callers distinguish.
const (
	noIndex     = "index_not_found_exception"
	indexExists = "resource_already_exists_exception"
)

func (r *engineError) Error() string { return fmt.Sprintf("%d %s", r.Status, r.Type) }

// fault maps the error to one of our faults.
func (r *engineError) fault() error {
	switch r.Status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return fault.ServiceDown.New("The support store does not serve us now.").Because(r)
	}
	if r.Type == noIndex {
		return fault.ServiceDown.New("The support store has no data yet.").Because(r)
	}
	return fault.StoreFailed("support store", r)
}

// refused reports whether an error is an engineError of that type.
func refused(err error, kind string) bool {
	var r *engineError
	return errors.As(err, &r) && r.Type == kind
}

// Oversize is always empty: the engine has no such limit here.
func (e *Store) Oversize(context.Context) (string, error) { return "", nil }

var _ support.Store = (*Store)(nil)

// object is a JSON object on its way to the server.
type object = map[string]any

// wordsField is where every word of a document is searched: the engine copies
// the fields there, and no document holds it.
const wordsField = "words"

// kind is one of the two indices.
type kind uint8

const (
	tickets kind = iota
	articles
)

// jsonBody encodes what this room has made itself.
func jsonBody(v any) io.Reader {
	encoded, err := json.Marshal(v)
	if err != nil {
		panic(err) // a map of texts and numbers always encodes
	}
	return bytes.NewReader(encoded)
}
