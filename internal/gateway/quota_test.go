package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"countersign.dev/internal/access"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/conversation"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/quota"
	"countersign.dev/internal/state"
	"countersign.dev/internal/testkit"
)

// limited gives a replica other limits.
func limited(limits quota.Limits) func(*conversation.Options) {
	return func(o *conversation.Options) {
		o.Quotas.Close()
		o.Quotas = quota.New(quota.Options{Store: state.NewBudgets(o.Redis), Timeout: testkit.Patience, Limits: limits})
	}
}

// rejected checks that a request was rejected with 429, the code, and a time to
// wait, as JSON and not as a stream.
func (r *rig) rejected(what, method, path, token, body, code string) {
	r.t.Helper()
	resp := r.send(method, path, token, body)
	wait, kind := resp.Header.Get("Retry-After"), resp.Header.Get("Content-Type")
	status, text := r.read(resp)
	var e struct{ Status, Code, Message, SuggestedAction string }
	if err := json.Unmarshal([]byte(text), &e); err != nil || status != 429 || wait == "" || wait == "0" || kind != "application/json" || e.Code != code || e.Message == "" || e.SuggestedAction == "" {
		r.t.Errorf("%s: got %d Retry-After %q %s %s, want 429 %s", what, status, wait, kind, text, code)
	}
}

func TestRequestsOverTheQuotaAreRejected(t *testing.T) {
	mini := miniredis.RunT(t)
	mini.SetTime(time.Now()) // fixed: no one gains a request while the test runs
	r := rigOn(t, mini, limited(quota.Limits{Requests: 1}))
	for range 2 {
		r.get("/api/user", alice, nil)
	}
	r.rejected("GET /api/user", "GET", "/api/user", alice, "", "RATE_LIMITED")
	r.rejected("POST /api/query", "POST", "/api/query", alice, askBody("hello", ""), "RATE_LIMITED")
	r.rejected("a direct call", "POST", "/api/mcp/hr/get_employee", alice, "{}", "RATE_LIMITED")
	if status, body := r.read(r.send("POST", "/api/confirm/x", alice, `{"approved":true}`)); status != 429 || !strings.Contains(body, `"error":"Too many requests"`) || !strings.Contains(body, "RATE_LIMITED") {
		t.Errorf("an approval: got %d %s, want 429 in document 000's shape", status, body)
	}
	if status := r.get("/api/user", frank, nil); status != 200 {
		t.Errorf("another person: got %d", status)
	}
}

// unfilled has budgets of one burst each, which gain nothing, and slots for all.
type unfilled struct {
	mu    sync.Mutex
	taken map[string]int
}

func (u *unfilled) TakeTokens(_ context.Context, key string, want, _, burst int) (int, time.Duration, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	n := min(want, burst-u.taken[key])
	u.taken[key] += n
	return n, time.Hour, nil
}

func (*unfilled) Hold(context.Context, string, string, int, time.Duration) (bool, error) {
	return true, nil
}

func (*unfilled) Unhold(context.Context, string, string) error { return nil }

// A turn costs more than a call, on each surface that begins one; what it costs is not
// paid by others.
func TestTurnsCountAsManyRequests(t *testing.T) {
	for name, ask := range map[string]func(*rig){
		"event stream": func(r *rig) { r.ask(alice, "hello", "") },
		"WebSocket": func(r *rig) {
			s := r.connect(alice, "", "connected")
			s.ask("hello")
			s.until("end")
		},
	} {
		r := newRig(t, func(o *conversation.Options) {
			o.Quotas.Close()
			o.Quotas = quota.New(quota.Options{Store: &unfilled{taken: map[string]int{}}, Limits: quota.Limits{Requests: 5}})
		})
		ask(r)
		r.rejected(name, "GET", "/api/user", alice, "", "RATE_LIMITED")
		if status := r.get("/api/user", frank, nil); status != 200 {
			t.Errorf("%s: another person: got %d", name, status)
		}
	}
}

// An address that proves no caller, or begins sign-ins without end, is rejected;
// people whom the gateway knows are not.
func TestUnprovenRequestsOfAnAddressAreRejected(t *testing.T) {
	fixed := time.Now()
	r := newRig(t, func(o *conversation.Options) {
		o.Quotas.Close()
		o.Quotas = quota.New(quota.Options{Store: state.NewBudgets(o.Redis), Timeout: testkit.Patience, Limits: quota.Limits{Unproven: 2}, Now: func() time.Time { return fixed }})
	})
	r.get("/api/user", alice, nil)
	for range 4 {
		r.quotas.Callers().Unproved("127.0.0.1:1", "")
	}
	r.rejected("no token", "GET", "/api/user", "", "", "RATE_LIMITED")
	r.rejected("an invalid one", "POST", "/api/query", "junk", askBody("hello", ""), "RATE_LIMITED")
	for _, page := range []string{"/login", "/callback"} {
		if status, body := r.read(r.send("GET", page, "", "")); status != 429 {
			t.Errorf("%s: got %d %s", page, status, body)
		}
	}
	for path, token := range map[string]string{"/api/user": alice, "/": "", "/healthz": "", "/readyz": ""} {
		if status, body := r.read(r.send("GET", path, token, "")); status != 200 {
			t.Errorf("%s: got %d %s", path, status, body)
		}
	}
}

func TestStreamsOfOnePersonAreLimited(t *testing.T) {
	mini := miniredis.RunT(t)
	one, two := rigOn(t, mini, limited(quota.Limits{Streams: 2})), rigOn(t, mini, limited(quota.Limits{Streams: 2}))
	id := conversationOf(t, one.ask(alice, "hello", ""))
	path := "/api/conversations/" + id + "/events"
	first := one.streamOnceFree(path) // the question's stream is free a moment after its last event
	one.streamOnceFree(path)
	two.rejected("a third stream, on another replica", "GET", path, alice, "", "RATE_LIMITED")
	two.rejected("a question", "POST", "/api/query", alice, askBody("again", id), "RATE_LIMITED")
	two.rejected("the person's stream", "GET", "/api/events", alice, "", "RATE_LIMITED")
	if s, resp := two.dial(alice, ""); s != nil || resp.StatusCode != 429 || resp.Header.Get("Retry-After") == "" {
		t.Errorf("a WebSocket: got %d", resp.StatusCode)
	}
	if got := dataOf(two.ask(frank, "hello", "")); !strings.Contains(got, "[DONE]") {
		t.Errorf("another person: got %s", got)
	}
	_ = first.resp.Body.Close()
	two.streamOnceFree(path)
}

// streamOnceFree opens a stream of Alice's as soon as she has a slot for it, which
// the server frees within moments.
func (r *rig) streamOnceFree(path string) *stream {
	r.t.Helper()
	for began := time.Now(); time.Since(began) < testkit.Patience; {
		resp := r.send("GET", path, alice, "")
		if resp.StatusCode == 200 {
			return r.stream(resp)
		}
		_ = resp.Body.Close()
	}
	r.t.Fatal("no slot for a stream was freed")
	return nil
}

// Each kind of stream takes one of the person's slots.
func TestEachKindOfStreamCounts(t *testing.T) {
	for name, open := range map[string]func(*rig){
		"the person's stream": func(r *rig) { r.stream(r.send("GET", "/api/events", alice, "")) },
		"a WebSocket":         func(r *rig) { r.connect(alice, "", "connected") },
		"a question": func(r *rig) {
			r.model.script["long"] = []step{waits}
			r.stream(r.send("POST", "/api/query", alice, askBody("long", "")))
		},
	} {
		r := newRig(t, limited(quota.Limits{Streams: 1, Requests: 1000}))
		open(r)
		r.rejected("after "+name, "GET", "/api/events", alice, "", "RATE_LIMITED")
	}
}

func TestTurnsAreCountedOverReplicas(t *testing.T) {
	mini := miniredis.RunT(t)
	one, two := rigOn(t, mini, limited(quota.Limits{Turns: 1})), rigOn(t, mini, limited(quota.Limits{Turns: 1}))
	one.model.script["long"] = []step{waits}
	one.stream(one.send("POST", "/api/query", alice, askBody("long", ""))).next()
	two.rejected("a second turn, on another replica", "POST", "/api/query", alice, askBody("hello", ""), "BUSY")
	two.ask(frank, "hello", "")
}

func TestStoredConversationsAreLimited(t *testing.T) {
	r := newRig(t, limited(quota.Limits{Conversations: 2, Requests: 1000}))
	first := conversationOf(t, r.ask(alice, "hello", ""))
	r.ask(alice, "hello", "")
	r.rejected("a third conversation", "POST", "/api/query", alice, askBody("hello", ""), "RATE_LIMITED")
	if got := dataOf(r.ask(alice, "again", first)); !strings.Contains(got, "You said: again") {
		t.Errorf("a question in a kept one: got %s", got)
	}
	r.ask(frank, "hello", "")
	r.released(first)
	if status, body := r.read(r.send("DELETE", "/api/conversations/"+first, alice, "")); status != 204 {
		t.Fatalf("deleting one: got %d %s", status, body)
	}
	r.ask(alice, "hello", "")
}

func TestStoredBytesAreLimited(t *testing.T) {
	r := newRig(t, limited(quota.Limits{Stored: 4000, Requests: 1000}))
	id := conversationOf(t, r.ask(alice, strings.Repeat("x", 2000), ""))
	r.released(id)
	r.rejected("a question in it", "POST", "/api/query", alice, askBody("hello", id), "RATE_LIMITED")
	r.rejected("a new conversation", "POST", "/api/query", alice, askBody("hello", ""), "RATE_LIMITED")
	r.ask(frank, "hello", "")
	if status, body := r.read(r.send("DELETE", "/api/conversations/"+id, alice, "")); status != 204 {
		t.Fatalf("deleting it: got %d %s", status, body)
	}
	r.ask(alice, "hello", "")
}

func TestWaitingChangesAreLimited(t *testing.T) {
	r := newRig(t)
	q := quota.New(quota.Options{Store: state.NewBudgets(r.redis), Timeout: testkit.Patience, Limits: quota.Limits{Pending: 2}})
	defer q.Close()
	service := confirm.NewService(state.NewConfirmations(r.redis, testkit.Ring("record")), r.audit, &confirm.Options{Quotas: q})
	ann := testkit.Person("ann", access.Employee)
	open := func(p *access.Principal) (confirm.ID, error) {
		record, err := service.Open(t.Context(), p, confirm.Request{Action: "delete_employee", Server: "hr"})
		return record.ID, err
	}
	first, err := open(ann)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := open(ann); err != nil {
		t.Fatal(err)
	}
	if _, err := open(ann); !fault.Is(err, fault.TooManyRequests) || fault.From(err).RetryAfter == 0 {
		t.Errorf("a third: got %v, want RATE_LIMITED", err)
	}
	if _, err := open(testkit.Person("bob", access.Employee)); err != nil {
		t.Errorf("another person's: got %v", err)
	}
	if _, err := service.Answer(t.Context(), ann, confirm.Reply{ID: first, Server: "hr"}, r.servers); err != nil {
		t.Fatal(err)
	}
	r.audit.Break(errors.New("full"))
	if _, err := open(ann); !fault.Is(err, fault.ServiceDown) {
		t.Errorf("without a record: got %v", err)
	}
	r.audit.Break(nil)
	if _, err := open(ann); err != nil {
		t.Errorf("after one was answered: got %v", err)
	}
}
