// Package elasticsearch is a client of Elasticsearch or OpenSearch servers: their
// addresses, deadlines and errors. It knows no index. What people type travels in
// JSON bodies only, never in an address. Start with [Open].
package elasticsearch

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
	"countersign.dev/internal/fault"
)

// Client talks to the nodes of one cluster. It is safe for concurrent use.
type Client struct {
	name   string // of the store, in sentences for people
	client *elastictransport.Client
	idle   *http.Transport
}

// maxIdle is how many connections to a server are kept for the next call.
const maxIdle = 32

// Open prepares for a server without calling it: one that is away now may
// be there for the next call. Several nodes are separated by commas. An address
// that cannot be read is an error that does not repeat it, for it may hold a
// password. name is what people call the store, such as "support store".
func Open(addresses, name string) (*Client, error) {
	var nodes []*url.URL
	for address := range strings.SplitSeq(addresses, ",") {
		u, err := url.Parse(strings.TrimSpace(address))
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return nil, fmt.Errorf("the address of the %s is not an http or https URL", name)
		}
		nodes = append(nodes, u)
	}
	c := &Client{name: name, idle: &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: maxIdle, IdleConnTimeout: time.Minute, ForceAttemptHTTP2: true,
		DisableCompression: true}} // a server compresses slower than a network of its own carries
	var err error
	c.client, err = elastictransport.NewClient(elastictransport.WithURLs(nodes...), elastictransport.WithTransport(c.idle))
	return c, err
}

// timeout bounds a call whose context has no deadline.
const timeout = 5 * time.Second

// Bounded gives a deadline to a call that has none.
func Bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return admission.Bounded(ctx, timeout)
}

// Close ends every connection.
func (c *Client) Close() error {
	ctx, cancel := Bounded(context.Background())
	defer cancel()
	err := c.client.Close(ctx)
	c.idle.CloseIdleConnections()
	return err
}

// Request is any of esapi's.
type Request interface {
	Do(ctx context.Context, transport esapi.Transport) (*esapi.Response, error)
}

// Send makes a request and reads its answer.
func (c *Client) Send(ctx context.Context, r Request, answer any) error {
	ctx, cancel := Bounded(ctx)
	defer cancel()
	response, err := r.Do(ctx, c.client)
	if err != nil {
		return c.noAnswer(ctx, err)
	}
	defer response.Body.Close()
	if response.StatusCode >= http.StatusMultipleChoices {
		return c.Fault(newError(response))
	}
	if err := json.NewDecoder(response.Body).Decode(answer); err != nil {
		return c.noAnswer(ctx, err)
	}
	_, _ = io.Copy(io.Discard, response.Body) // so that the connection can be used again
	return nil
}

// noAnswer is the fault of a call without an answer. The cause is kept for the
// log; it may name addresses.
func (c *Client) noAnswer(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fault.Timeout.New("The %s did not answer in time.", c.name).Because(err)
	}
	return fault.ServiceDown.New("The %s cannot be reached.", c.name).Because(err)
}

// Error is the error of a server. Its reason is left out: it may quote the
// query, which must not be logged.
type Error struct {
	Status int
	Type   string
}

// ErrorBody is an error in a server's JSON.
type ErrorBody struct {
	Type  string
	Roots []struct{ Type string } `json:"root_cause"`
}

func newError(response *esapi.Response) *Error {
	const enough = 64 << 10
	var said struct{ Error ErrorBody }
	// What is no JSON, from a proxy in between, leaves the status to tell.
	_ = json.NewDecoder(io.LimitReader(response.Body, enough)).Decode(&said)
	if len(said.Error.Roots) > 0 {
		said.Error.Type = said.Error.Roots[0].Type
	}
	return &Error{response.StatusCode, said.Error.Type}
}

// The refusals that callers distinguish.
const (
	NoIndex     = "index_not_found_exception"
	IndexExists = "resource_already_exists_exception"
)

func (e *Error) Error() string { return fmt.Sprintf("%d %s", e.Status, e.Type) }

// Fault maps an error to one of our faults.
func (c *Client) Fault(e *Error) error {
	switch e.Status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return fault.ServiceDown.New("The %s does not serve us now.", c.name).Because(e)
	}
	if e.Type == NoIndex {
		return fault.ServiceDown.New("The %s has no data yet.", c.name).Because(e)
	}
	return fault.StoreFailed(c.name, e)
}

// Refused reports whether an error is a server's of that type.
func Refused(err error, kind string) bool {
	var e *Error
	return errors.As(err, &e) && e.Type == kind
}

// Object is a JSON object on its way to the server.
type Object = map[string]any

// JSON encodes a body that a store has made itself.
func JSON(v any) io.Reader {
	encoded, err := json.Marshal(v)
	if err != nil {
		panic(err) // a map of texts and numbers always encodes
	}
	return bytes.NewReader(encoded)
}

// Lines encodes values as a line each, for bulk requests.
func Lines(lines ...any) (io.Reader, error) {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	for _, line := range lines {
		if err := encoder.Encode(line); err != nil {
			return nil, err
		}
	}
	return &body, nil
}

// Outcome is the result of one action of a bulk request.
type Outcome struct {
	Status int
	Error  *ErrorBody
}

// Bulk sends actions, each followed by its document where it has one, to an index,
// and returns an outcome for each of the n actions. Ids are in the body here too.
func (c *Client) Bulk(ctx context.Context, index, refresh string, n int, lines ...any) ([]Outcome, error) {
	body, err := Lines(lines...)
	if err != nil {
		return nil, err
	}
	var answer struct{ Items []map[string]Outcome }
	if err := c.Send(ctx, esapi.BulkRequest{Index: index, Body: body, Refresh: refresh}, &answer); err != nil {
		return nil, err
	}
	outcomes := make([]Outcome, 0, len(answer.Items))
	for _, item := range answer.Items {
		for _, o := range item { // the one action's
			outcomes = append(outcomes, o)
		}
	}
	if len(outcomes) != n {
		return nil, fmt.Errorf("%d outcomes of %d changes", len(outcomes), n)
	}
	return outcomes, nil
}

// OutcomeFault is the fault of an action that failed, or nil.
func (c *Client) OutcomeFault(o Outcome) error {
	if o.Error == nil {
		return nil
	}
	return c.Fault(&Error{o.Status, o.Error.Type})
}
