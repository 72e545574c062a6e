package mcpsession

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// ErrNotSent marks the error of a call that did not reach its server, or that the server
// did not begin. Any other error leaves it unknown whether the server carried the call out.
var ErrNotSent = errors.New("the call was not sent")

// NotSent marks the error of a call as [ErrNotSent], in one line.
func NotSent(err error) error { return unsent{err} }

// unsent is an ErrNotSent with its cause.
type unsent struct{ error }

func (u unsent) Error() string {
	return ErrNotSent.Error() + ": " + strings.ReplaceAll(u.error.Error(), "\n", ": ")
}

// Is reports whether target is ErrNotSent.
func (unsent) Is(target error) bool { return target == ErrNotSent }

// Unwrap returns the cause.
func (u unsent) Unwrap() error { return u.error }

// ErrHost marks an error of the host itself, made before a request left it. It
// says nothing about the server.
var ErrHost = errors.New("the host could not make the request")

// ErrTooLarge marks the error of a call whose answer is above the host's limit.
// The server answered.
var ErrTooLarge = errors.New("the answer is larger than allowed")

// ErrUnreadable marks the error of a call that the server answered with something that is
// no result of the protocol. The session works.
var ErrUnreadable = errors.New("the answer is no result of MCP")

// Rejected is the error of a call that the server answered with an HTTP status of
// 4xx, and so with no result. The server works; it did not take this call. It is an
// [ErrNotSent] where the status says that nothing was run.
type Rejected struct{ Status int }

func (r Rejected) Error() string { return fmt.Sprintf("the server answered %d", r.Status) }

// Is reports whether target is ErrNotSent, and the call was turned away, was too large
// or was one too many.
func (r Rejected) Is(target error) bool {
	declined := r.Status == http.StatusRequestEntityTooLarge || r.Status == http.StatusTooManyRequests
	return target == ErrNotSent && (declined || turnedAway(r.Status))
}

// trace records how far the request of one call came.
type trace struct {
	sent     atomic.Bool  // it may have reached the server
	status   atomic.Int32 // HTTP status of its answer
	tooLarge atomic.Bool  // its answer was above the limit
	stateful bool         // it was sent in a session that the server keeps, too
}

// forgotten reports whether the server no longer knows the session of the request.
func (t *trace) forgotten() bool { return t.stateful && t.status.Load() == http.StatusNotFound }

// explain adds to the error of a call what the server did answer.
func (t *trace) explain(err error) error {
	switch status := t.status.Load(); {
	case t.tooLarge.Load():
		return errors.Join(ErrTooLarge, err)
	case status >= 400 && status < 500:
		return errors.Join(Rejected{int(status)}, err)
	}
	return err
}

// answered reports whether an exchange may have failed on its answer: the errors of a call
// that has ended, of the transport and of the server itself have types of their own.
func (t *trace) answered(ctx context.Context, err error) bool {
	status := t.status.Load()
	return err != nil && ctx.Err() == nil && t.sent.Load() && !t.tooLarge.Load() && (status == 0 || status == http.StatusOK) &&
		!errors.Is(err, mcp.ErrConnectionClosed) && !errors.As(err, new(*jsonrpc.Error)) && !strings.Contains(err.Error(), cutShort)
}

// cutShort is in the SDK's error for a stream that ends before the answer that it was opened for, which has
// no type: a proxy's timeout, a server that restarts. The answer is lost, and was not a bad one.
const cutShort = "request terminated without response"

// Limit bounds the bytes of an answer's body. Reading more is ErrTooLarge, for
// the reader and for the call of ctx.
func Limit(ctx context.Context, body io.ReadCloser, most int64) io.ReadCloser {
	return limit(ctx, body, most, false)
}

// LimitLines is [Limit] for a stream of messages: it bounds each line.
func LimitLines(ctx context.Context, stream io.ReadCloser, most int64) io.ReadCloser {
	return limit(ctx, stream, most, true)
}

func limit(ctx context.Context, body io.ReadCloser, most int64, lines bool) io.ReadCloser {
	t, _ := ctx.Value(traceKey{}).(*trace)
	return &limited{body, most, 0, lines, t}
}

type limited struct {
	io.ReadCloser
	most, size int64  // bytes
	lines      bool   // size is of the last line
	trace      *trace // nil: no call's
}

// Read implements io.Reader.
func (l *limited) Read(p []byte) (int, error) {
	n, err := l.ReadCloser.Read(p[:min(int64(len(p)), l.most+1)]) // a line within p is short enough
	if !l.exceeds(p[:n]) {
		return n, err
	}
	if l.trace != nil {
		l.trace.tooLarge.Store(true)
	}
	return n, ErrTooLarge
}

// exceeds reports whether the limit is exceeded by what was read.
func (l *limited) exceeds(p []byte) bool {
	first := bytes.IndexByte(p, '\n')
	if !l.lines || first < 0 {
		l.size += int64(len(p))
		return l.size > l.most
	}
	if l.size+int64(first) > l.most {
		return true
	}
	l.size = int64(len(p) - 1 - bytes.LastIndexByte(p, '\n'))
	return false
}

// rejected reports whether the server turned the request away before it looked
// at the call.
func (t *trace) rejected() bool { return turnedAway(int(t.status.Load())) }

// turnedAway reports whether a status says that the session is unknown, or that the
// credential was not accepted.
func turnedAway(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound:
		return true
	}
	return false
}

// Refusal is the error of a call outside of a session that its server answered with
// a status of 4xx and no JSON-RPC error, or nil. It is like that of [Pool.Call].
func Refusal(status int, body []byte) error {
	if !refuses(status, func() []byte { return body }) {
		return nil
	}
	return Rejected{status}
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
	if err != nil {
		return nil, err
	}
	t.status.Store(int32(resp.StatusCode))
	if refused(resp) { // inside the SDK it would end the session, and every call in it
		_ = resp.Body.Close()
		return nil, Rejected{resp.StatusCode}
	}
	return resp, nil
}

// refused reports whether an answer is a refusal. It may replace the body.
func refused(resp *http.Response) bool {
	return refuses(resp.StatusCode, func() []byte {
		const most = 64 << 10
		body, err := io.ReadAll(io.LimitReader(resp.Body, most))
		_ = resp.Body.Close()
		resp.Body = io.NopCloser(bytes.NewReader(body))
		if err != nil {
			return nil
		}
		return body
	})
}

// refuses reports whether an answer of 4xx is no JSON-RPC error. Those come with
// 400 and 404 only.
func refuses(status int, body func() []byte) bool {
	switch {
	case status < 400 || status > 499:
		return false
	case status != http.StatusBadRequest && status != http.StatusNotFound:
		return true
	}
	return !bytes.Contains(body(), []byte(`"jsonrpc"`))
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
