package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/audit"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/mcpfile"
	"countersign.dev/internal/result"
	"countersign.dev/internal/telemetry"
	"countersign.dev/internal/upstream/breaker"
	"countersign.dev/internal/upstream/mcpsession"
)

// scriptedServer is the adapter of a foreign server: one call ends after another as the
// test says. A nil error is a success, and a negative time lasts as long as the
// call may.
type scriptedServer struct {
	ends []error
	took time.Duration
	sent []string
}

func (*scriptedServer) Tools(context.Context) ([]result.ToolInfo, error) {
	input := json.RawMessage(`{"type":"object"}`)
	return []result.ToolInfo{
		{Name: "read", InputSchema: input, Annotations: result.Annotations{ReadOnly: true}},
		{Name: "set", InputSchema: input, Annotations: result.Annotations{Idempotent: true}},
		{Name: "add", InputSchema: input},
	}, nil
}

func (n *scriptedServer) Call(ctx context.Context, tool string, _ json.RawMessage) (result.Outcome, error) {
	n.sent = append(n.sent, tool)
	select {
	case <-ctx.Done():
		return result.Outcome{}, ctx.Err()
	case <-time.After(n.took):
	}
	if len(n.ends) == 0 {
		return result.Success(json.RawMessage(`{}`), nil, ""), nil
	}
	err := n.ends[0]
	n.ends = n.ends[1:]
	return result.Success(json.RawMessage(`{}`), nil, ""), err
}

func (*scriptedServer) Close() {}

// memorySink keeps audited events.
type memorySink struct {
	mu     sync.Mutex // calls of one test may end at the same time
	events []audit.Event
	full   bool
}

func (j *memorySink) Append(_ context.Context, e audit.Event) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.full {
		return errors.New("no space")
	}
	j.events = append(j.events, e)
	return nil
}

// direct is a host of a scriptedServer whose operator lets every change through.
func direct(t *testing.T, n *scriptedServer, o Options) *Upstream {
	if o.Audit == nil {
		o.Audit = &memorySink{}
	}
	u := New([]Server{{
		Name: "notes", Timeout: 5 * time.Second, WriteTimeout: 5 * time.Second,
		Foreign: func(func()) Adapter { return n },
		Rules:   freely(nil),
	}}, o)
	t.Cleanup(u.Close)
	return u
}

// freely are the rules of an operator who lets every change through.
func freely(timeouts map[string]time.Duration) mcpfile.Rules {
	r := mcpfile.Rules{Tools: map[string]mcpfile.ToolRules{}}
	for _, tool := range []string{"read", "set", "add"} {
		r.Tools[tool] = mcpfile.ToolRules{Roles: []string{"employee"}, Approve: mcpfile.ApproveNever, Timeout: timeouts[tool]}
	}
	return r
}

func caller(surface access.Surface, read ...access.Source) context.Context {
	return claiming(surface, true, read...)
}

func claiming(surface access.Surface, mayConfirm bool, read ...access.Source) context.Context {
	p := access.NewPrincipal(access.Claims{
		Issuer: "i", Subject: "alice", Username: "alice", Roles: []string{"employee"}, MayConfirm: mayConfirm, Provenance: access.Provenance{Surface: surface, TaintedBy: read},
	})
	return access.With(context.Background(), p)
}

var errReset = errors.New("connection reset")

// TestFailedCallIsRepeatedOnce after half a second, where that has no second
// effect, and never one that took its whole time or that the server turned away.
func TestFailedCallIsRepeatedOnce(t *testing.T) {
	notSent := errors.Join(mcpsession.ErrNotSent, errReset)
	for name, c := range map[string]struct {
		tool string
		ends []error
		took time.Duration // of each attempt
		sent int
		code string
		all  time.Duration
	}{
		"read-only":          {tool: "read", ends: []error{errReset}, sent: 2, code: "success", all: retryPause},
		"idempotent":         {tool: "set", ends: []error{errReset}, sent: 2, code: "success", all: retryPause},
		"neither":            {tool: "add", ends: []error{errReset}, sent: 1, code: "OUTCOME_UNKNOWN"},
		"not even sent":      {tool: "add", ends: []error{notSent}, sent: 1, code: "SERVICE_UNAVAILABLE"},
		"twice":              {tool: "read", ends: []error{errReset, errReset, nil}, sent: 2, code: "SERVICE_UNAVAILABLE", all: retryPause},
		"an answer":          {tool: "read", sent: 1, code: "success"},
		"never answers":      {tool: "read", took: time.Hour, sent: 1, code: "TIMEOUT", all: 5 * time.Second},
		"no time left":       {tool: "read", ends: []error{errReset}, took: 4800 * time.Millisecond, sent: 1, code: "SERVICE_UNAVAILABLE", all: 5 * time.Second},
		"the rest of a time": {tool: "read", ends: []error{errReset, errReset}, took: 4 * time.Second, sent: 2, code: "TIMEOUT", all: 5 * time.Second},
		"too large":          {tool: "read", ends: []error{mcpsession.ErrTooLarge}, sent: 1, code: "OPERATION_FAILED"},
		"no result":          {tool: "read", ends: []error{mcpsession.ErrUnreadable}, sent: 1, code: "OPERATION_FAILED"},
		"rejected":           {tool: "read", ends: []error{mcpsession.Rejected{Status: 403}}, sent: 1, code: "SERVICE_UNAVAILABLE"},
		"one too many":       {tool: "add", ends: []error{mcpsession.Rejected{Status: 429}}, sent: 1, code: "RATE_LIMITED"},
		"a conflict":         {tool: "add", ends: []error{mcpsession.Rejected{Status: 409}}, sent: 1, code: "OUTCOME_UNKNOWN"},
		"busy":               {tool: "read", ends: []error{mcpsession.ErrBusy}, sent: 1, code: "BUSY"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := &scriptedServer{ends: c.ends, took: c.took}
				u := direct(t, n, Options{})
				u.Tools(caller(access.SurfaceAPI))
				began := time.Now()
				o := u.Call(caller(access.SurfaceAPI), "notes."+c.tool, nil)
				if o.Code() != c.code || len(n.sent) != c.sent || time.Since(began) != c.all {
					t.Errorf("got %s with %d attempts after %s, want %s with %d after %s", o.Code(), len(n.sent), time.Since(began), c.code, c.sent, c.all)
				}
			})
		})
	}
}

// TestOpenBreakerEndsRepetitions: the attempt that opens it is the last one.
func TestOpenBreakerEndsRepetitions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &scriptedServer{}
		for range 20 {
			n.ends = append(n.ends, errReset)
		}
		u := direct(t, n, Options{})
		ctx := caller(access.SurfaceAPI)
		for range 4 {
			u.Call(ctx, "notes.read", nil)
		}
		if len(n.sent) != breaker.Failures {
			t.Errorf("got %d attempts, want %d until the breaker opened", len(n.sent), breaker.Failures)
		}
		time.Sleep(time.Minute)
		u.Call(ctx, "notes.read", nil)
		if len(n.sent) != breaker.Failures+1 {
			t.Errorf("got %d attempts, want the probe alone", len(n.sent)-breaker.Failures)
		}
	})
}

// TestChangeWithoutApprovalNeedsATurnThatIsKnown: the setting does not hold where
// untrusted text was read, or may have been, nor for who could not approve the change.
func TestChangeWithoutApprovalNeedsATurnThatIsKnown(t *testing.T) {
	for name, c := range map[string]struct {
		ctx  context.Context
		sent int
	}{
		"chat":          {caller(access.SurfaceChat), 1},
		"terminal":      {caller(access.SurfaceTerminal), 1},
		"direct":        {caller(access.SurfaceAPI), 1},
		"tainted":       {caller(access.SurfaceChat, access.Source{Kind: "ticket", ID: "TICK-009"}), 0},
		"an MCP client": {caller(access.SurfaceMCP), 0},
		"unknown":       {caller(""), 0},

		"a token for tools, direct": {claiming(access.SurfaceAPI, false), 0},
		"a token for tools, asking": {claiming(access.SurfaceChat, false), 0},
	} {
		n, j := &scriptedServer{}, &memorySink{}
		u := direct(t, n, Options{Audit: j})
		o := u.Call(c.ctx, "notes.add", nil)
		if len(n.sent) != c.sent || c.sent == 0 && !fault.Is(o.Fault(), fault.ServiceDown) { // there is no service of confirmations
			t.Errorf("%s: got %s and %d calls, want %d", name, o.Code(), len(n.sent), c.sent)
		}
		if c.sent == 1 && (len(j.events) != 2 || j.events[0].Kind != audit.Intent || j.events[1].Kind != audit.Outcome) {
			t.Errorf("%s: audit: got %+v, want the intent and the outcome", name, j.events)
		}
	}
}

// TestReadThatCannotBeRecordedIsWithheldWhereAsked: a change that was made is reported all the
// same, because its intent was recorded.
func TestReadThatCannotBeRecordedIsWithheldWhereAsked(t *testing.T) {
	for _, closed := range []bool{true, false} {
		j := &memorySink{full: true}
		u := direct(t, &scriptedServer{}, Options{Audit: j, FailClosed: closed})
		o := u.Call(caller(access.SurfaceAPI), "notes.read", nil)
		if withheld := o.Code() == "SERVICE_UNAVAILABLE" && o.Data() == nil; withheld != closed {
			t.Errorf("closed %v: got %s %s", closed, o.Code(), o.Data())
		}
	}
	filling := &memorySink{}
	u := direct(t, &scriptedServer{}, Options{Audit: filling, FailClosed: true, Observe: func(string, string, string, time.Duration) { filling.full = true }})
	if o := u.Call(caller(access.SurfaceAPI), "notes.add", nil); o.Fault() != nil || len(filling.events) != 1 || filling.events[0].Kind != audit.Intent {
		t.Errorf("a change: got %s, recorded %+v, want it reported, with its intent", o.Code(), filling.events)
	}
}

func TestChangeThatCannotBeRecordedIsNotSent(t *testing.T) {
	n := &scriptedServer{}
	o := direct(t, n, Options{Audit: &memorySink{full: true}}).Call(caller(access.SurfaceAPI), "notes.add", nil)
	if !fault.Is(o.Fault(), fault.ServiceDown) || len(n.sent) != 0 {
		t.Errorf("got %s and calls %v, want SERVICE_UNAVAILABLE and none", o.Code(), n.sent)
	}
}

func TestToolHasADeadlineOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := New([]Server{{
			Name: "notes", Timeout: time.Minute, WriteTimeout: time.Minute,
			Foreign: func(func()) Adapter { return &scriptedServer{took: time.Hour} },
			Rules:   freely(map[string]time.Duration{"read": 2 * time.Second, "add": 3 * time.Second}),
		}}, Options{Audit: &memorySink{}})
		defer u.Close()
		for tool, want := range map[string]time.Duration{"read": 2 * time.Second, "add": 3 * time.Second, "set": time.Minute} {
			began := time.Now()
			u.Call(caller(access.SurfaceAPI), "notes."+tool, nil)
			if got := time.Since(began); got != want {
				t.Errorf("%s: ended after %s, want %s", tool, got, want)
			}
		}
		ctx, cancel := context.WithTimeout(caller(access.SurfaceAPI), time.Second)
		defer cancel()
		began := time.Now()
		if u.Call(ctx, "notes.set", nil); time.Since(began) != time.Second {
			t.Errorf("a caller's own deadline: ended after %s, want 1 s", time.Since(began))
		}
	})
}

// TestFiguresOfAToolAreItsOwn: calls, failures, times and breaker.
func TestFiguresOfAToolAreItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &scriptedServer{took: 20 * time.Millisecond, ends: []error{nil, errReset, errReset, errReset, errReset, errReset, errReset}}
		u := direct(t, n, Options{})
		ctx := caller(access.SurfaceAPI)
		for range 5 {
			u.Call(ctx, "notes.read", nil)
		}
		last := time.Now()
		u.invalidate(u.registry().servers[0])
		u.Tools(ctx) // the list is fetched again, and the figures stay
		got := map[string]result.Reliability{}
		u.EachTool(func(f result.Reliability) { got[f.Tool] = f })
		if f := got["notes.read"]; f.Calls != 6 || f.Failures != 5 || f.Average != 20*time.Millisecond || !f.LastUsed.Equal(last) || f.Breaker != "open" || f.Transport != "http" || f.Server != "notes" {
			t.Errorf("got %+v", f)
		}
		if f := got["notes.add"]; f.Calls != 0 || f.Breaker != "closed" || !f.LastUsed.IsZero() {
			t.Errorf("another tool: got %+v", f)
		}
		time.Sleep(time.Minute)
		u.EachTool(func(f result.Reliability) { got[f.Tool] = f })
		if f := got["notes.read"]; f.Breaker != "half-open" {
			t.Errorf("after a minute: got %s", f.Breaker)
		}
	})
}

func TestLimitOfCallsIsAskedBeforeACallIsSent(t *testing.T) {
	n := &scriptedServer{}
	var asked []string
	u := direct(t, n, Options{Limit: func(_ context.Context, o access.Owner, tool string) error {
		asked = append(asked, o.Subject+" "+tool)
		return fault.TooManyRequests.New("Too many.").After(time.Second)
	}})
	o := u.Call(caller(access.SurfaceAPI), "notes.read", nil)
	if !fault.Is(o.Fault(), fault.TooManyRequests) || o.Fault().RetryAfter != time.Second || len(n.sent) != 0 || fmt.Sprint(asked) != "[alice notes.read]" {
		t.Errorf("got %s, calls %v, asked %v", o.Code(), n.sent, asked)
	}
}

// TestEachFailedAttemptIsALineOfTheLog with what was done about it.
func TestEachFailedAttemptIsALineOfTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		u := direct(t, &scriptedServer{ends: []error{errReset, errReset}}, Options{Log: slog.New(telemetry.Handler{Handler: slog.NewTextHandler(&out, nil)})})
		u.Call(caller(access.SurfaceAPI), "notes.read", json.RawMessage(`{"text":"secret"}`))
		want := []string{"attempt=1 recovery=retry", "attempt=2 recovery=abort"}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		for i, line := range lines {
			if i >= len(want) || !strings.Contains(line, "server=notes tool=read error=") || !strings.Contains(line, "component=upstream action=call "+want[i]) || strings.Contains(line, "secret") {
				t.Errorf("got %s", line)
			}
		}
		if len(lines) != len(want) {
			t.Errorf("got %d lines, want %d", len(lines), len(want))
		}
	})
}

// TestEachCallOfATurnHasARequestIDOfItsOwn, after that of its turn; a request that is
// one call keeps its own.
func TestEachCallOfATurnHasARequestIDOfItsOwn(t *testing.T) {
	var out strings.Builder
	u := direct(t, &scriptedServer{}, Options{Log: slog.New(telemetry.Handler{Handler: slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})})})
	for _, conversation := range []string{"c1", "c1", ""} {
		u.Call(telemetry.WithRequest(caller(access.SurfaceAPI), telemetry.Request{ID: "r1", Conversation: conversation}), "notes.read", nil)
	}
	lines := regexp.MustCompile(`request_id=(r1[^ ]*)( parent_request_id=r1 conversation=c1)?`).FindAllStringSubmatch(out.String(), -1)
	if len(lines) != 3 {
		t.Fatalf("got %d lines with ids, want 3:\n%s", len(lines), &out)
	}
	if len(lines[0][1]) != len("r1.abcdef") || lines[0][2] == "" || lines[0][1] == lines[1][1] || lines[2][1] != "r1" {
		t.Errorf("got %q", lines)
	}
}
