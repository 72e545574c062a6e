package mcpserver_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"countersign.dev/internal/access"
	"countersign.dev/internal/admission"
	"countersign.dev/internal/embedded"
	"countersign.dev/internal/mcpserver"
	"countersign.dev/internal/quota"
	"countersign.dev/internal/state"
	"countersign.dev/internal/testkit"
)

// limited makes quotas over a Redis of their own.
func limited(t testing.TB, limits quota.Limits) func(*mcpserver.Options) {
	t.Helper()
	engine, err := embedded.StartRedis()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(engine.Close)
	return limitedOn(t, engine.URL(), limits)
}

// frozen are limits by a fixed clock: no one gains a request while a test runs.
func frozen(t testing.TB, limits quota.Limits) func(*mcpserver.Options) {
	t.Helper()
	mini := miniredis.RunT(t)
	mini.SetTime(time.Now())
	return limitedOn(t, "redis://"+mini.Addr(), limits)
}

func limitedOn(t testing.TB, address string, limits quota.Limits) func(*mcpserver.Options) {
	t.Helper()
	redis, err := state.Open(t.Context(), address, &state.Options{Timeout: testkit.Patience})
	if err != nil {
		t.Fatal(err)
	}
	quotas := quota.New(quota.Options{Store: state.NewBudgets(redis), Timeout: testkit.Patience, Limits: limits})
	t.Cleanup(func() { quotas.Close(); _ = redis.Close() })
	return func(o *mcpserver.Options) { o.Quotas = quotas }
}

func TestRequestOverTheQuotaIsRejectedOnEverySurface(t *testing.T) {
	h := open(t, frozen(t, quota.Limits{Requests: 1}))
	spend := func(token string) reply {
		for range 10 {
			if got := h.send(t, "POST", "/tools/echo", token, `{}`); got.status != 200 {
				return got
			}
		}
		t.Fatal("got ten answers, want two a second")
		return reply{}
	}
	rejected := func(name string, r reply) {
		t.Helper()
		if wait, err := strconv.Atoi(r.header.Get("Retry-After")); r.status != 429 || err != nil || wait < 1 {
			t.Errorf("%s: got %d with Retry-After %q, want 429 and a second or more", name, r.status, r.header.Get("Retry-After"))
		}
	}
	over := spend("alice")
	rejected("POST /tools/echo", over)
	if e := over.envelope(t); e.Status != "error" || e.Code != "RATE_LIMITED" || e.SuggestedAction == "" {
		t.Errorf("got %+v, want an error envelope with what to do", e)
	}
	spend("alice")
	rejected("GET /tools", h.send(t, "GET", "/tools", "alice", ""))
	rejected("POST /execute", h.send(t, "POST", "/execute", "alice", `{"confirmationId":"c1","approved":true}`))
	spend("alice")
	over = h.send(t, "POST", "/mcp", "alice", modernBody("tools/list", ""), modernHeaders("tools/list", "")...)
	rejected("POST /mcp", over)
	var message struct {
		JSONRPC string
		Error   struct {
			Code    int
			Message string
			Data    struct {
				Code    string
				Details struct{ Limit string }
			}
		}
	}
	if err := json.Unmarshal([]byte(over.body), &message); err != nil || message.JSONRPC != "2.0" || message.Error.Code == 0 || message.Error.Data.Code != "RATE_LIMITED" || message.Error.Data.Details.Limit != "requests" {
		t.Errorf("got %s, want an error of JSON-RPC", over.body)
	}
	if got := h.send(t, "POST", "/tools/echo", "bob", `{}`); got.status != 200 {
		t.Errorf("another person: got %d, want 200", got.status)
	}
	for range 20 { // of the gateway, which has counted its callers itself
		if got := h.send(t, "POST", "/tools/echo", "call", `{}`); got.status != 200 {
			t.Fatalf("an internal token: got %d %s, want 200", got.status, got.body)
		}
	}
}

func TestBytesArePaidFor(t *testing.T) {
	admit := func(o *mcpserver.Options) { o.Admission = admission.New(admission.Options{}) }
	large := `{"note":"` + strings.Repeat("x", 700<<10) + `"}`
	for name, send := range map[string]func(h *harness) int{
		"declared": func(h *harness) int { return h.send(t, "POST", "/tools/none", "alice", large).status }, // the answer is short
		"not declared": func(h *harness) int {
			r, err := http.NewRequest("POST", h.URL+"/tools/echo", struct{ io.Reader }{strings.NewReader(large)})
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Authorization", "Bearer alice")
			resp, err := testkit.Client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			return resp.StatusCode
		},
	} {
		h := open(t, frozen(t, quota.Limits{Requests: 20}), admit) // 40 at once
		send(h)
		refused := false
		for range 38 { // with the first one within the burst; what is not declared is counted when it has been answered
			refused = refused || h.send(t, "POST", "/tools/echo", "alice", `{}`).status == 429
		}
		if !refused {
			t.Errorf("%s: 38 requests after a large body were answered, want a refusal", name)
		}
		if got := h.send(t, "POST", "/tools/echo", "bob", `{}`); got.status != 200 {
			t.Errorf("%s: another person: got %d, want 200", name, got.status)
		}
	}
}

// queued makes a queue whose slots are all held by another person.
func queued(t testing.TB) func(*mcpserver.Options) {
	t.Helper()
	q := admission.New(admission.Options{Slots: 2, Patience: time.Millisecond})
	for range 2 {
		work := q.Work().For(access.Owner{Issuer: testkit.Issuer, Subject: "another"})
		if err := work.Begin(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(work.End)
	}
	return func(o *mcpserver.Options) { o.Admission = q }
}

func TestRequestThatIsNotAdmittedIsRejectedOnEverySurface(t *testing.T) {
	h := open(t, queued(t))
	for _, c := range []struct {
		method, path, body string
		headers            []string
	}{
		{"POST", "/tools/echo", `{}`, nil},
		{"GET", "/tools", "", nil},
		{"POST", "/execute", `{"confirmationId":"c1","approved":true}`, nil},
		{"POST", "/mcp", modernBody("tools/list", ""), modernHeaders("tools/list", "")},
		{"POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`, nil},
	} {
		got := h.send(t, c.method, c.path, "alice", c.body, c.headers...)
		if got.status != 429 || got.header.Get("Retry-After") != "1" || !strings.Contains(got.body, "RATE_LIMITED") {
			t.Errorf("%s %s: got %d %s, want 429 in the shape of the surface", c.method, c.path, got.status, got.body)
		}
	}
	if got := h.send(t, "GET", "/health", "", ""); got.status != 200 {
		t.Errorf("got %d, want health without a slot", got.status)
	}
}

// The question: what does counting add to a request? "bare" is the floor of
// BenchmarkCall, "rest" the same call with and without quotas; "count" is the
// check alone.
func BenchmarkQuota(b *testing.B) {
	with := limited(b, quota.Limits{Requests: 1 << 40})
	serve := func(b *testing.B, options ...func(*mcpserver.Options)) {
		handler, request := open(b, options...).server.Handler(), post("/tools/echo", benchArgs)
		b.ReportAllocs()
		for b.Loop() {
			handler.ServeHTTP(httptest.NewRecorder(), request())
		}
	}
	b.Run("bare", func(b *testing.B) {
		handler, request := bare(), post("/tools/echo", benchArgs)
		b.ReportAllocs()
		for b.Loop() {
			handler.ServeHTTP(httptest.NewRecorder(), request())
		}
	})
	b.Run("rest", func(b *testing.B) { serve(b) })
	b.Run("rest-with-quotas", func(b *testing.B) { serve(b, with) })
	b.Run("rest-with-admission", func(b *testing.B) {
		serve(b, func(o *mcpserver.Options) { o.Admission = admission.New(admission.Options{}) })
	})
	b.Run("count", func(b *testing.B) {
		var o mcpserver.Options
		with(&o)
		who, err := verify(b.Context(), "alice")
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		for b.Loop() {
			if err := o.Quotas.Request(b.Context(), who.Owner(), 0); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func TestSessionsAndStreamsOfOnePersonAreLimited(t *testing.T) {
	h := open(t, limited(t, quota.Limits{Sessions: 2, Streams: 1}))
	first := h.handshake(t, "alice")
	h.handshake(t, "alice")
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	if got := h.send(t, "POST", "/mcp", "alice", strings.Replace(hello, `"id":1`, `"id":1.5`, 1)); got.status != 429 || !strings.Contains(got.body, `"id":1.5`) || !strings.Contains(got.body, `"limit":"mcp_sessions"`) {
		t.Errorf("a third session: got %d %s, want its own id and the limit", got.status, got.body)
	}
	third := h.send(t, "POST", "/mcp", "alice", hello)
	if third.status != 429 || third.header.Get("Retry-After") == "" || third.header.Get("Mcp-Session-Id") != "" || !strings.Contains(third.body, `"code":"RATE_LIMITED"`) || !strings.Contains(third.body, `"id":1,`) {
		t.Errorf("a third session: got %d %v %s, want 429 and an error of JSON-RPC", third.status, third.header, third.body)
	}
	h.handshake(t, "bob")
	if got := h.callLegacy(t, "alice", first, "who_am_i", `{}`); got.status != 200 {
		t.Errorf("a call in an open session: got %d %s", got.status, got.body)
	}
	if got := h.send(t, "POST", "/mcp", "alice", modernBody("tools/call", `"name":"who_am_i"`), modernHeaders("tools/call", "who_am_i")...); got.status != 200 {
		t.Errorf("a call without a session: got %d %s", got.status, got.body)
	}
	listen := func() *http.Response {
		r, err := http.NewRequestWithContext(t.Context(), "GET", h.URL+"/mcp", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer alice")
		r.Header.Set("Accept", "text/event-stream")
		r.Header.Set("Mcp-Session-Id", first)
		r.Header.Set("Mcp-Protocol-Version", legacy)
		resp, err := testkit.Client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = resp.Body.Close() })
		return resp
	}
	if got := listen().StatusCode; got != 200 {
		t.Errorf("a stream: got %d", got)
	}
	if got := listen().StatusCode; got != 429 {
		t.Errorf("a second stream: got %d, want 429", got)
	}
	if got := h.send(t, "POST", "/mcp", "alice", modernBody("subscriptions/listen", `"notifications":{}`), modernHeaders("subscriptions/listen", "")...); got.status != 429 {
		t.Errorf("a subscription: got %d %s, want 429", got.status, got.body)
	}
	if got := h.send(t, "POST", "/mcp", "alice", `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, "Mcp-Session-Id", first, "Mcp-Protocol-Version", legacy, "Mcp-Method", "subscriptions/listen"); got.status != 200 {
		t.Errorf("a list, whose header names a stream: got %d %s", got.status, got.body)
	}
	if got := h.send(t, "DELETE", "/mcp", "alice", "", "Mcp-Session-Id", first); got.status != 204 {
		t.Errorf("ending a session: got %d", got.status)
	}
	for began := time.Now(); time.Since(began) < testkit.Patience; { // its slot is free within moments
		if h.send(t, "POST", "/mcp", "alice", hello).status == 200 {
			return
		}
	}
	t.Error("got no session after one was ended")
}
