package upstream_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign.dev/internal/access"
	"countersign.dev/internal/audit"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/mcpwire"
	"countersign.dev/internal/result"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/upstream"
)

func bothVersions(t *testing.T, test func(t *testing.T, v version)) {
	t.Run("modern", func(t *testing.T) { test(t, modern) })
	t.Run("legacy", func(t *testing.T) { test(t, legacy) })
}

// TestParallelFirstCallsShareOneSession: modern servers are called without one.
func TestParallelFirstCallsShareOneSession(t *testing.T) {
	f := newFakeServer(t, legacy, "get_thing")
	u := start(t, upstream.Options{}, named("hr", f))
	ctx := as("alice", "employee")
	u.Tools(ctx) // the catalogue has a session of its own
	opened := f.seen("server/discover") + f.seen("initialize")
	var calls sync.WaitGroup
	for range 32 {
		calls.Go(func() {
			if o := u.Call(ctx, "get_thing", nil); o.Fault() != nil {
				t.Errorf("call: %v", o.Fault())
			}
		})
	}
	calls.Wait()
	if got := f.seen("server/discover") + f.seen("initialize") - opened; got != 2 { // discover is tried first
		t.Errorf("got %d handshakes for 32 calls, want 2", got)
	}
}

func TestTokenIsOfTheCallNotOfTheSession(t *testing.T) {
	f := newFakeServer(t, modern, "get_thing")
	u := start(t, upstream.Options{}, named("hr", f))
	u.Call(as("alice", "employee"), "get_thing", nil)
	u.Call(as("alice", "hr-read"), "get_thing", nil) // promoted since
	want := []string{"alice:employee:hr:call", "alice:hr-read:hr:call"}
	if diff := cmp.Diff(want, f.tokensFor("/mcp tools/call ")); diff != "" {
		t.Errorf("tokens of the calls (-want +got):\n%s", diff)
	}
	if got := f.tokensFor("/mcp tools/list "); !slices.Equal(got, []string{"alice:employee:hr:catalogue"}) {
		t.Errorf("tokens of the catalogue: got %q", got)
	}
}

func TestEnvelopeStaysByteForByte(t *testing.T) {
	bothVersions(t, func(t *testing.T, v version) {
		f := newFakeServer(t, v, "get_thing")
		const wire = `{"status":"success","data":{"z":1,"a":12345678901234567890},"metadata":{"hasMore":true,"returnedCount":50,"truncated":true}}`
		f.tools["get_thing"] = func(_ context.Context, args json.RawMessage) string {
			if string(args) != `{"b":1,"a":2}` {
				t.Errorf("arguments: got %s", args)
			}
			return wire
		}
		f.restart(t, v)
		u := start(t, upstream.Options{}, named("hr", f))
		o := u.Call(as("alice", "employee"), "get_thing", json.RawMessage(`{"b":1,"a":2}`))
		if o.Fault() != nil || string(o.Raw()) != wire {
			t.Fatalf("got %s (%v), want the server's bytes", o.Raw(), o.Fault())
		}
		if o.Page() == nil || !o.Page().More {
			t.Errorf("page: got %+v, want more", o.Page())
		}
	})
}

func TestServerRestartIsRecovered(t *testing.T) {
	bothVersions(t, func(t *testing.T, v version) {
		f := newFakeServer(t, v, "get_thing")
		u := start(t, upstream.Options{}, named("hr", f))
		ctx := as("alice", "employee")
		if o := u.Call(ctx, "get_thing", nil); o.Fault() != nil {
			t.Fatalf("before the restart: %v", o.Fault())
		}
		f.restart(t, v)
		u.Call(ctx, "get_thing", nil) // may find out that the connection or the session is dead, and is not sent twice
		if o := u.Call(ctx, "get_thing", nil); o.Fault() != nil {
			t.Fatalf("after the restart: %v", o.Fault())
		}
	})
}

func TestServerDownIsAWarningAndTheOthersWork(t *testing.T) {
	up, gone := newFakeServer(t, modern, "get_thing"), newFakeServer(t, modern, "list_others")
	u := start(t, upstream.Options{}, named("hr", up), named("finance", gone))
	ctx := as("alice", "employee")
	gone.Close()
	set := u.Tools(ctx)
	if len(set.Open) != 1 || set.Open[0].Name != "get_thing" || set.Open[0].Server != "hr" {
		t.Errorf("open: got %+v, want hr's tool alone", set.Open)
	} else if f := set.Open[0].Fields; f == nil || !slices.Equal(f.Synonyms, []string{"deed"}) {
		t.Errorf("its metadata: got %+v", f)
	}
	if len(set.Down) != 1 || set.Down[0].Server != "finance" || set.Down[0].Code != "SERVICE_UNAVAILABLE" {
		t.Errorf("down: got %+v, want finance", set.Down)
	}
	if o := u.Call(ctx, "list_others", nil); !fault.Is(o.Fault(), fault.ServiceDown) || !strings.Contains(o.Fault().Message, "finance") {
		t.Errorf("a tool of a server that never answered: got %v, want SERVICE_UNAVAILABLE of finance", o.Fault())
	}
}

func TestToolsOfAServerThatStoppedAreNotOffered(t *testing.T) {
	f := newFakeServer(t, modern, "get_thing")
	u := start(t, upstream.Options{}, named("hr", f))
	ctx := as("alice", "employee")
	if set := u.Tools(ctx); len(set.Open) != 1 {
		t.Fatalf("got %+v, want the tool", set)
	}
	f.Close()
	if o := u.Call(ctx, "get_thing", nil); !fault.Is(o.Fault(), fault.ServiceDown) {
		t.Errorf("got %v, want SERVICE_UNAVAILABLE", o.Fault())
	}
	if set := u.Tools(ctx); len(set.Open) != 0 || len(set.Closed) != 0 || len(set.Down) != 1 {
		t.Errorf("got %+v, want hr down and none of its tools", set)
	}
	if o := u.Call(ctx, "get_thing", nil); !fault.Is(o.Fault(), fault.ServiceDown) {
		t.Errorf("got %v, want its tools known by name", o.Fault())
	}
}

func TestSlowServerTimesOutAlone(t *testing.T) {
	t.Parallel()
	quick, slow := newFakeServer(t, modern, "get_thing"), newFakeServer(t, modern, "get_slow")
	slowly := named("finance", slow)
	slowly.Timeout = 5 * time.Second // for its list too, on a busy machine
	u := start(t, upstream.Options{}, named("hr", quick), slowly)
	ctx := as("alice", "employee")
	u.Tools(ctx)
	slow.block = func(_ *http.Request, method string) bool { return method == "tools/call" }
	var calls sync.WaitGroup
	calls.Go(func() {
		if o := u.Call(ctx, "get_slow", nil); !fault.Is(o.Fault(), fault.Timeout) || !strings.Contains(o.Fault().Message, "finance") {
			t.Errorf("slow: got %v, want TIMEOUT of finance", o.Fault())
		}
	})
	calls.Go(func() {
		if o := u.Call(ctx, "get_thing", nil); o.Fault() != nil {
			t.Errorf("quick: %v", o.Fault())
		}
	})
	calls.Wait()
	if got := slow.seen("tools/call"); got != 1 {
		t.Errorf("the slow call was sent %d times, want once", got)
	}
}

func TestSentCallIsNotSentAgain(t *testing.T) {
	f := newFakeServer(t, modern, "get_thing")
	u := start(t, upstream.Options{}, named("hr", f))
	ctx := as("alice", "employee")
	u.Call(ctx, "get_thing", nil)
	f.block = func(r *http.Request, method string) bool { // the connection breaks after the call was read
		if method == "tools/call" {
			panic(http.ErrAbortHandler)
		}
		return false
	}
	if o := u.Call(ctx, "get_thing", nil); !fault.Is(o.Fault(), fault.ServiceDown) {
		t.Errorf("got %v, want SERVICE_UNAVAILABLE", o.Fault())
	}
	if got := f.seen("tools/call"); got != 2 {
		t.Errorf("got %d calls on the wire, want 2", got)
	}
}

func TestCallWithoutAnswerIsAudited(t *testing.T) {
	f := newFakeServer(t, modern, "get_thing")
	var kept sink
	u := start(t, upstream.Options{Audit: &kept}, named("hr", f))
	ctx := as("alice", "employee")
	u.Call(ctx, "get_thing", nil)
	f.Close()
	u.Call(ctx, "get_thing", nil)
	want := []audit.Event{{Kind: audit.Outcome, Server: "hr", Tool: "get_thing", Outcome: "SERVICE_UNAVAILABLE"}}
	if diff := cmp.Diff(want, kept.events); diff != "" {
		t.Errorf("audit (-want +got):\n%s", diff)
	}
}

// TestCancelledCallIsAuditedAsSuch: the caller no longer waits, and the server is
// not at fault.
func TestCancelledCallIsAuditedAsSuch(t *testing.T) {
	f := newFakeServer(t, modern, "get_thing")
	var (
		kept sink
		log  testkit.Logs
	)
	u := start(t, upstream.Options{Audit: &kept, Log: log.Logger()}, named("hr", f))
	ctx, cancel := context.WithCancel(as("alice", "employee"))
	u.Tools(ctx)
	f.block = func(_ *http.Request, method string) bool {
		if method == "tools/call" {
			cancel()
		}
		return method == "tools/call"
	}
	if o := u.Call(ctx, "get_thing", nil); o.Code() != "CANCELLED" {
		t.Errorf("got %s, want CANCELLED", o.Code())
	}
	want := []audit.Event{{Kind: audit.Outcome, Server: "hr", Tool: "get_thing", Outcome: "CANCELLED"}}
	if diff := cmp.Diff(want, kept.events); diff != "" {
		t.Errorf("audit (-want +got):\n%s", diff)
	}
	if text := log.String(); strings.Contains(text, "level=ERROR") || strings.Contains(text, "level=WARN") {
		t.Errorf("got logged:\n%s", text)
	}
}

// TestServerSaysHowACancelledCallEnded: it alone knows whether the call was over before. An
// outcome that it recorded is the caller's, and a call that it recorded as cancelled is not
// recorded a second time.
func TestServerSaysHowACancelledCallEnded(t *testing.T) {
	recorded := func(w http.ResponseWriter, id int64) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(mcpwire.AppendResult(nil, mcpwire.Call{Modern: true, ID: strconv.AppendInt(nil, id, 10)}, mcpwire.Result{Structured: []byte(`{"status":"success","data":1}`)}, []byte(`{"name":"hr","version":"1"}`)))
	}
	cancelled := func(w http.ResponseWriter, _ int64) { w.Header().Set("Content-Type", "text/event-stream") }
	for want, answer := range map[string]func(http.ResponseWriter, int64){"success": recorded, "CANCELLED": cancelled} {
		f := newFakeServer(t, modern, "get_thing")
		var kept sink
		u := start(t, upstream.Options{Audit: &kept}, named("hr", f))
		ctx, cancel := context.WithCancel(as("alice", "employee"))
		u.Tools(ctx)
		f.instead = func(w http.ResponseWriter, r *http.Request, body []byte) bool {
			call, ok := mcpwire.ReadCall(body, "get_thing")
			if !ok {
				return false
			}
			cancel()
			<-r.Context().Done() // the server sees that the caller has left
			id, _ := strconv.ParseInt(string(call.ID), 10, 64)
			answer(w, id)
			return true
		}
		if o := u.Call(ctx, "get_thing", nil); o.Code() != want || len(kept.events) != 0 {
			t.Errorf("got %s %v and recorded %+v, want %s and nothing", o.Code(), o.Fault(), kept.events, want)
		}
	}
}

// sink keeps events, of which tests read when their calls have ended.
type sink struct {
	mu     sync.Mutex
	events []audit.Event

	appended func(audit.Event) // nil: nothing more
}

func (s *sink) Append(_ context.Context, e audit.Event) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, e)
	if s.appended != nil {
		s.appended(e)
	}
	return nil
}

func TestBreakerOpensAndOneProbeClosesIt(t *testing.T) {
	f, now := newFakeServer(t, modern, "get_thing"), newClock()
	u := start(t, upstream.Options{Now: now.Now}, named("hr", f))
	ctx := as("alice", "employee")
	u.Call(ctx, "get_thing", nil)
	f.block = func(r *http.Request, method string) bool {
		if method == "tools/call" {
			panic(http.ErrAbortHandler)
		}
		return false
	}
	for range 8 {
		u.Call(ctx, "get_thing", nil)
	}
	if got := f.seen("tools/call"); got != 6 {
		t.Errorf("got %d calls on the wire, want 1 good and 5 failing ones", got)
	}
	u.EachServer(func(name string, healthy bool, calls, failures int64, _ time.Duration) {
		if name != "hr" || healthy || calls != 6 || failures != 5 {
			t.Errorf("stats: got %s healthy=%t calls=%d failures=%d", name, healthy, calls, failures)
		}
	})
	f.mu.Lock()
	f.block = nil
	f.mu.Unlock()
	now.advance(time.Minute)
	if o := u.Call(ctx, "get_thing", nil); o.Fault() != nil {
		t.Errorf("the probe: %v", o.Fault())
	}
	if o := u.Call(ctx, "get_thing", nil); o.Fault() != nil {
		t.Errorf("after the probe: %v", o.Fault())
	}
}

func TestTokenThatCannotBeMintedIsNoFaultOfTheServer(t *testing.T) {
	f, failed := newFakeServer(t, modern, "get_thing"), error(nil)
	u := upstream.New([]upstream.Server{named("hr", f)}, upstream.Options{Mint: func(*access.Principal, string, access.Purpose) (string, error) {
		return "token", failed
	}})
	t.Cleanup(u.Close)
	ctx := as("alice", "employee")
	u.Call(ctx, "get_thing", nil)
	failed = errors.New("the key is not there")
	for range 8 {
		if o := u.Call(ctx, "get_thing", nil); !fault.Is(o.Fault(), fault.ServiceDown) {
			t.Fatalf("without a token: got %v", o.Fault())
		}
		u.Answer(ctx, "id-1", true, "")
	}
	failed = nil
	if o := u.Call(ctx, "get_thing", nil); o.Fault() != nil {
		t.Errorf("with a token: got %v, want the breaker closed", o.Fault())
	}
}

func TestProgressOfAnOlderServerArrivesBeforeTheAnswer(t *testing.T) {
	f, reported := newFakeServer(t, legacy, "get_thing"), make(chan result.Progress, 1)
	f.progress = &mcp.ProgressNotificationParams{Progress: 1, Total: 2, Message: "half"}
	f.tools["get_thing"] = func(context.Context, json.RawMessage) string {
		select { // the answer is sent only after the report has arrived
		case p := <-reported:
			return `{"status":"success","data":"` + p.Message + `"}`
		case <-time.After(testkit.Patience / 2): // before the call ends
			return `{"status":"success","data":"no report arrived"}`
		}
	}
	f.restart(t, legacy)
	u := start(t, upstream.Options{}, named("hr", f))
	ctx := result.WithProgress(as("alice", "employee"), func(p result.Progress) { reported <- p })
	if o := u.Call(ctx, "get_thing", nil); o.Fault() != nil || string(o.Data()) != `"half"` {
		t.Errorf("got %s %v, want the report", o.Data(), o.Fault())
	}
}

// TestChatCallsANewServerWithoutASession: a turn asks for the progress of each call,
// which our servers do not report.
func TestChatCallsANewServerWithoutASession(t *testing.T) {
	f := newFakeServer(t, modern, "get_thing")
	u := start(t, upstream.Options{}, named("hr", f))
	ctx := result.WithProgress(as("alice", "employee"), func(result.Progress) {})
	u.Tools(ctx) // the catalogue has a session
	opened := f.seen("server/discover") + f.seen("initialize")
	if o := u.Call(ctx, "get_thing", nil); o.Fault() != nil {
		t.Fatalf("call: %v", o.Fault())
	}
	if got := f.seen("server/discover") + f.seen("initialize") - opened; got != 0 {
		t.Errorf("got %d handshakes for a call, want none", got)
	}
}

func TestToolsAreOpenOrClosedByRole(t *testing.T) {
	f := newFakeServer(t, modern, "get_thing")
	u := start(t, upstream.Options{}, named("hr", f))
	set := u.Tools(as("gast", "auditor"))
	if len(set.Open) != 0 || len(set.Closed) != 1 {
		t.Fatalf("got %+v, want the tool closed", set)
	}
	if c := set.Closed[0]; c.Name != "get_thing" || c.Sentence != "Does get_thing." || !slices.Equal(c.Roles, []string{"employee"}) {
		t.Errorf("closed: got %+v", c)
	}
	if set := u.Tools(context.Background()); len(set.Open)+len(set.Closed)+len(set.Down) != 0 {
		t.Errorf("no principal: got %+v, want nothing", set)
	}
}

func TestLookAlikeToolsAreLeftOut(t *testing.T) {
	one, two := newFakeServer(t, modern, "list_items", "get_own"), newFakeServer(t, modern, "list_items", "Iist-items", "get_0wn", "get_other")
	u := start(t, upstream.Options{}, named("hr", one), named("sales", two))
	var got []string
	for _, tool := range u.Tools(as("alice", "employee")).Open {
		got = append(got, tool.Server+"."+tool.Name)
	}
	want := []string{"sales.get_other", "hr.get_own", "hr.list_items"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tools (-want +got):\n%s", diff)
	}
}

func TestToolListIsFetchedAgainWhenItIsOld(t *testing.T) {
	f, now := newFakeServer(t, modern, "get_thing"), newClock()
	u := start(t, upstream.Options{Now: now.Now}, named("hr", f))
	ctx := as("alice", "employee")
	for range 3 {
		u.Tools(ctx)
	}
	if got := f.seen("tools/list"); got != 1 {
		t.Errorf("got %d listings within a minute, want 1", got)
	}
	now.advance(11 * time.Minute)
	u.Tools(ctx)
	if got := f.seen("tools/list"); got != 2 {
		t.Errorf("got %d listings after eleven minutes, want 2", got)
	}
}

func TestOversizedAnswerFailsAlone(t *testing.T) {
	f := newFakeServer(t, modern, "get_thing", "get_big")
	f.tools["get_big"] = func(context.Context, json.RawMessage) string {
		return `{"status":"success","data":"` + strings.Repeat("x", 1<<16) + `"}`
	}
	f.restart(t, modern)
	u := start(t, upstream.Options{MaxAnswer: 1 << 14}, named("hr", f))
	ctx := as("alice", "employee")
	if o := u.Call(ctx, "get_big", nil); o.Fault() == nil {
		t.Error("got the oversized answer")
	}
	if o := u.Call(ctx, "get_thing", nil); o.Fault() != nil {
		t.Errorf("the next call: %v", o.Fault())
	}
}

// TestBadRequestsOfOnePersonLeaveTheBreakerClosed: what one person sends, however
// often, takes a server from no one else.
func TestBadRequestsOfOnePersonLeaveTheBreakerClosed(t *testing.T) {
	calls := 500
	if testkit.Soak() {
		calls = 10_000
	}
	f := newFakeServer(t, modern, "get_thing", "get_big")
	f.tools["get_big"] = func(context.Context, json.RawMessage) string {
		return `{"status":"success","data":"` + strings.Repeat("x", 1<<16) + `"}`
	}
	served := f.handler(modern)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		for _, status := range []int{400, 401, 403, 404, 413, 415, 429} {
			if strings.Contains(string(body), fmt.Sprintf("answer-%d", status)) {
				http.Error(w, "no", status)
				return
			}
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		served.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	u := start(t, upstream.Options{MaxAnswer: 1 << 14}, upstream.Server{Name: "hr", URL: front.URL, Timeout: time.Minute})
	mallory, alice := as("mallory", "employee"), as("alice", "employee")
	bad := map[string]struct{ tool, args, code string }{
		"400": {"get_thing", `{"a":"answer-400"}`, "SERVICE_UNAVAILABLE"}, "401": {"get_thing", `{"a":"answer-401"}`, "SERVICE_UNAVAILABLE"},
		"403": {"get_thing", `{"a":"answer-403"}`, "SERVICE_UNAVAILABLE"}, "404": {"get_thing", `{"a":"answer-404"}`, "SERVICE_UNAVAILABLE"},
		"413": {"get_thing", `{"a":"answer-413"}`, "VALIDATION_ERROR"}, "415": {"get_thing", `{"a":"answer-415"}`, "SERVICE_UNAVAILABLE"},
		"429": {"get_thing", `{"a":"answer-429"}`, "RATE_LIMITED"}, "a large answer": {"get_big", `{}`, "OPERATION_FAILED"},
		"an unknown tool": {"get_nothing", `{}`, "UNKNOWN_TOOL"},
	}
	for name, c := range bad {
		if o := u.Call(mallory, c.tool, json.RawMessage(c.args)); o.Code() != c.code {
			t.Errorf("%s: got %s (%v), want %s", name, o.Code(), o.Fault(), c.code)
		}
	}
	left, leave := context.WithDeadline(mallory, time.Now())
	defer leave()
	kinds := slices.Sorted(maps.Keys(bad))
	many := []string{"413", "429", "a large answer", "an unknown tool"} // the others open a session each
	var callers sync.WaitGroup
	for worker := range 10 {
		callers.Go(func() {
			for i := range calls / 10 {
				c, ctx := bad[many[(i+worker)%len(many)]], mallory
				switch i % 50 {
				case 0:
					c = bad[kinds[(i/50+worker)%len(kinds)]]
				case 1, 2, 3:
					ctx = left
				}
				u.Call(ctx, c.tool, json.RawMessage(c.args))
			}
		})
	}
	callers.Wait()
	if o := u.Call(alice, "get_thing", nil); o.Fault() != nil {
		t.Errorf("another person's call: got %v, want it answered", o.Fault())
	}
	u.EachServer(func(name string, healthy bool, _, failures int64, _ time.Duration) {
		if !healthy || failures != 0 {
			t.Errorf("%s: healthy %v, %d failures, want none of its own", name, healthy, failures)
		}
	})
}

func TestUnknownToolAndMissingCaller(t *testing.T) {
	f := newFakeServer(t, modern, "get_thing")
	u := start(t, upstream.Options{}, named("hr", f))
	if o := u.Call(as("alice", "employee"), "get_nothing", nil); !fault.Is(o.Fault(), fault.UnknownTool) {
		t.Errorf("got %v, want UNKNOWN_TOOL", o.Fault())
	}
	if o := u.Call(context.Background(), "get_thing", nil); !fault.Is(o.Fault(), fault.Unauthorized) {
		t.Errorf("got %v, want UNAUTHENTICATED", o.Fault())
	}
}

func TestAnswerReachesTheOwningServer(t *testing.T) {
	hr, finance := newFakeServer(t, modern, "get_a"), newFakeServer(t, modern, "get_b")
	unknown := func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(`{"status":"error","code":"CONFIRMATION_NOT_FOUND","message":"x"}`))
	}
	const receipt = `{"status":"success","data":{"message":"Employee Frank Davis has been deleted."}}`
	hr.execute = unknown
	finance.execute = func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(receipt)) }
	owner := entries{}
	u := start(t, upstream.Options{Entries: owner}, named("hr", hr), named("finance", finance))
	ctx := as("alice", "hr-write")
	if o := u.Answer(ctx, "id-1", true, ""); string(o.Raw()) != receipt {
		t.Errorf("asked each: got %+v, want finance's receipt", o)
	}
	if _, err := u.Confirmation(ctx, "id-2"); !fault.Is(err, fault.ConfirmationNotFound) || fault.From(err).Details["confirmationId"] != "id-2" {
		t.Errorf("an unknown one: got %v %v, want its id", err, fault.From(err).Details)
	}
	owner["id-1"] = confirm.Entry{Server: "hr"}
	if o := u.Answer(ctx, "id-1", true, ""); !fault.Is(o.Fault(), fault.ConfirmationNotFound) {
		t.Errorf("asked hr: got %+v, want CONFIRMATION_NOT_FOUND", o)
	}
	owner["id-1"] = confirm.Entry{Server: "finance"}
	if o := u.Answer(ctx, "id-1", true, ""); o.Message() != "Employee Frank Davis has been deleted." || string(o.Raw()) != receipt {
		t.Errorf("answer: got %+v", o)
	}
	if got := finance.tokensFor("/execute  "); !slices.Contains(got, "alice:hr-write:finance:execute") {
		t.Errorf("tokens: got %q, want purpose execute", got)
	}
	finance.Close()
	delete(owner, "id-1")
	if o := u.Answer(ctx, "id-1", true, ""); !fault.Is(o.Fault(), fault.ServiceDown) {
		t.Errorf("owner may be away: got %+v, want SERVICE_UNAVAILABLE", o)
	}
}

// entries are confirmations by id.
type entries map[confirm.ID]confirm.Entry

func (e entries) Find(_ context.Context, id confirm.ID) (confirm.Entry, bool, error) {
	entry, ok := e[id]
	return entry, ok, nil
}

func (e entries) PendingOf(context.Context, access.Owner) ([]confirm.Entry, error) {
	return slices.Collect(maps.Values(e)), nil
}

func TestCatalogueIsAServiceForMCP(t *testing.T) {
	f := newFakeServer(t, modern, "get_thing")
	c := upstream.Catalogue{Upstream: start(t, upstream.Options{}, named("hr", f))}
	tools, err := c.Tools(as("alice", "employee"))
	if err != nil || len(tools) != 1 || tools[0].Kind != result.Read {
		t.Fatalf("got %+v %v", tools, err)
	}
	if _, err := c.Tools(context.Background()); !fault.Is(err, fault.Unauthorized) {
		t.Errorf("no principal: got %v, want UNAUTHENTICATED", err)
	}
	wire := c.Encode(c.Call(as("alice", "employee"), "get_thing", nil))
	if string(wire) != `{"status":"success","data":{"tool":"get_thing"}}` {
		t.Errorf("encoded: got %s", wire)
	}
}

func TestEachPersonHasTheirOwnSession(t *testing.T) {
	f := newFakeServer(t, legacy, "get_thing")
	u := start(t, upstream.Options{}, named("hr", f))
	for _, name := range []string{"alice", "bob", "alice", "bob"} {
		if o := u.Call(as(name, string(access.Employee)), "get_thing", nil); o.Fault() != nil {
			t.Fatal(o.Fault())
		}
	}
	if got := f.seen("initialize"); got != 3 {
		t.Errorf("got %d sessions, want one each and the catalogue's", got)
	}
}
