package upstream_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/upstream"
)

var readOnly = &mcp.ToolAnnotations{ReadOnlyHint: true}

// wantsOthersToWork fails when a bad call has harmed the next one.
func wantsOthersToWork(t *testing.T, u *upstream.Upstream) {
	t.Helper()
	for range 2 {
		if o := u.Call(writer, "notes.stats", nil); o.Fault() != nil {
			t.Errorf("another call after it: %v", o.Fault())
		}
	}
}

// TestAnswerOfFiftyMegabytesFailsAlone: it is not read to its end, is no fault that
// opens a breaker, and is not asked for again.
func TestAnswerOfFiftyMegabytesFailsAlone(t *testing.T) {
	t.Parallel()
	size := 50 << 20
	if testing.Short() {
		size /= 5
	}
	bothVersions(t, func(t *testing.T, v version) {
		n := newNotes(t, v)
		n.add("dump", readOnly, text(strings.Repeat("x", size)))
		u := host(t, upstream.Options{}, n)
		o := u.Call(writer, "notes.dump", nil)
		if o.Code() != "OPERATION_FAILED" || len(o.Data()) > 0 {
			t.Fatalf("got %s, want a failure", o.Code())
		}
		wantsOthersToWork(t, u)
	})
}

// TestToolsThatChangeDuringACallLeaveItAlone: the call has its answer, and what is
// new is offered after it.
func TestToolsThatChangeDuringACallLeaveItAlone(t *testing.T) {
	bothVersions(t, func(t *testing.T, v version) {
		n := newNotes(t, v)
		n.add("grow", readOnly, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			n.add("grown", readOnly, text("new"))
			n.RemoveTools("picture")
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "done"}}}, nil
		})
		u := host(t, upstream.Options{Now: newClock().Now}, n)
		u.Tools(writer)
		if o := u.Call(writer, "notes.grow", nil); o.Fault() != nil || !strings.Contains(string(o.Data()), "done") {
			t.Errorf("the call: got %s %v", o.Data(), o.Fault())
		}
		n.awaitChange(t)
		var names []string
		for _, tool := range u.Tools(writer).Open {
			names = append(names, tool.Name)
		}
		if got := fmt.Sprint(names); !strings.Contains(got, "notes.grown") || strings.Contains(got, "notes.picture") {
			t.Errorf("after it: got %s", got)
		}
	})
}

// TestServerThatSpeaksGarbageIsUnavailable, and the session after it works.
func TestServerThatSpeaksGarbageIsUnavailable(t *testing.T) {
	t.Parallel()
	for name, garbage := range map[string]string{
		"no JSON": `}{`, "another id": `{"jsonrpc":"2.0","id":4711,"result":{}}`, "no result": `{"jsonrpc":"2.0"}`, "nothing": ``, "markup": `<html>`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // an answer of another id is waited for until the deadline
			n := newNotes(t, modern)
			n.say(garbage)
			server := n.server()
			server.Timeout = 5 * time.Second // an answer of another id is none; its list is read on a busy machine, too
			u := hostWith(t, upstream.Options{}, server)
			u.Tools(writer)
			o := u.Call(writer, "notes.search", nil)
			if f := o.Fault(); f == nil || f.Kind() != fault.Unavailable && f.Kind() != fault.Internal {
				t.Errorf("got %s, want a failure of the server", o.Code())
			}
			wantsOthersToWork(t, u)
		})
	}
}

// TestAnswerThatIsNoResultOfMCPFailsAlone: the call is not repeated, its session goes on,
// and of a change it is not known whether it was made.
func TestAnswerThatIsNoResultOfMCPFailsAlone(t *testing.T) {
	bothVersions(t, func(t *testing.T, v version) {
		n := newNotes(t, v)
		u := host(t, upstream.Options{}, n)
		id := u.Call(writer, "notes.create", nil).Pending().ID
		n.answer(`{"content":[{"type":"weird"}]}`)
		o := u.Call(writer, "notes.search", nil)
		if o.Code() != "OPERATION_FAILED" || !strings.Contains(o.Fault().Message, "notes") || !strings.Contains(o.Fault().Message, "MCP") || len(n.received()) != 1 {
			t.Errorf("got %s after %v, want after one call that the answer is none of MCP", result.EncodeEnvelope(o), n.received())
		}
		if o := u.Answer(writer, id, true, ""); o.Code() != "OUTCOME_UNKNOWN" || len(n.received()) != 2 {
			t.Errorf("a change: got %s after %v", o.Code(), n.received())
		}
		n.answer("")
		wantsOthersToWork(t, u)
	})
}

func (n *notes) answer(literal string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.result = literal
}

// say makes the server answer the tool search with a text.
func (n *notes) say(garbage string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.garbage = func(w http.ResponseWriter, tool string) bool {
		if tool != "search" {
			return false
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(garbage))
		return true
	}
}

// TestServerThatAsksForSamplingOrRootsGetsNone, not even the empty list of roots that
// the SDK would answer.
func TestServerThatAsksForSamplingOrRootsGetsNone(t *testing.T) {
	bothVersions(t, func(t *testing.T, v version) {
		n := newNotes(t, v)
		n.add("sample", readOnly, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			//lint:ignore SA1019 servers of the handshake revisions still ask
			_, err := req.Session.CreateMessage(ctx, &mcp.CreateMessageParams{MaxTokens: 10, Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: "secret?"}}}})
			if err == nil {
				err = fmt.Errorf("the host answered")
			}
			return nil, err
		})
		n.add("roots", readOnly, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			//lint:ignore SA1019 servers of the handshake revisions still ask
			list, err := req.Session.ListRoots(ctx, nil)
			if err == nil {
				err = fmt.Errorf("the host answered %d roots", len(list.Roots))
			}
			return nil, err
		})
		u := host(t, upstream.Options{}, n)
		for _, tool := range []string{"sample", "roots"} {
			o := u.Call(writer, "notes."+tool, nil)
			if o.Fault() == nil || strings.Contains(o.Fault().Message, "the host answered") {
				t.Errorf("%s: got %s %v", tool, o.Code(), o.Fault())
			}
		}
		wantsOthersToWork(t, u)
	})
}

// TestManyCallsShareSessions: ten thousand calls of twenty people open one session
// each, and leave no descriptors or goroutines.
func TestManyCallsShareSessions(t *testing.T) {
	const people = 20
	calls := 10_000
	if testing.Short() {
		calls = 1_000
	}
	f := newFakeServer(t, legacy, "get_thing")
	n := newNotes(t, legacy)
	u := hostWith(t, upstream.Options{}, named("hr", f), n.server())
	u.Tools(writer)
	one := func(i int) {
		ctx, name := as(fmt.Sprint("person-", i%people), "employee", "writer"), "get_thing"
		if i%7 == 0 { // so that each of them calls both servers
			name = "notes.stats"
		}
		if o := u.Call(ctx, name, nil); o.Fault() != nil {
			t.Error(o.Fault())
		}
	}
	for i := range 2 * people {
		one(i)
	}
	handshakes, descriptors, goroutines := f.seen("initialize"), openFiles(t), runtime.NumGoroutine()
	var working sync.WaitGroup
	for worker := range 4 {
		working.Go(func() {
			for i := worker; i < calls && !t.Failed(); i += 4 {
				one(i)
			}
		})
	}
	working.Wait()
	if got := f.seen("initialize"); got != handshakes || handshakes != people+1 { // one is the catalogue's
		t.Errorf("got %d handshakes, and %d before, want one for each of %d people", got, handshakes, people)
	}
	for grown := time.Now().Add(testkit.Patience); ; runtime.Gosched() { // connections that are closed take a moment
		files, running := openFiles(t), runtime.NumGoroutine()
		if files <= descriptors+20 && running <= goroutines+60 {
			return
		}
		if time.Now().After(grown) {
			t.Fatalf("got %d descriptors and %d goroutines, and %d and %d before", files, running, descriptors, goroutines)
		}
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("descriptors are counted on Linux only")
	}
	return len(entries)
}
