package own

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"countersign.dev/internal/access"
	"countersign.dev/internal/admission"
	"countersign.dev/internal/telemetry"
	"countersign.dev/internal/upstream/mcpsession"
	"countersign.dev/internal/upstream/post"
)

// authTransport sends every request to one server with a token of the principal
// in the request's own context. The SDK passes a call's context to its request,
// so each call carries the roles that the person has now, not those of the time
// when the session was opened.
//
// It reads an answer whole before it returns it. An answer that is cut off then
// fails its own request; inside the SDK it would break the session and every
// call in it. A stream of events is passed on as it comes, because reports of
// progress arrive before the answer.
type authTransport struct {
	next     http.RoundTripper
	audience string
	mint     func(p *access.Principal, audience string, purpose access.Purpose) (string, error)
	limit    int64 // bytes of an answer
}

// RoundTrip implements http.RoundTripper.
func (a authTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	token, err := a.token(ctx)
	if err != nil {
		return nil, err
	}
	req = req.Clone(ctx)
	req.Header.Set("Authorization", "Bearer "+token)
	for _, f := range appendNames(nil, telemetry.RequestOf(ctx)) {
		req.Header.Set(f.Name, f.Value)
	}
	defer admission.Outside(ctx)()
	resp, err := mcpsession.RoundTrip(a.next, req)
	if err != nil {
		return nil, err
	}
	resp.Body = mcpsession.Limit(ctx, resp.Body, a.limit)
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		return resp, nil
	}
	return a.readWhole(resp)
}

// readWhole replaces the body by its bytes.
func (a authTransport) readWhole(resp *http.Response) (*http.Response, error) {
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("answer of %s: %w", a.audience, err)
	}
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return resp, nil
}

// token is that of the principal in the context, for the request's purpose.
func (a authTransport) token(ctx context.Context) (string, error) {
	p, err := access.From(ctx)
	if err != nil {
		return "", errors.Join(mcpsession.ErrHost, err)
	}
	token, err := a.mint(p, a.audience, purposeOf(ctx))
	if err != nil {
		return "", fmt.Errorf("%w: minting a token for %s: %w", mcpsession.ErrHost, a.audience, err)
	}
	return token, nil
}

// appendNames passes on the ids of the request that a call belongs to.
func appendNames(fields []post.Field, r telemetry.Request) []post.Field {
	if r.ID != "" {
		fields = append(fields, post.Field{Name: "X-Request-Id", Value: r.ID})
	}
	if len(r.Trace) == 32 {
		var span [8]byte
		_, _ = rand.Read(span[:]) // crypto/rand.Read never fails
		fields = append(fields, post.Field{Name: "Traceparent", Value: "00-" + r.Trace + "-" + hex.EncodeToString(span[:]) + "-01"})
	}
	return fields
}

type purposeKey struct{}

func withPurpose(ctx context.Context, p access.Purpose) context.Context {
	return context.WithValue(ctx, purposeKey{}, p)
}

// purposeOf is the purpose of the request's token: a call, unless withPurpose
// set another.
func purposeOf(ctx context.Context) access.Purpose {
	if p, ok := ctx.Value(purposeKey{}).(access.Purpose); ok {
		return p
	}
	return access.PurposeCall
}

// NewTransport makes a transport that keeps enough connections for many
// concurrent people.
func NewTransport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.Proxy = nil // our servers are named, never reached through a proxy
	t.MaxIdleConnsPerHost = 64
	t.MaxResponseHeaderBytes = 64 << 10 // our servers' have a few hundred bytes
	return t
}
