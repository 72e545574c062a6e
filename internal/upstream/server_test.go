package upstream_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/upstream"
)

// fakeServer is a real MCP server on loopback with tools that tests script. It
// keeps what it was sent.
type fakeServer struct {
	*httptest.Server
	mu      sync.Mutex
	methods map[string]int // JSON-RPC methods seen
	tokens  []string
	tools   map[string]func(ctx context.Context, args json.RawMessage) string // name → envelope
	execute http.HandlerFunc

	progress *mcp.ProgressNotificationParams                                // reported by each call before it runs
	block    func(r *http.Request, method string) bool                      // true: this request never gets an answer
	instead  func(w http.ResponseWriter, r *http.Request, body []byte) bool // answers a request, or not
}

// version is a side of the protocol's change: stateless, or with a handshake.
type version bool

const (
	modern version = true
	legacy version = false
)

func newFakeServer(t *testing.T, v version, names ...string) *fakeServer {
	f := &fakeServer{methods: make(map[string]int), tools: make(map[string]func(context.Context, json.RawMessage) string)}
	for _, n := range names {
		f.tools[n] = func(context.Context, json.RawMessage) string {
			return `{"status":"success","data":{"tool":"` + n + `"}}`
		}
	}
	f.Server = httptest.NewServer(f.handler(v))
	t.Cleanup(f.Close)
	return f
}

// restart starts the same server again at the same address, as after a restart.
func (f *fakeServer) restart(t *testing.T, v version) {
	address := f.Listener.Addr().String()
	f.Close()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	f.Server = &httptest.Server{Listener: l, Config: &http.Server{Handler: f.handler(v), ReadHeaderTimeout: testkit.Patience}}
	f.Start()
	t.Cleanup(f.Close)
}

func (f *fakeServer) handler(v version) http.Handler {
	server := mcp.NewServer(&mcp.Implementation{Name: "fake", Version: "1"}, nil)
	for name, run := range f.tools {
		server.AddTool(&mcp.Tool{
			Name: name, Description: "Does " + name + ". More words.", InputSchema: map[string]any{"type": "object"},
			Meta: mcp.Meta{"countersign/kind": "read", "countersign/roles": []string{"employee"}, "countersign/fields": map[string]any{"synonyms": []string{"deed"}}},
		}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if f.progress != nil {
				p := *f.progress
				p.ProgressToken = req.Params.GetProgressToken()
				if err := req.Session.NotifyProgress(ctx, &p); err != nil {
					return nil, err
				}
			}
			text := run(ctx, req.Params.Arguments)
			return &mcp.CallToolResult{StructuredContent: json.RawMessage(text), Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
		})
	}
	rpc := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: v == modern})
	mux := http.NewServeMux()
	mux.Handle("/mcp", rpc)
	mux.HandleFunc("/execute", func(w http.ResponseWriter, r *http.Request) { f.execute(w, r) })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		var call struct{ Method string }
		_ = json.Unmarshal(body, &call)
		f.mu.Lock()
		f.methods[call.Method]++
		f.tokens = append(f.tokens, r.URL.Path+" "+call.Method+" "+strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
		block := f.block
		f.mu.Unlock()
		if f.instead != nil && f.instead(w, r, body) {
			return
		}
		if v == legacy && call.Method == "server/discover" {
			http.Error(w, "unknown method", http.StatusNotFound)
			return
		}
		if block != nil && block(r, call.Method) {
			<-r.Context().Done()
			return
		}
		mux.ServeHTTP(w, r)
	})
}

func (f *fakeServer) seen(method string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.methods[method]
}

func (f *fakeServer) tokensFor(prefix string) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []string
	for _, t := range f.tokens {
		if rest, ok := strings.CutPrefix(t, prefix); ok {
			list = append(list, rest)
		}
	}
	return list
}

// mint writes into the token what it was minted for.
func mint(p *access.Principal, audience string, purpose access.Purpose) (string, error) {
	return fmt.Sprintf("%s:%s:%s:%s", p.Username(), strings.Join(p.Roles(), ","), audience, purpose), nil
}

func as(username string, roles ...string) context.Context {
	return access.With(context.Background(), access.NewPrincipal(access.Claims{Issuer: "https://issuer.test", Subject: username, Username: username, Roles: roles, MayConfirm: true}))
}

func start(t *testing.T, o upstream.Options, servers ...upstream.Server) *upstream.Upstream {
	o.Mint = mint
	u := upstream.New(servers, o)
	t.Cleanup(u.Close)
	return u
}

func named(name string, f *fakeServer) upstream.Server {
	return upstream.Server{Name: name, URL: f.URL, Timeout: testkit.Patience}
}

// clock is a hand-set clock.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// TestLostAnswerIsLoggedOnce: the fault has no cause that the route would log again.
func TestLostAnswerIsLoggedOnce(t *testing.T) {
	f := newFakeServer(t, modern, "get_thing")
	var log testkit.Logs
	u := start(t, upstream.Options{Log: log.Logger(), Entries: entries{"id-1": {Server: "hr"}}}, named("hr", f))
	f.Close()
	o := u.Answer(as("alice", "hr-write"), "id-1", true, "")
	if f := o.Fault(); !fault.Is(f, fault.ServiceDown) || errors.Unwrap(f) != nil || strings.Count(log.String(), "level=WARN") != 1 {
		t.Errorf("got %v because of %v, and logged:\n%s", f, errors.Unwrap(f), log.String())
	}
}
