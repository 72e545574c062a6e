package upstream

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/agent"
	"countersign.dev/internal/result"
	"countersign.dev/internal/telemetry"
	"countersign.dev/internal/upstream/breaker"
	"countersign.dev/internal/upstream/own"
)

var _ agent.Toolbox = (*Upstream)(nil)

// New makes the coordinator of the servers. Our own are not asked before the first
// call; foreign ones are asked for their tools in the background.
func New(servers []Server, o Options) *Upstream {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	o.MaxAnswer = cmp.Or(o.MaxAnswer, DefaultMaxAnswer)
	if o.Now == nil {
		o.Now = time.Now
	}
	u := &Upstream{o: o}
	u.life, u.stop = context.WithCancel(context.Background())
	u.current.Store(&snapshot{lists: make(map[string]toolList)})
	transport, all := u.transport(), make([]*server, len(servers))
	for i, s := range servers {
		all[i] = u.connect(withDefaults(s), transport)
	}
	u.update(func(next *snapshot) { next.servers = all })
	for _, s := range all {
		follow(s)
	}
	return u
}

func (u *Upstream) connect(s Server, transport http.RoundTripper) *server {
	v := &server{Server: s, up: u, breaker: breaker.New(breaker.Own), meter: &meter{}}
	if s.Foreign != nil {
		v.found, v.end = newDiscovery(), func() {}
		v.adapter = &counted{Adapter: s.Foreign(v.announced)}
		return v
	}
	ours := own.New(own.Options{
		Name: s.Name, URL: s.URL, Timeout: s.Timeout, MaxAnswer: u.o.MaxAnswer,
		Mint: u.o.Mint, HTTP: transport, Log: u.o.Log, Now: u.o.Now,
	})
	v.adapter, v.answers, v.ours = ours, ours, ours
	return v
}

// transport is that of the options; nil: each own server has its own.
func (u *Upstream) transport() http.RoundTripper {
	if u.o.HTTP == nil {
		return nil
	}
	return u.o.HTTP.Transport
}

// Close cancels what is in flight, closes every session and returns when all of
// it has ended.
func (u *Upstream) Close() {
	u.replacing.Lock() // a replacement that has begun publishes its servers first, or they would stay open
	u.closing.Lock()
	u.stop()
	u.closing.Unlock()
	u.replacing.Unlock()
	for _, s := range u.registry().servers {
		if s.ours != nil {
			s.ours.Abort()
		}
	}
	u.work.Wait()
	for _, s := range u.registry().servers {
		s.adapter.Close()
	}
}

// Call runs one tool for the principal in the context. A server that cannot be
// reached is SERVICE_UNAVAILABLE or TIMEOUT; a name that no server has is
// UNKNOWN_TOOL.
func (u *Upstream) Call(ctx context.Context, name string, args json.RawMessage) result.Outcome {
	who, err := access.From(ctx)
	if err != nil {
		return result.Failed(err)
	}
	ctx = withCallID(ctx)
	r, err := u.find(ctx, name)
	switch {
	case err != nil:
		return unfound(ctx, u, name, err)
	case r.server.foreign():
		return u.callForeign(ctx, who, r, args)
	}
	o, err := r.server.call(ctx, r, args)
	switch {
	case err == nil:
		return o
	case errors.Is(err, own.ErrCancelled): // which the server has recorded
		return result.Failed(r.server.fault(err))
	}
	return r.recorded(ctx, nil, result.Failed(r.server.fault(err)), false)
}

// withCallID gives each call of a turn a request id of its own, after that of the turn.
// Any other request is one call.
func withCallID(ctx context.Context) context.Context {
	request := telemetry.RequestOf(ctx)
	if request.Conversation == "" {
		return ctx
	}
	return telemetry.WithRequest(ctx, request.Part(strings.ToLower(rand.Text()[:6])))
}
