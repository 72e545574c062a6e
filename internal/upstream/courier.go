package upstream

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"

	"countersign.dev/internal/access"
	"countersign.dev/internal/telemetry"
)

// courier carries every request to one server, with a token of the principal in
// the request's own context: the SDK hands a call's context down to its request,
// so a person whose roles changed since the session was opened is known as they
// are now.
//
// It reads an answer whole before it hands it on. An answer that is cut off then
// fails its own request; inside the SDK it would break the session and every
// call in it.
type courier struct {
	next     http.RoundTripper
	audience string
	mint     func(p *access.Principal, audience string, purpose access.Purpose) (string, error)
	limit    int64 // bytes of an answer
}

// RoundTrip implements http.RoundTripper.
func (c courier) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	p, err := access.From(ctx)
	if err != nil {
		return nil, err
	}
	token, err := c.mint(p, c.audience, purposeOf(ctx))
	if err != nil {
		return nil, fmt.Errorf("minting a token for %s: %w", c.audience, err)
	}
	req = req.Clone(traced(ctx))
	req.Header.Set("Authorization", "Bearer "+token)
	name(req, telemetry.RequestOf(ctx))
	resp, err := c.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	note(ctx, resp.StatusCode)
	return c.whole(resp)
}

// whole replaces the body by what it holds.
func (c courier) whole(resp *http.Response) (*http.Response, error) {
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, c.limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(body)) > c.limit {
		return nil, fmt.Errorf("answer of %s is larger than %d bytes", c.audience, c.limit)
	}
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return resp, nil
}

// name passes on which request this belongs to.
func name(req *http.Request, r telemetry.Request) {
	if r.ID != "" {
		req.Header.Set("X-Request-ID", r.ID)
	}
	if len(r.Trace) == 32 {
		var span [8]byte
		_, _ = rand.Read(span[:]) // crypto/rand.Read never fails
		req.Header.Set("Traceparent", "00-"+r.Trace+"-"+hex.EncodeToString(span[:])+"-01")
	}
}

// trip remembers how far a call's request came.
type trip struct {
	sent   atomic.Bool  // it may have reached the server
	status atomic.Int32 // the HTTP status of its answer
}

// refused reports whether the server turned the request away before it looked
// at the call: the session is gone, or our token is not taken.
func (t *trip) refused() bool {
	switch t.status.Load() {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound:
		return true
	}
	return false
}

type (
	tripKey    struct{}
	purposeKey struct{}
)

func withTrip(ctx context.Context, t *trip) context.Context {
	return context.WithValue(ctx, tripKey{}, t)
}

// traced notes on the trip that a connection was found: from then on, nobody
// can tell what the server saw.
func traced(ctx context.Context) context.Context {
	t, ok := ctx.Value(tripKey{}).(*trip)
	if !ok {
		return ctx
	}
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { t.sent.Store(true) }})
}

func note(ctx context.Context, status int) {
	if t, ok := ctx.Value(tripKey{}).(*trip); ok {
		t.status.Store(int32(status))
	}
}

func withPurpose(ctx context.Context, p access.Purpose) context.Context {
	return context.WithValue(ctx, purposeKey{}, p)
}

// purposeOf is what the request's token is for: a call, unless said otherwise.
func purposeOf(ctx context.Context) access.Purpose {
	if p, ok := ctx.Value(purposeKey{}).(access.Purpose); ok {
		return p
	}
	return access.PurposeCall
}

// transportOf takes the client's transport, or makes one that keeps enough
// connections for many people at once.
func transportOf(c *http.Client) http.RoundTripper {
	if c != nil && c.Transport != nil {
		return c.Transport
	}
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.Proxy = nil // our servers are named, never guessed through a proxy
	t.MaxIdleConnsPerHost = 64
	return t
}
