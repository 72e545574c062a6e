package upstream_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign.dev/internal/mcpfile"
	"countersign.dev/internal/supervise"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/upstream"
	"countersign.dev/internal/upstream/foreign"
)

// stdioEnv makes this test binary a foreign server over stdio.
const stdioEnv = "COUNTERSIGN_TEST_STDIO"

func stdioServer() *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "notes", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "stats", InputSchema: map[string]any{"type": "object"}, Annotations: readOnly},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{StructuredContent: map[string]any{"notes": 3}}, nil
		})
	return server
}

// BenchmarkForeignCall: what does a call of a connected server cost through the
// gateway's path (roles, schema, limit, breaker, record, wrapping)? The floor is the
// same call by the SDK's client to the same server.
func BenchmarkForeignCall(b *testing.B) {
	for name, connect := range map[string]func(*testing.B) foreign.Connection{"http": overHTTP, "stdio": overStdio} {
		b.Run(name+"/floor", func(b *testing.B) {
			session, err := mcp.NewClient(&mcp.Implementation{Name: "floor", Version: "1"}, nil).Connect(b.Context(), connect(b).Transport(), nil)
			if err != nil {
				b.Fatal(err)
			}
			defer session.Close()
			for b.Loop() {
				if _, err := session.CallTool(b.Context(), &mcp.CallToolParams{Name: "stats", Arguments: json.RawMessage(`{}`)}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/upstream", func(b *testing.B) {
			connection := connect(b)
			u := upstream.New([]upstream.Server{{
				Name: "notes", Timeout: testkit.Patience, Rules: mcpfile.Rules{Roles: []string{"writer"}},
				Foreign: func(func()) upstream.Adapter {
					return foreign.New(foreign.Options{Name: "notes", Connection: connection, Timeout: testkit.Patience})
				},
			}}, upstream.Options{Audit: &testkit.MemorySink{}})
			defer u.Close()
			u.Tools(writer)
			for b.Loop() {
				if o := u.Call(writer, "notes.stats", nil); o.Fault() != nil {
					b.Fatal(o.Fault())
				}
			}
		})
	}
}

func overHTTP(b *testing.B) foreign.Connection {
	server := stdioServer()
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true})
	return foreign.HTTP{URL: serve(b, h)}
}

func overStdio(*testing.B) foreign.Connection {
	return foreign.Stdio{Command: supervise.Command{Path: os.Args[0], Env: append(os.Environ(), stdioEnv+"=1")}}
}

func serve(b *testing.B, h http.Handler) string {
	s := httptest.NewServer(h)
	b.Cleanup(s.Close)
	return s.URL
}
