package foreign_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign.dev/internal/supervise"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/upstream/foreign"
	"countersign.dev/internal/upstream/mcpsession"
)

// The servers over standard input and output that this test's own executable is. Both answer until a
// tool is called, and then read nothing.
const (
	deaf    = "deaf-server"
	curious = "curious-server" // it asks without end
)

func TestMain(m *testing.M) {
	switch {
	case supervise.Asked(os.Args):
		os.Exit(supervise.Main(os.Args))
	case len(os.Args) > 1 && (os.Args[1] == deaf || os.Args[1] == curious):
		answerUntilCalled()
		for id := 0; os.Args[1] == curious; id++ {
			fmt.Printf(`{"jsonrpc":"2.0","id":"q%d","method":"ping"}`+"\n", id)
		}
		select {}
	}
	os.Exit(m.Run())
}

func answerUntilCalled() {
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var asked struct {
			ID     json.RawMessage
			Method string
			Params struct{ ProtocolVersion string }
		}
		if err := json.Unmarshal(in.Bytes(), &asked); err != nil || asked.ID == nil {
			continue
		}
		switch asked.Method {
		case "initialize":
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}}`+"\n", asked.ID)
		case "tools/call":
			return
		default:
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`+"\n", asked.ID)
		}
	}
}

// process is the adapter of such a server.
func process(server string, unread time.Duration) *foreign.Server {
	return foreign.New(foreign.Options{Name: "notes", Timeout: testkit.Patience, Connection: foreign.Stdio{
		Command: supervise.Command{Path: os.Args[0], Args: []string{server}, Grace: time.Millisecond}, Unread: unread,
	}})
}

// replaced waits until another process answers: that there are no tools.
func replaced(t *testing.T, s *foreign.Server) {
	t.Helper()
	within(t, "the process", func() {
		for {
			if _, err := s.Tools(t.Context()); mcpsession.ServerError(err) != nil {
				return
			}
		}
	})
}

// within fails where something does not end.
func within(t *testing.T, what string, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); do() }()
	select {
	case <-done:
	case <-time.After(testkit.Patience):
		t.Fatalf("%s does not end", what)
	}
}

// TestProcessThatReadsNothingHoldsNoCall: each ends with its deadline, also one that is larger than a pipe,
// and those behind it. When it has read nothing for too long, another process takes its place.
func TestProcessThatReadsNothingHoldsNoCall(t *testing.T) {
	t.Parallel()
	for _, unread := range []time.Duration{time.Hour, 50 * time.Millisecond} {
		s := process(deaf, unread)
		callInVain(t, s)
		if unread < time.Hour {
			replaced(t, s)
		}
		within(t, "the adapter", s.Close)
	}
}

// callInVain makes calls of which the first leaves no room in the pipe.
func callInVain(t *testing.T, s *foreign.Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	large, err := json.Marshal(map[string]string{"note": strings.Repeat("x", 300_000)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Tools(t.Context()); err == nil { // which opens the session
		t.Fatal("the server has tools")
	}
	within(t, "a call", func() {
		var calls sync.WaitGroup
		for range 4 {
			calls.Go(func() {
				if _, err := s.Call(ctx, "read", large); err == nil {
					t.Error("a call was answered")
				}
			})
		}
		calls.Wait()
	})
}

// TestProcessThatAsksWithoutEndIsEnded, since it reads none of the answers.
func TestProcessThatAsksWithoutEndIsEnded(t *testing.T) {
	t.Parallel()
	s := process(curious, 50*time.Millisecond)
	within(t, "a call", func() {
		if _, err := s.Call(t.Context(), "read", nil); err == nil {
			t.Error("a call was answered")
		}
	})
	replaced(t, s)
	within(t, "the adapter", s.Close)
}

// intercepted is a server with sessions that sees requests before they are answered.
func intercepted(t *testing.T, seen func(w http.ResponseWriter, r *http.Request, body []byte) (answered bool)) *httptest.Server {
	rpc := mcpHandler(true)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		if !seen(w, r, body) {
			rpc.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server
}

// TestStreamWithoutAHeadHoldsNoSession: some servers send it with the first event.
func TestStreamWithoutAHeadHoldsNoSession(t *testing.T) {
	t.Parallel()
	server := intercepted(t, func(_ http.ResponseWriter, r *http.Request, _ []byte) bool {
		if r.Method == http.MethodGet {
			<-r.Context().Done()
		}
		return r.Method == http.MethodGet
	})
	s := foreign.New(foreign.Options{Name: "notes", Connection: foreign.HTTP{URL: server.URL, Patience: 10 * time.Millisecond}, Timeout: testkit.Patience})
	bounded, cancel := context.WithTimeout(t.Context(), testkit.Patience) // as each call is: the patience is for other requests
	defer cancel()
	within(t, "a call", func() {
		if o, err := s.Call(bounded, "read", nil); err != nil || o.Fault() != nil {
			t.Errorf("%v %v", o.Fault(), err)
		}
	})
	within(t, "the adapter", s.Close)
}

// TestServerThatAsksWithoutEndIsLeft: it takes none of the answers, of which few are on their way at once.
func TestServerThatAsksWithoutEndIsLeft(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	open, most, left := 0, 0, make(chan struct{})
	leave := sync.OnceFunc(func() { close(left) })
	server := intercepted(t, func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		switch {
		case r.Method == http.MethodGet:
			w.Header().Set("Content-Type", "text/event-stream")
			for id := 0; r.Context().Err() == nil; id++ {
				if _, err := fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":\"q%d\",\"method\":\"ping\"}\n\n", id); err != nil {
					break
				}
				_ = http.NewResponseController(w).Flush()
			}
			leave()
			return true
		case bytes.Contains(body, []byte(`"id":"q`)):
			mu.Lock()
			open++
			most = max(most, open)
			mu.Unlock()
			<-r.Context().Done()
			mu.Lock()
			open--
			mu.Unlock()
			return true
		}
		return false
	})
	s := foreign.New(foreign.Options{Name: "notes", Connection: foreign.HTTP{URL: server.URL, Patience: 50 * time.Millisecond}, Timeout: testkit.Patience})
	within(t, "a call", func() { _, _ = s.Call(t.Context(), "read", nil) })
	within(t, "its stream", func() { <-left })
	within(t, "the adapter", s.Close)
	server.CloseClientConnections()
	mu.Lock()
	defer mu.Unlock()
	if most > 16 {
		t.Errorf("%d answers were on their way at once", most)
	}
}
