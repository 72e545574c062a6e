package post

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync/atomic"
)

// Transport sends by an http.RoundTripper. Its other bounds are those of that.
type Transport struct {
	Base      string // of the server
	HTTP      http.RoundTripper
	MaxAnswer int64 // bytes of a body
}

// Send implements [Sender].
func (t Transport) Send(ctx context.Context, r Request) (Answer, error) {
	if err := errors.Join(ctx.Err(), r.check()); err != nil {
		return Answer{}, unsent{err}
	}
	if until, bounded := r.deadline(ctx); bounded {
		limited, cancel := context.WithDeadline(ctx, until)
		defer cancel()
		ctx = limited
	}
	var found atomic.Bool // a connection: what the server received since is unknown
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { found.Store(true) }})
	req, err := http.NewRequestWithContext(traced, http.MethodPost, strings.TrimSuffix(t.Base, "/")+r.Path, bytes.NewReader(bytes.Clone(r.Body))) // an http.Transport may read on after an early answer
	if err != nil {
		return Answer{}, unsent{err}
	}
	if r.Bearer != "" {
		req.Header["Authorization"] = []string{"Bearer " + r.Bearer}
	}
	fields := r.Fields
	if r.Common != nil {
		fields = append(slices.Clip(r.Common.fields), fields...)
	}
	for _, f := range fields {
		req.Header[f.Name] = []string{f.Value}
	}
	resp, err := t.HTTP.RoundTrip(req)
	if err != nil {
		if !found.Load() {
			err = unsent{err}
		}
		return Answer{}, r.ended(ctx, err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, t.MaxAnswer+1))
	switch {
	case err != nil:
		return Answer{}, r.ended(ctx, err)
	case int64(len(body)) > t.MaxAnswer:
		return Answer{}, ErrTooLarge
	}
	return Answer{resp.StatusCode, resp.Header.Get("Content-Type"), body}, nil
}

var _ Sender = Transport{}
