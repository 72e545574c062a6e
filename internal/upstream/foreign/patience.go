package foreign

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// Bounds of the requests that no call waits for: the session's stream, and answers to what the
// server asks.
const (
	defaultPatience = 5 * time.Second
	maxUnasked      = 16 // requests at a time
)

// patience bounds the requests of a session without a deadline of their own. The SDK sends them with
// its context, and waits for the head of their answers: a server that sends none would hold what is
// opened, or have any number of them sent.
type patience struct {
	next  http.RoundTripper
	limit time.Duration
	slots chan struct{}
	life  context.Context // of the session
	leave context.CancelCauseFunc
}

func newPatience(next http.RoundTripper, limit time.Duration) *patience {
	p := &patience{next: next, limit: limit, slots: make(chan struct{}, maxUnasked)}
	p.life, p.leave = context.WithCancelCause(context.Background())
	return p
}

var (
	errNoHead  = errors.New("the server does not begin to answer")
	errUnasked = errors.New("the server asks for more answers than it takes")
)

// RoundTrip implements http.RoundTripper.
func (p *patience) RoundTrip(req *http.Request) (*http.Response, error) {
	if _, bounded := req.Context().Deadline(); bounded {
		return p.next.RoundTrip(req)
	}
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	default:
		p.leave(errUnasked) // its stream ends, and with it the session
	}
	if err := context.Cause(p.life); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(req.Context())
	left := context.AfterFunc(p.life, func() { cancel(errUnasked) })
	late := time.AfterFunc(p.limit, func() { cancel(errNoHead) })
	resp, err := p.next.RoundTrip(req.WithContext(ctx))
	switch {
	case late.Stop() && err == nil:
		resp.Body = ending{resp.Body, func() { left(); cancel(nil) }}
		return resp, nil
	case err == nil: // it came with the limit
		_ = resp.Body.Close()
	}
	defer cancel(nil)
	defer left()
	if errors.Is(context.Cause(ctx), errNoHead) && req.Method == http.MethodGet {
		return withoutStream(req), nil
	}
	return nil, errors.Join(context.Cause(ctx), err)
}

// withoutStream is the answer of a server that has no stream of a session: the session works
// without. That of one whose head comes with its first event is done without, too.
func withoutStream(req *http.Request) *http.Response {
	return &http.Response{
		StatusCode: http.StatusMethodNotAllowed, Status: "405 Method Not Allowed", Request: req,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{}, Body: http.NoBody,
	}
}

// ending is a body whose context ends with it.
type ending struct {
	io.ReadCloser
	end func()
}

// Close implements io.Closer.
func (e ending) Close() error {
	defer e.end()
	return e.ReadCloser.Close()
}
