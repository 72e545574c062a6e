package gate

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/admission"
	"countersign.dev/internal/fault"
)

// Live returns a context for a stream to the caller of a request that entered. It
// ends with the request, and when the caller's token expires or is revoked; then
// its cause is the fault that says why. A caller of our own page is proved again
// when the token expires, because their session may have been refreshed. A stream is
// none of its caller's open requests.
func (g *Gate) Live(r *http.Request) (context.Context, context.CancelFunc) {
	admission.From(r.Context()).Streams()
	ctx, end := context.WithCancelCause(r.Context())
	stop := func() { end(context.Canceled) }
	who, err := access.From(ctx)
	if err != nil {
		return ctx, stop
	}
	unwatch := func() {}
	if g.o.Watch != nil {
		unwatch = g.o.Watch(who, end)
	}
	unexpire := func() {}
	if at := who.Expires(); !at.IsZero() {
		unexpire = g.expire(ctx, r, at, end)
	}
	return ctx, func() { unwatch(); unexpire(); stop() }
}

// expire calls end when the token of a stream's caller, which ends at that time, is
// over and has no successor, until stop is called. An idle stream has no goroutine
// for it.
func (g *Gate) expire(ctx context.Context, r *http.Request, at time.Time, end func(error)) (stop func()) {
	var (
		mu      sync.Mutex
		stopped bool
		timer   *time.Timer
	)
	mu.Lock()
	defer mu.Unlock()
	timer = time.AfterFunc(time.Until(at), func() {
		next, err := g.ProveAgain(r.WithContext(ctx))
		if err != nil {
			end(err)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if !stopped {
			timer.Reset(time.Until(next.Expires()))
		}
	})
	return func() {
		mu.Lock()
		defer mu.Unlock()
		stopped = true
		timer.Stop()
	}
}

// ProveAgain returns the caller of a request whose token has expired, if their
// session has another one by now.
func (g *Gate) ProveAgain(r *http.Request) (*access.Principal, error) {
	expired := fault.Unauthorized.New("The sign-in has expired.").Suggest("Sign in again.").Instruct("Sign in again. A program gets a new token.")
	if g.o.Browser == nil || ByToken(r) {
		return nil, expired
	}
	next, ok, err := g.o.Browser(unwritten{}, r)
	switch {
	case err != nil:
		return nil, fault.From(err)
	case !ok || !time.Now().Before(next.Expires()):
		return nil, expired
	}
	return next, nil
}

// unwritten is the writer of an answer that has begun: it has no more headers.
type unwritten struct{ http.ResponseWriter }

func (unwritten) Header() http.Header { return http.Header{} }

// Ended returns why the caller's right to a stream has ended, or nil while it has
// not, or when only the request has.
func Ended(live context.Context) *fault.Error {
	var why *fault.Error
	errors.As(context.Cause(live), &why)
	return why
}
