package mcpserver_test

import (
	"context"
	"countersign.dev/internal/gate"
	"github.com/alicebob/miniredis/v2"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/embedded"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/mcpserver"
	"countersign.dev/internal/quota"
	"countersign.dev/internal/state"
	"countersign.dev/internal/testkit"
)

// An address from which too many requests proved no caller is rejected on every
// surface before a token is verified. Callers that it proved before are not.
func TestUnprovenCallersAreRejectedOnEverySurface(t *testing.T) {
	engine, err := embedded.StartRedis()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(engine.Close)
	redis, err := state.Open(t.Context(), engine.URL(), &state.Options{Timeout: testkit.Patience})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = redis.Close() })
	fixed := time.Now()
	quotas := quota.New(quota.Options{Store: state.NewBudgets(redis), Timeout: testkit.Patience, Limits: quota.Limits{Unproven: 2}, Now: func() time.Time { return fixed }})
	t.Cleanup(quotas.Close)
	var verified atomic.Int64
	var reported []*fault.Error
	h := open(t, func(o *mcpserver.Options) {
		o.Quotas, o.Refused = quotas, func(_ context.Context, f *fault.Error) { reported = append(reported, f) }
		o.Verify = func(ctx context.Context, token string) (*access.Principal, error) {
			verified.Add(1)
			return verify(ctx, token)
		}
	})
	if got := h.send(t, "POST", "/tools/echo", "alice", `{}`); got.status != 200 {
		t.Fatalf("got %d %s", got.status, got.body)
	}
	for i, token := range []string{"junk", "", "more junk", ""} {
		if got := h.send(t, "POST", "/tools/echo", token, `{}`); got.status != 401 || got.header.Get("WWW-Authenticate") == "" {
			t.Errorf("request %d: got %d %s", i, got.status, got.body)
		}
	}
	before := verified.Load()
	for name, got := range map[string]reply{
		"a call":             h.send(t, "POST", "/tools/echo", "junk", `{}`),
		"without a token":    h.send(t, "POST", "/tools/echo", "", `{}`),
		"a list":             h.send(t, "GET", "/tools", "junk", ""),
		"an answer":          h.send(t, "POST", "/execute", "junk", `{"confirmationId":"c1","approved":true}`),
		"MCP":                h.send(t, "POST", "/mcp", "junk", modernBody("tools/list", ""), modernHeaders("tools/list", "")...),
		"a stream of MCP":    h.send(t, "GET", "/mcp", "junk", "", "Accept", "text/event-stream"),
		"a new valid caller": h.send(t, "POST", "/tools/echo", "bob", `{}`),
	} {
		if got.status != 429 || got.header.Get("Retry-After") == "" || !strings.Contains(got.body, "RATE_LIMITED") {
			t.Errorf("%s: got %d, Retry-After %q, %s", name, got.status, got.header.Get("Retry-After"), got.body)
		}
	}
	if got := h.send(t, "GET", "/ready", "junk", ""); got.status != 200 {
		t.Errorf("/ready: got %d", got.status)
	}
	if n := verified.Load() - before; n != 0 {
		t.Errorf("%d tokens of a rejected address were verified", n)
	}
	if got := h.send(t, "POST", "/tools/echo", "alice", `{}`); got.status != 200 {
		t.Errorf("a caller who was proved before: got %d %s", got.status, got.body)
	}
	if f := reported[len(reported)-1]; f.Code != fault.TooManyRequests || !strings.Contains(f.Message, "127.0.0.1") {
		t.Errorf("reported %v", f)
	}
	fixed = fixed.Add(time.Second)
	if got := h.send(t, "POST", "/tools/echo", "bob", `{}`); got.status != 200 {
		t.Errorf("a second later: got %d %s", got.status, got.body)
	}
}

func TestJunkTicketsAreCountedByAddress(t *testing.T) {
	redis, err := state.Open(t.Context(), "redis://"+miniredis.RunT(t).Addr(), &state.Options{Timeout: testkit.Patience})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = redis.Close() })
	fixed := time.Now()
	quotas := quota.New(quota.Options{Store: state.NewBudgets(redis), Timeout: testkit.Patience, Limits: quota.Limits{Unproven: 2}, Now: func() time.Time { return fixed }})
	t.Cleanup(quotas.Close)
	redeemed := 0
	g := gate.New(gate.Options{
		Quotas: quotas,
		Verify: func(context.Context, string) (*access.Principal, error) { return nil, fault.Unauthorized.New("no") },
		Ticket: func(context.Context, string) (string, error) {
			redeemed++
			return "", fault.Unauthorized.New("never issued")
		},
	})
	for range 100 {
		_, err = g.EnterStream(httptest.NewRecorder(), httptest.NewRequest("GET", "/ws?ticket=junk", nil))
	}
	if redeemed > 20 || !fault.Is(err, fault.TooManyRequests) {
		t.Errorf("%d of 100 junk tickets were looked up; the last one got %v", redeemed, err)
	}
}
