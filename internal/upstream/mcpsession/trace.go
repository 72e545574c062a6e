package mcpsession

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// ErrNotSent marks the error of a call that did not reach its server. Any other
// error leaves it unknown whether the server carried the call out.
var ErrNotSent = errors.New("the call was not sent")

// ErrHost marks an error of the host itself, made before a request left it. It
// says nothing about the server.
var ErrHost = errors.New("the host could not make the request")

// trace records how far the request of one call came.
type trace struct {
	sent   atomic.Bool  // it may have reached the server
	status atomic.Int32 // HTTP status of its answer
}

// rejected reports whether the server turned the request away before it looked
// at the call: the session is unknown, or the credential was not accepted.
func (t *trace) rejected() bool {
	switch t.status.Load() {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound:
		return true
	}
	return false
}

type traceKey struct{}

func withTrace(ctx context.Context, t *trace) context.Context {
	return context.WithValue(ctx, traceKey{}, t)
}

// RoundTrip sends a request of a session and records its progress for the call
// that it belongs to. Every adapter's HTTP transport sends through it.
func RoundTrip(next http.RoundTripper, req *http.Request) (*http.Response, error) {
	t, ok := req.Context().Value(traceKey{}).(*trace)
	if !ok {
		return next.RoundTrip(req)
	}
	// Once a connection was found, what the server received is unknown.
	hook := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { t.sent.Store(true) }}
	resp, err := next.RoundTrip(req.WithContext(httptrace.WithClientTrace(req.Context(), hook)))
	if err == nil {
		t.status.Store(int32(resp.StatusCode))
	}
	return resp, err
}

// codeRejected is the code of errors that the SDK's own transport makes, in the
// same type as errors that a server answers with.
const codeRejected = -32005

// ServerError returns the JSON-RPC error that the server answered a call with,
// or nil when it gave no answer to it.
func ServerError(err error) *jsonrpc.Error {
	if errors.Is(err, ErrNotSent) {
		return nil
	}
	var e *jsonrpc.Error
	if errors.As(err, &e) && e.Code != codeRejected {
		return e
	}
	return nil
}

func isServerError(err error) bool { return ServerError(err) != nil }
