package foreign_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"countersign.dev/internal/upstream/foreign"
	"countersign.dev/internal/upstream/mcpsession"
)

// forgetful is a server that can lose its sessions, as one that was restarted.
type forgetful struct {
	*httptest.Server
	body string // of the answer to a request of a session that it does not know

	mu     sync.Mutex
	never  bool            // it keeps none
	known  map[string]bool // sessions that were used
	lost   map[string]bool
	missed int // requests of a session that it does not know
}

func newForgetful(t *testing.T, handshake bool, body string) *forgetful {
	f, next := &forgetful{body: body, known: map[string]bool{}, lost: map[string]bool{}}, mcpHandler(handshake)
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && !f.has(r.Header.Get("Mcp-Session-Id"), r.Header.Get("Mcp-Method")) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, f.body)
			return
		}
		next.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		f.CloseClientConnections()
		f.Close()
	})
	return f
}

func (f *forgetful) has(session, method string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.known[session] = true
	if f.lost[session] && session != "" || f.never && (session != "" || method == "tools/call") {
		f.missed++
		return false
	}
	return true
}

// restart loses every session, and counts from here.
func (f *forgetful) restart() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lost, f.known, f.missed = f.known, map[string]bool{}, 0
}

func (f *forgetful) misses() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.missed
}

// answers are what servers say of a session that they do not know, with the status 404.
var answers = map[string]string{"in words": "session not found", "as an error": `{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}`}

// TestLostSessionIsOpenedAgainAndTheRequestRepeated: the server has run nothing, and no
// caller gets an error.
func TestLostSessionIsOpenedAgainAndTheRequestRepeated(t *testing.T) {
	for name, body := range answers {
		t.Run(name, func(t *testing.T) {
			f := newForgetful(t, true, body)
			s := adapter(t, foreign.HTTP{URL: f.URL})
			requests := map[string]func(context.Context) error{
				"a call": func(ctx context.Context) error { _, err := s.Call(ctx, "read", nil); return err },
				"a list": func(ctx context.Context) error { _, err := s.Tools(ctx); return err },
			}
			for what, request := range requests {
				if err := request(t.Context()); err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				f.restart()
				if err := request(t.Context()); err != nil || f.misses() != 1 {
					t.Errorf("%s: got %v after %d requests of the lost session, want an answer after one", what, err, f.misses())
				}
			}
		})
	}
}

// TestServerThatKnowsNoSessionIsAskedTwiceAtMost: once where it has none.
func TestServerThatKnowsNoSessionIsAskedTwiceAtMost(t *testing.T) {
	for handshake, most := range map[bool]int{true: 2, false: 1} {
		f := newForgetful(t, handshake, answers["in words"])
		s := adapter(t, foreign.HTTP{URL: f.URL})
		if _, err := s.Call(t.Context(), "read", nil); err != nil {
			t.Fatal(err)
		}
		f.mu.Lock()
		f.never = true
		f.mu.Unlock()
		if _, err := s.Call(t.Context(), "read", nil); !errors.Is(err, mcpsession.ErrNotSent) || f.misses() > most {
			t.Errorf("with a handshake %v: got %v after %d requests, want that nothing was run after %d", handshake, err, f.misses(), most)
		}
	}
}
