package upstream_test

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign.dev/internal/audit"
	"countersign.dev/internal/mcpfile"
	"countersign.dev/internal/supervise"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/upstream"
	"countersign.dev/internal/upstream/foreign"
)

func TestMain(m *testing.M) {
	switch {
	case supervise.Asked(os.Args):
		os.Exit(supervise.Main(os.Args))
	case os.Getenv(stdioEnv) != "":
		_ = stdioServer().Run(context.Background(), &mcp.StdioTransport{})
		return
	case testkit.RunAsCrashProcess(serveNotes):
		return
	}
	os.Exit(m.Run())
}

// serveNotes is a foreign server in a process of its own, on a socket in a
// folder. It writes each call that it received into a file, and then waits.
func serveNotes(folder string, at func(stage string)) {
	listener, err := net.Listen("unix", filepath.Join(folder, "notes"))
	if err != nil {
		panic(err)
	}
	ready, err := net.Dial("unix", filepath.Join(folder, "ready"))
	if err != nil {
		panic(err)
	}
	_ = ready.Close()
	_ = http.Serve(listener, scriptedHandler(folder, at))
}

func scriptedHandler(folder string, at func(stage string)) http.Handler {
	server := mcp.NewServer(&mcp.Implementation{Name: "notes", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "create", InputSchema: map[string]any{"type": "object"}, Annotations: &mcp.ToolAnnotations{IdempotentHint: true}},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			f, err := os.OpenFile(filepath.Join(folder, "received"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			if err != nil {
				return nil, err
			}
			_, _ = f.WriteString("create\n")
			_ = f.Close()
			at("received")
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "created"}}}, nil
		})
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil)
}

// TestServerKilledAfterItReceivedACallLeavesItUnknown: a real process is killed
// between the call and its answer, and another one takes its place.
func TestServerKilledAfterItReceivedACallLeavesItUnknown(t *testing.T) {
	folder := t.TempDir()
	ready, err := net.Listen("unix", filepath.Join(folder, "ready"))
	if err != nil {
		t.Fatal(err)
	}
	defer ready.Close()
	killed := make(chan struct{})
	go func() { defer close(killed); testkit.Kill(t, folder, "received") }()
	connection, err := ready.Accept() // it serves
	if err != nil {
		t.Fatal(err)
	}
	_ = connection.Close()

	kept := &sink{}
	u := hostWith(t, upstream.Options{Audit: kept}, socketServer(folder))
	id := u.Call(writer, "notes.create", nil).Pending().ID
	if o := u.Answer(writer, id, true, ""); o.Code() != "OUTCOME_UNKNOWN" || !strings.Contains(o.Fault().SuggestedAction, "Check in the other system") {
		t.Fatalf("got %s %v, want OUTCOME_UNKNOWN and what to check", o.Code(), o.Fault())
	}
	<-killed
	if err := os.Remove(filepath.Join(folder, "notes")); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	replacement, err := net.Listen("unix", filepath.Join(folder, "notes"))
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: scriptedHandler(folder, func(string) {}), ReadHeaderTimeout: testkit.Patience}
	go func() { _ = server.Serve(replacement) }()
	defer server.Close()
	for _, approved := range []bool{true, false, true} {
		if o := u.Answer(writer, id, approved, ""); o.Code() != "OUTCOME_UNKNOWN" {
			t.Errorf("asked again (%t): got %s, want OUTCOME_UNKNOWN", approved, o.Code())
		}
	}
	received, err := os.ReadFile(filepath.Join(folder, "received"))
	if err != nil || string(received) != "create\n" {
		t.Errorf("the server received %q (%v), want one call", received, err)
	}
	if c, err := u.Confirmation(writer, id); err != nil || c.State != "unknown" {
		t.Errorf("its card: got state %q, %v, want unknown", c.State, err)
	}
	var steps []string
	for _, e := range kept.events {
		if e.Kind == audit.Confirmation {
			steps = append(steps, e.Step)
		}
	}
	if got := strings.Join(steps, " "); got != "opened approved unknown" {
		t.Errorf("audit: got %s", got)
	}
}

// socketServer reaches the server in a folder.
func socketServer(folder string) upstream.Server {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(folder, "notes"))
	}
	return upstream.Server{Name: "notes", Timeout: testkit.Patience, WriteTimeout: testkit.Patience, Rules: mcpfile.Rules{Roles: []string{"writer"}}, Foreign: func(changed func()) upstream.Adapter {
		return foreign.New(foreign.Options{
			Name: "notes", Connection: foreign.HTTP{URL: "http://notes.test", Next: &http.Transport{DialContext: dial}}, Timeout: testkit.Patience,
			Changed: changed,
		})
	}}
}
