package mcpserver_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/mcpserver"
	"countersign.dev/internal/testkit"
)

func TestDemotionTakesEffectInAnOpenSession(t *testing.T) {
	h := open(t)
	for _, version := range versions {
		session, token := h.connect(t, version, "alice")
		call := func() string {
			called, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "get_pay"})
			if err != nil {
				t.Fatal(err)
			}
			return structured(t, called).Code
		}
		if got := call(); got != "" {
			t.Errorf("%s: got %q before the demotion, want success", version, got)
		}
		token.token.Store("demoted")
		if got := call(); got != "INSUFFICIENT_PERMISSIONS" {
			t.Errorf("%s: got %q after the demotion, want INSUFFICIENT_PERMISSIONS", version, got)
		}
		list, err := session.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range list.Tools {
			if tool.Name == "get_pay" {
				t.Errorf("%s: got get_pay listed after the demotion", version)
			}
		}
	}
}

func TestSessionOfAnotherPersonIsNotFound(t *testing.T) {
	h := open(t, withSDK)
	id := h.handshake(t, "alice")
	unknown := h.callLegacy(t, "bob", "made-up", "who_am_i", `{}`)
	stolen := h.callLegacy(t, "bob", id, "who_am_i", `{}`)
	if stolen.status != 404 || stolen.status != unknown.status || stolen.body != unknown.body {
		t.Errorf("got %d %q for another's session and %d %q for none, want both 404 and equal", stolen.status, stolen.body, unknown.status, unknown.body)
	}
	for _, method := range []string{"GET", "DELETE"} {
		if got := h.send(t, method, "/mcp", "bob", "", "Mcp-Session-Id", id); got.status != 404 {
			t.Errorf("%s: got %d, want 404", method, got.status)
		}
	}
	if got := h.callLegacy(t, "alice", id, "who_am_i", `{}`); got.status != 200 || !strings.Contains(got.body, `"username":"alice"`) {
		t.Errorf("got %d %s, want the owner's session alive", got.status, got.body)
	}
	if got := h.send(t, "DELETE", "/mcp", "alice", "", "Mcp-Session-Id", id); got.status != 204 {
		t.Errorf("got %d, want 204", got.status)
	}
}

func TestModernCallEndsWithItsClient(t *testing.T) {
	h := open(t)
	ctx, leave := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, "POST", h.URL+"/mcp", strings.NewReader(modernBody("tools/call", `"name":"wait"`)))
	if err != nil {
		t.Fatal(err)
	}
	for i, headers := 0, append(modernHeaders("tools/call", "wait"), "Authorization", "Bearer alice", "Content-Type", "application/json", "Accept", "application/json, text/event-stream"); i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	ended := make(chan error, 1)
	go func() {
		resp, err := testkit.Client.Do(r)
		if err == nil {
			resp.Body.Close()
		}
		ended <- err
	}()
	running := <-h.service.entered
	leave()
	<-running.Done() // or the test's own deadline
	<-ended
}

// TestCancelledCallIsNotAnswered: the specification asks a server not to answer
// what its client has cancelled, and clients report an answer that they no longer
// wait for.
func TestCancelledCallIsNotAnswered(t *testing.T) {
	for _, id := range []string{"2", `"two"`, "2.5"} {
		var log testkit.Logs
		h := open(t, withSDK, func(o *mcpserver.Options) { o.Log = log.Logger() })
		session := []string{"Mcp-Session-Id", h.handshake(t, "alice"), "Mcp-Protocol-Version", legacy}
		answered := make(chan reply, 1)
		go func() {
			answered <- h.send(t, "POST", "/mcp", "alice", `{"jsonrpc":"2.0","id":`+id+`,"method":"tools/call","params":{"name":"wait"}}`, session...)
		}()
		<-h.service.entered
		notice := h.send(t, "POST", "/mcp", "alice", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+id+`,"reason":"enough"}}`, session...)
		got := <-answered
		if notice.status != 202 || got.status != 200 || got.body != "" {
			t.Errorf("id %s: got %d for the notification, then %d %q, want 202 and no answer", id, notice.status, got.status, got.body)
		}
		if kind := got.header.Get("Content-Type"); kind != "text/event-stream" {
			t.Errorf("id %s: got the type %q, want an empty stream: clients take anything else for a broken answer", id, kind)
		}
		if again := h.callLegacy(t, "alice", session[1], "who_am_i", `{}`); !strings.Contains(again.body, `"username":"alice"`) {
			t.Errorf("id %s: got %s, want the session alive", id, again.body)
		}
		if strings.Contains(log.String(), "level=ERROR") || strings.Contains(log.String(), "level=WARN") {
			t.Errorf("got logged:\n%s", log.String())
		}
	}
}

// TestWhatWasRecordedBeforeItsCancellationIsAnswered: record and answer agree. The answer
// crosses the cancellation.
func TestWhatWasRecordedBeforeItsCancellationIsAnswered(t *testing.T) {
	for lane, h := range map[string]*harness{"usual": open(t), "SDK": open(t, withSDK)} {
		crossing(h.service)
		session := []string{"Mcp-Session-Id", h.handshake(t, "alice"), "Mcp-Protocol-Version", legacy}
		answered := make(chan reply, 1)
		go func() {
			answered <- h.send(t, "POST", "/mcp", "alice", `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"crossed"}}`, session...)
		}()
		<-h.service.entered
		h.send(t, "POST", "/mcp", "alice", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`, session...)
		if got := <-answered; got.status != 200 || !strings.Contains(got.body, "over before") {
			t.Errorf("%s: got %d %q, want the answer", lane, got.status, got.body)
		}
	}
	l := initialized(t, crossing(newFakeService()))
	l.sends(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"crossed"}}`+"\n"+`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`, "over before")
}

func TestOpenStreamEndsWithItsToken(t *testing.T) {
	h := open(t)
	id := h.handshake(t, "brief")
	if got := h.send(t, "GET", "/mcp", "brief", "", "Mcp-Session-Id", id, "Mcp-Protocol-Version", legacy); got.status != 200 {
		t.Errorf("got %d %s, want a stream that ended by itself", got.status, got.body)
	}
}

// A stream whose caller was revoked ends with an event that says why.
func TestOpenStreamEndsWhenItsCallerIsRevoked(t *testing.T) {
	var revoke func(error)
	watched := make(chan struct{})
	h := open(t, func(o *mcpserver.Options) {
		o.Watch = func(_ *access.Principal, end func(error)) func() {
			revoke = end
			close(watched)
			return func() {}
		}
	})
	id := h.handshake(t, "alice")
	go func() {
		<-watched
		revoke(fault.AccountEnded.New("This account has ended."))
	}()
	got := h.send(t, "GET", "/mcp", "alice", "", "Mcp-Session-Id", id, "Mcp-Protocol-Version", legacy)
	if got.status != 200 || !strings.Contains(got.body, `"code":"ACCOUNT_ENDED"`) {
		t.Errorf("got %d %q, want the reason", got.status, got.body)
	}
}

func TestCloseEndsOpenStreams(t *testing.T) {
	h := open(t)
	session, _ := h.connect(t, legacy, "alice")
	if _, err := session.ListTools(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	h.server.Close()
	if _, err := session.ListTools(t.Context(), nil); err == nil {
		t.Error("got an answer from a session that was closed")
	}
}

func TestConcurrentCallsNeverMixPrincipals(t *testing.T) {
	h := open(t)
	var all sync.WaitGroup
	wrong := make(chan string, 1000)
	for _, who := range []string{"alice", "bob"} {
		for _, version := range versions {
			session, _ := h.connect(t, version, who)
			for worker := range 10 {
				all.Go(func() {
					for i := range 25 {
						if got := identityOf(h, session, who, worker, i); got != "" {
							wrong <- version + ": " + got
						}
					}
				})
			}
		}
	}
	all.Wait()
	close(wrong)
	for w := range wrong {
		t.Error(w)
	}
}

// identityOf asks who the server thinks is calling, in a session that works many calls at
// once, and complains.
func identityOf(h *harness, session *mcp.ClientSession, who string, worker, i int) string {
	note := fmt.Sprintf("%s-%d-%d", who, worker, i)
	called, err := session.CallTool(context.Background(), &mcp.CallToolParams{Name: "who_am_i"})
	if err != nil {
		return err.Error()
	}
	if text := called.Content[0].(*mcp.TextContent).Text; !strings.Contains(text, `"username":"`+who+`"`) {
		return who + " was answered " + text
	}
	called, err = session.CallTool(context.Background(), &mcp.CallToolParams{Name: "echo", Arguments: map[string]any{"note": note}})
	if err != nil {
		return err.Error()
	}
	if text := called.Content[0].(*mcp.TextContent).Text; !strings.Contains(text, `"note":"`+note+`"`) {
		return note + " was answered " + text
	}
	return ""
}
