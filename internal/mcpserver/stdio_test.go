package mcpserver_test

import (
	"bufio"
	"context"
	"io"
	"strings"
	"testing"

	"countersign.dev/internal/access"
	"countersign.dev/internal/mcpserver"
	"countersign.dev/internal/testkit"
)

// TestStdioGoesOnAfterWhatIsNoMessage: each bad line is answered with its JSON-RPC
// error, or ignored, and the next call is served.
func TestStdioGoesOnAfterWhatIsNoMessage(t *testing.T) {
	server, err := mcpserver.New(newFakeService(), mcpserver.Options{Name: "test", MaxBody: 2000, Verify: func(context.Context, string) (*access.Principal, error) {
		return testkit.Person("alice", access.Employee), nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	in, client := io.Pipe()
	answers, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- mcpserver.Stdio{Server: server}.Serve(t.Context(), in, out) }()
	lines := bufio.NewReader(answers)
	sends := func(line, want string) {
		t.Helper()
		if _, err := io.WriteString(client, line+"\n"); err != nil {
			t.Fatal(err)
		}
		if want == "" {
			return
		}
		if got, err := lines.ReadString('\n'); err != nil || !strings.Contains(got, want) {
			t.Fatalf("%.60s: got %s (%v), want %s", line, got, err, want)
		}
	}
	sends(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`, `"serverInfo"`)
	sends(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, "")
	for line, want := range map[string]string{
		"Hello, this is no JSON.":                           `"code":-32700`,
		`{"jsonrpc":"2.0","id":2,"method":`:                 `"code":-32700`,
		"\x00\xff\x01":                                      `"code":-32700`,
		strings.Repeat("x", 5000):                           `"code":-32700`,
		`{"jsonrpc":"2.0","id":3} {"jsonrpc":"2.0","id":4}`: `"code":-32700`,
		"42":                             `"code":-32600`,
		`{"id":5,"method":"tools/list"}`: `"id":5`,
		`[{"jsonrpc":"2.0","id":6,"method":"tools/list"}]`:                               `"code":-32600`,
		`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":[]}`:                     `"code":-32602`,
		`{"jsonrpc":"2.0","id":8,"method":"logging/setLevel","params":{"level":"info"}}`: `"code":-32601`,
		`{"jsonrpc":"2.0","id":9,"method":"prompts/list"}`:                               `"code":-32601`,
		"":   "",
		"\r": "",
		`{"jsonrpc":"2.0","method":"tools/call","params":["nobody"]}`: "",
	} {
		sends(line, want)
		sends(`{"jsonrpc":"2.0","id":"next","method":"tools/call","params":{"name":"echo","arguments":{"note":"still here"}}}`, "still here")
	}
	_ = client.Close()
	if err := <-ended; err != nil {
		t.Errorf("serving ended with %v", err)
	}
}
