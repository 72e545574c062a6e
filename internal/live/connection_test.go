package live

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/coder/websocket"

	"countersign.dev/internal/access"
	"countersign.dev/internal/agent"
	"countersign.dev/internal/conversation"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
	"countersign.dev/internal/state"
	"countersign.dev/internal/testkit"
)

// TestTwoMissedPongsInARowAreTheEnd: a slow client that answers every other ping stays
// connected without end.
func TestTwoMissedPongsInARowAreTheEnd(t *testing.T) {
	var p pulse
	for range 1000 {
		if p.missed() {
			t.Fatal("one missed pong ends the connection")
		}
		p.answered()
	}
	if p.missed() || !p.missed() {
		t.Error("two missed pongs in a row do not end the connection")
	}
}

// nothing is the models and the tools of a service that is asked no question.
type nothing struct{}

func (nothing) Choose(string) (c agent.Choice, err error) { return c, err }
func (nothing) Tools(context.Context) (set agent.Toolset) { return set }
func (nothing) Call(context.Context, string, json.RawMessage) (o result.Outcome) {
	return o
}

// panicking is a server whose answers to confirmations panic.
func panicking(t *testing.T) *httptest.Server {
	redis, err := state.Open(t.Context(), "redis://"+miniredis.RunT(t).Addr(), &state.Options{Timeout: testkit.Patience})
	if err != nil {
		t.Fatal(err)
	}
	conversations, err := conversation.New(conversation.Options{Models: nothing{}, Toolbox: nothing{}, Redis: redis, Ring: testkit.Ring("record")})
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(Options{
		Conversations: conversations,
		Right:         func(r *http.Request) (context.Context, context.CancelFunc) { return context.WithCancel(r.Context()) },
		Ended:         func(context.Context) *fault.Error { return nil },
		Answer:        func(context.Context, string, bool, string) (result.Outcome, error) { panic("nil map") },
	})
	if err != nil {
		t.Fatal(err)
	}
	p := testkit.Person("ann", access.Employee)
	served := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := s.Chat(w, r, p); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(func() {
		served.Close()
		_ = conversations.Shutdown(context.Background())
		if err := s.Drain(context.Background()); err != nil {
			t.Error(err)
		}
		_ = redis.Close()
	})
	return served
}

func TestPanicFailsItsMessageAlone(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), testkit.Patience)
	defer cancel()
	ws, _, err := websocket.Dial(ctx, panicking(t).URL, nil) //nolint:bodyclose // Dial replaces the body
	if err != nil {
		t.Fatal(err)
	}
	defer ws.CloseNow()
	ask := func(message string) (answer struct {
		Type    string
		Payload struct{ Code, ReplyTo string }
	}) {
		t.Helper()
		if err := ws.Write(ctx, websocket.MessageText, []byte(message)); err != nil {
			t.Fatal(err)
		}
		for answer.Type == "" || answer.Type == "connection" {
			_, body, err := ws.Read(ctx)
			if err == nil {
				err = json.Unmarshal(body, &answer)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		return answer
	}
	got := ask(`{"type":"confirm","id":"m1","payload":{"confirmationId":"c1","approved":true,"digest":"d"}}`)
	if got.Payload.Code != fault.InternalError.Name || got.Payload.ReplyTo != "m1" {
		t.Errorf("got %+v, want INTERNAL_ERROR for m1", got)
	}
	if got := ask(`{"type":"ping"}`); got.Type != "pong" {
		t.Errorf("got %+v, want the connection open", got)
	}
}
