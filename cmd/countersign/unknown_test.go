package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/coder/websocket"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign.dev/internal/commandline"
)

// payments is another's server, whose answer to a call is always lost.
type payments struct {
	url  string
	paid atomic.Int32
}

func newPayments(t *testing.T) *payments {
	t.Helper()
	server := mcp.NewServer(&mcp.Implementation{Name: "payments", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "pay", Description: "Pays.", InputSchema: map[string]any{"type": "object"}}, nil)
	rpc := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true})
	l := &payments{}
	listener := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if bytes.Contains(body, []byte(`"tools/call"`)) {
			l.paid.Add(1)
			panic(http.ErrAbortHandler) // after it has paid
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		rpc.ServeHTTP(w, r)
	}))
	t.Cleanup(listener.Close)
	l.url = listener.URL
	return l
}

// checkUnknown approves a payment whose answer is lost, over each surface: the outcome
// is unknown there, also when it is asked for again, and nothing is paid twice.
func (p *process) checkUnknown(t *testing.T, l *payments) {
	t.Helper()
	token := p.token(t, "nina.patel", "gateway")
	for i, surface := range []struct {
		name   string
		answer func(t *testing.T, token, id string) string
	}{{"/api/confirm", p.approveOverHTTP}, {"/ws", p.approveOverSocket}, {"the terminal", p.approveInChat}} {
		a := send(t, "POST", p.Gateway+"/api/mcp/payments/pay", token, map[string]any{})
		var pending struct{ ConfirmationID string }
		if err := json.Unmarshal([]byte(a.body), &pending); err != nil || pending.ConfirmationID == "" {
			t.Fatalf("%s: got %d %s, want what waits", surface.name, a.status, a.body)
		}
		if said := surface.answer(t, token, pending.ConfirmationID); !strings.Contains(said, "Whether it was carried out is unknown") {
			t.Errorf("%s: got %s, want to be told that it is unknown", surface.name, said)
		}
		if again := p.approveOverHTTP(t, token, pending.ConfirmationID); !strings.Contains(again, "OUTCOME_UNKNOWN") {
			t.Errorf("%s, asked again: got %s", surface.name, again)
		}
		if got := l.paid.Load(); got != int32(i+1) {
			t.Fatalf("%s: paid %d times, want %d", surface.name, got, i+1)
		}
	}
}

func (p *process) approveOverHTTP(t *testing.T, token, id string) string {
	t.Helper()
	return send(t, "POST", p.Gateway+"/api/confirm/"+id, token, map[string]bool{"approved": true}).body
}

func (p *process) approveOverSocket(t *testing.T, token, id string) string {
	t.Helper()
	var card struct{ ConfirmationData struct{ Digest string } }
	if err := json.Unmarshal([]byte(send(t, "GET", p.Gateway+"/api/confirmations/"+id, token, nil).body), &card); err != nil {
		t.Fatal(err)
	}
	ws, _, err := websocket.Dial(t.Context(), p.Gateway+"/ws", &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + token}}}) //nolint:bodyclose // Dial replaces the body
	if err != nil {
		t.Fatal(err)
	}
	defer ws.CloseNow() //nolint:errcheck // of a test
	order := fmt.Sprintf(`{"type":"confirm","id":"pay","payload":{"confirmationId":%q,"approved":true,"digest":%q}}`, id, card.ConfirmationData.Digest)
	if err := ws.Write(t.Context(), websocket.MessageText, []byte(order)); err != nil {
		t.Fatal(err)
	}
	for {
		_, frame, err := ws.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(frame), `"replyTo":"pay"`) {
			return string(frame)
		}
	}
}

func (p *process) approveInChat(t *testing.T, token, id string) string {
	t.Helper()
	var out, logs bytes.Buffer
	code := run(context.WithoutCancel(t.Context()), program{
		args: []string{"chat", "--url", p.Gateway, "--token", token}, getenv: func(string) string { return "" },
		in: strings.NewReader("/pending\n/approve\n"), out: &out, err: &logs,
	})
	if code != commandline.ExitDone || !strings.Contains(out.String(), id) {
		t.Errorf("the chat: exit %d\n%s%s", code, &out, &logs)
	}
	return out.String() + logs.String()
}
