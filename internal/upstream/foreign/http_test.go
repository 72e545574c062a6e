package foreign_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign.dev/internal/netguard"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/upstream/foreign"
)

// mcpHandler is a server that speaks every version, or those with a handshake alone.
func mcpHandler(handshake bool) http.Handler {
	s := mcp.NewServer(&mcp.Implementation{Name: "notes", Version: "1"}, nil)
	s.AddTool(&mcp.Tool{Name: "read", InputSchema: map[string]any{"type": "object"}}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "a note"}}}, nil
	})
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: !handshake})
}

func adapter(t *testing.T, h foreign.HTTP) *foreign.Server {
	h.Patience = testkit.Patience // calls of tests have no deadline
	s := foreign.New(foreign.Options{Name: "notes", Connection: h, Timeout: testkit.Patience})
	t.Cleanup(s.Close)
	return s
}

// Without allow_private no connection is made to an address of this machine or of
// a private network, whatever name leads there.
func TestPrivateAddressesAreNotDialled(t *testing.T) {
	touched := 0
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { touched++ }))
	defer server.Close()
	port := server.URL[strings.LastIndex(server.URL, ":"):]
	for _, host := range []string{"127.0.0.1", "localhost", "[::1]", "10.0.0.1", "169.254.169.254", "[::ffff:127.0.0.1]"} {
		_, err := adapter(t, foreign.HTTP{URL: "http://" + host + port + "/mcp", Next: foreign.NewTransport(false)}).Tools(t.Context())
		if !errors.Is(err, netguard.ErrNotPublic) {
			t.Errorf("%s: got %v", host, err)
		}
	}
	if touched != 0 {
		t.Errorf("the server was reached %d times", touched)
	}
}

// A proxy would dial for us. The environment's is read once in a process, so the test
// runs itself again.
func TestPrivateAddressesAreNotAskedForOfAProxy(t *testing.T) {
	if os.Getenv("HTTP_PROXY") == "" {
		var asked atomic.Int64
		proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
		defer proxy.Close()
		again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
		again.Env = append(os.Environ(), "HTTP_PROXY="+proxy.URL, "NO_PROXY=")
		if out, err := again.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		if asked.Load() != 1 {
			t.Errorf("the proxy was asked %d times, want once, with allow_private", asked.Load())
		}
		return
	}
	for _, host := range []string{"10.0.0.1", "169.254.169.254", "[fd00::1]", "[::ffff:10.0.0.1]"} {
		if _, err := adapter(t, foreign.HTTP{URL: "http://" + host + "/mcp", Next: foreign.NewTransport(false)}).Tools(t.Context()); !errors.Is(err, netguard.ErrNotPublic) {
			t.Errorf("%s: got %v", host, err)
		}
	}
	resp, err := (&http.Client{Transport: foreign.NewTransport(true)}).Get("http://10.0.0.1/mcp")
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
}

// A call waits for a token no longer than it lives itself.
func TestAHungIssuerHoldsNoCall(t *testing.T) {
	asked, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	hung := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		once.Do(func() { close(asked) })
		<-release
	}))
	defer hung.Close()
	defer close(release)
	h := foreign.HTTP{URL: hung.URL + "/mcp", OAuth: &foreign.OAuth{Issuer: hung.URL, ClientID: "host", ClientSecret: "s3cret"}}
	client := h.Transport().(*mcp.StreamableClientTransport).HTTPClient
	for range 2 { // the second finds the first one's token under way
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-asked; cancel() }()
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if resp, err := client.Do(r); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v and %v", resp, err)
		}
	}
}

func TestARedirectIsNotFollowed(t *testing.T) {
	var mu sync.Mutex
	var received []string
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		received = append(received, r.Header.Get("X-Key"))
	}))
	defer other.Close()
	server := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer server.Close()
	if _, err := adapter(t, foreign.HTTP{URL: server.URL, Header: http.Header{"X-Key": {"secret"}}}).Tools(t.Context()); err == nil {
		t.Error("it was followed")
	}
	if len(received) != 0 {
		t.Errorf("the other address received %q", received)
	}
}

// issuer is an authorization server with the client credentials grant. The server
// behind it accepts the token that was issued last.
type issuer struct {
	*httptest.Server
	mu     sync.Mutex
	issued int
	forms  []string
	seen   []string // authorizations at the MCP server
}

func newIssuer(t *testing.T, handshake bool) *issuer {
	i, mux := &issuer{}, http.NewServeMux()
	i.Server = httptest.NewServer(mux)
	t.Cleanup(i.Close)
	mux.HandleFunc("/.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"issuer": i.URL, "token_endpoint": i.URL + "/token"})
	})
	mux.HandleFunc("/token", func(w http.ResponseWriter, r *http.Request) {
		i.mu.Lock()
		defer i.mu.Unlock()
		_ = r.ParseForm()
		if id, secret, _ := r.BasicAuth(); id != "host" || secret != "s3cret" {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"error":"invalid_client","error_description":"no client has the secret another"}`)
			return
		}
		i.issued++
		i.forms = append(i.forms, r.Form.Get("grant_type")+" "+r.Form.Get("scope")+" "+r.Form.Get("resource"))
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"access_token":"token-%d","token_type":"Bearer","expires_in":3600}`, i.issued)
	})
	rpc := mcpHandler(handshake)
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		i.mu.Lock()
		want, got := fmt.Sprintf("Bearer token-%d", i.issued), r.Header.Get("Authorization")
		i.seen = append(i.seen, got)
		i.mu.Unlock()
		if got != want {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		rpc.ServeHTTP(w, r)
	})
	return i
}

// TestTheHostGetsItsOwnToken for a server of every version, and one that knows handshakes alone.
func TestTheHostGetsItsOwnToken(t *testing.T) {
	for name, handshake := range map[string]bool{"every version": false, "handshake": true} {
		t.Run(name, func(t *testing.T) { checkToken(t, newIssuer(t, handshake)) })
	}
}

func checkToken(t *testing.T, i *issuer) {
	t.Helper()
	s := adapter(t, foreign.HTTP{URL: i.URL + "/mcp", OAuth: &foreign.OAuth{Issuer: i.URL, ClientID: "host", ClientSecret: "s3cret", Scopes: []string{"notes"}}})
	if tools, err := s.Tools(t.Context()); err != nil || len(tools) != 1 {
		t.Fatalf("got %v and %v", tools, err)
	}
	if want := []string{"client_credentials notes " + i.URL + "/mcp"}; !slices.Equal(i.forms, want) {
		t.Errorf("the issuer was asked %q, want once %q", i.forms, want)
	}
	i.mu.Lock()
	i.issued++ // the token is no longer accepted
	i.mu.Unlock()
	if o, err := s.Call(t.Context(), "read", nil); err != nil || o.Fault() != nil {
		t.Errorf("with a rejected token: got %v %v", o.Fault(), err)
	}
	if len(i.forms) != 2 {
		t.Errorf("the issuer was asked %d times, want a second token", len(i.forms))
	}
	wrong := adapter(t, foreign.HTTP{URL: i.URL + "/mcp", OAuth: &foreign.OAuth{Issuer: i.URL, ClientID: "host", ClientSecret: "another"}})
	if _, err := wrong.Tools(t.Context()); err == nil || strings.Contains(err.Error(), "another") || !strings.Contains(err.Error(), "invalid_client") {
		t.Errorf("a wrong secret: got %v", err)
	}
}

// TestAnAnswerIsBoundedWhateverItsType: a parameter or another case of the media type
// is read as JSON too, and so is the body of a refusal.
func TestAnAnswerIsBoundedWhateverItsType(t *testing.T) {
	const most = 1 << 16
	for kind, status := range map[string]int{
		"application/json": 200, "application/json; charset=utf-8": 200, "Application/JSON": 200, "text/plain": http.StatusBadRequest,
	} {
		var written atomic.Int64
		rpc := mcpHandler(false)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			if !strings.Contains(string(body), `"tools/call"`) {
				r.Body = io.NopCloser(bytes.NewReader(body))
				rpc.ServeHTTP(w, r)
				return
			}
			w.Header().Set("Content-Type", kind)
			w.WriteHeader(status)
			for range 1024 { // 64 MiB
				n, err := w.Write(bytes.Repeat([]byte(" "), most))
				if written.Add(int64(n)); err != nil {
					return
				}
			}
		}))
		s := adapter(t, foreign.HTTP{URL: server.URL, MaxAnswer: most})
		if _, err := s.Call(t.Context(), "read", nil); err == nil {
			t.Errorf("%s: an answer without an end is an answer", kind)
		}
		server.Close()                       // waits for what it writes
		if n := written.Load(); n > 32<<20 { // sockets hold some
			t.Errorf("%s: %d bytes were read, and %d are the most", kind, n, most)
		}
	}
}

// TestACompressedAnswerIsBoundedAsItIsRead: 64 KiB that would be 64 MiB are read no further than
// any other answer.
func TestACompressedAnswerIsBoundedAsItIsRead(t *testing.T) {
	const most = 1 << 16
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	for range 1024 {
		_, _ = z.Write(bytes.Repeat([]byte(" "), most))
	}
	if err := z.Close(); err != nil || bomb.Len() > 2*most {
		t.Fatal(err, bomb.Len())
	}
	rpc := mcpHandler(false)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if !strings.Contains(string(body), `"tools/call"`) {
			r.Body = io.NopCloser(bytes.NewReader(body))
			rpc.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(bomb.Bytes())
	}))
	defer server.Close()
	s := adapter(t, foreign.HTTP{URL: server.URL, MaxAnswer: most})
	if _, err := s.Tools(t.Context()); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := s.Call(t.Context(), "read", nil); err == nil {
		t.Error("it is an answer")
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 64*most {
		t.Errorf("it took %d bytes of memory, and an answer has %d at most", took, most)
	}
}
