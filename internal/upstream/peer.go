package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"countersign.dev/internal/audit"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
)

// remote is what differs between kinds of servers. [own] speaks our envelope,
// takes tokens with a purpose and answers confirmations. A server of an mcp.json
// file is to be the second kind: its results wrapped and marked untrusted, its
// confirmations opened here. An error means that the server gave no answer.
type remote interface {
	// catalogue lists all tools with their roles.
	catalogue(ctx context.Context) ([]result.ToolInfo, error)
	// call runs a tool for the principal in the context, at most once.
	call(ctx context.Context, tool string, args json.RawMessage) (result.Outcome, error)
	// execute answers a confirmation and returns the HTTP status and the body.
	execute(ctx context.Context, id string, approved bool) (int, json.RawMessage, error)
	// tidy closes sessions that were not used since then; close closes all.
	tidy(since time.Time)
	close()
}

// peer is one server with everything that is the same for every kind.
type peer struct {
	Server
	up      *Upstream
	remote  remote
	shelf   shelf
	breaker breaker
	meter   meter
}

func newPeer(u *Upstream, s Server, r remote) *peer {
	return &peer{Server: s, up: u, remote: r}
}

func (p *peer) healthy() bool {
	p.shelf.mu.Lock()
	defer p.shelf.mu.Unlock()
	return p.breaker.closed() && p.shelf.failed == nil
}

// call sends one call within the deadline of its kind, if the breaker lets it.
func (p *peer) call(ctx context.Context, tool result.ToolInfo, args json.RawMessage) result.Outcome {
	if !p.up.begin() {
		return result.Failed(p.fault(errClosed))
	}
	defer p.up.work.Done()
	start := p.up.o.Now()
	if !p.breaker.admit(start) {
		return result.Failed(p.fault(errOpen))
	}
	bounded, cancel := p.up.bounded(ctx, p.deadline(tool.Kind))
	defer cancel()
	o, err := p.remote.call(bounded, tool.Name, args)
	p.judge(ctx, start, err)
	if err != nil {
		f := p.fault(err)
		p.record(ctx, tool.Name, f)
		return result.Failed(f)
	}
	if o.Fault != nil && o.Fault.Code == fault.UnknownTool { // the list we have is not the server's
		p.shelf.forget()
	}
	return o
}

func (p *peer) deadline(k result.Kind) time.Duration {
	if k == result.Read || k == result.List {
		return p.Timeout
	}
	return p.WriteTimeout
}

// judge tells breaker and meter what a call came to. ctx is the caller's own:
// when that ended first, the server is not to blame.
func (p *peer) judge(ctx context.Context, start time.Time, err error) {
	now, v := p.up.o.Now(), there
	switch {
	case err != nil && ctx.Err() != nil:
		v = unjudged
	case err != nil && !errors.Is(err, errBusy):
		v = failing
		p.shelf.forget()
	}
	p.breaker.judge(now, v)
	p.meter.count(now.Sub(start), v)
}

// record writes down a call that no server could: whoever asks what was tried
// finds it, with its outcome unknown.
func (p *peer) record(ctx context.Context, tool string, f *fault.Error) {
	p.up.o.Log.WarnContext(ctx, "call got no answer", "server", p.Name, "tool", tool, "error", f.Unwrap())
	if p.up.o.Audit == nil {
		return
	}
	e := audit.Event{Kind: audit.Outcome, Server: p.Name, Tool: tool, Outcome: f.Code.Name}
	if err := p.up.o.Audit.Append(context.WithoutCancel(ctx), e); err != nil {
		p.up.o.Log.ErrorContext(ctx, "audit could not be written", "server", p.Name, "tool", tool, "error", err)
	}
}

// Why a call was not sent.
var (
	errClosed = errors.New("the program is about to end")
	errOpen   = errors.New("the breaker is open")
	errBusy   = errors.New("too many people at once")
)

// fault says in the server's name why it gave no answer.
func (p *peer) fault(err error) *fault.Error {
	var f *fault.Error
	switch {
	case errors.As(err, &f):
		return f
	case errors.Is(err, context.DeadlineExceeded):
		return fault.Timeout.New("The %s service did not answer in time.", p.Name).With("server", p.Name).Because(err)
	case errors.Is(err, context.Canceled):
		return fault.From(err)
	case errors.Is(err, errBusy):
		return fault.Busy.New("The %s service serves too many people at once.", p.Name).With("server", p.Name).Because(err)
	}
	return fault.ServiceDown.New("The %s service cannot be reached at the moment.", p.Name).With("server", p.Name).Because(err)
}

// bounded gives a context that ends with the caller, at the deadline, or with
// Close.
func (u *Upstream) bounded(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, d)
	unhook := context.AfterFunc(u.life, cancel)
	return ctx, func() { unhook(); cancel() }
}
