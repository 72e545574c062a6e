package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"countersign.dev/internal/access"
	"countersign.dev/internal/config"
	"countersign.dev/internal/embedded"
	"countersign.dev/internal/storage"
	"countersign.dev/internal/tool"
)

// trivial is a domain of one tool, which has no store.
type trivial struct{}

type trivialInput struct {
	EmployeeID string `json:"employee_id" jsonschema:"format=uuid"`
	Note       string `json:"note" jsonschema:"maxLength=100"`
}

func (trivial) Tools() []tool.Tool {
	return []tool.Tool{tool.Read(tool.Spec{Name: "echo_back", Title: "Echo", Description: "Echoes.", Allow: []access.Role{access.Employee}},
		func(_ context.Context, in trivialInput) (trivialInput, error) { return in, nil })}
}
func (trivial) Receipts() tool.ReceiptStores { return nil }
func (trivial) Ready(context.Context) error  { return nil }

const trivialArgs = `{"employee_id":"8f14e45f-ceea-467f-9575-6f9c7d1a2b3c","note":"hi"}`

// BenchmarkTrivialTool asks what a domain server itself costs a call, with every policy
// on: a token of the gateway verified and remembered, quotas, role, schema, a hash-chained
// line of the record on disk. The floor is a bare net/http handler that reads and writes
// the same JSON. The client writes the bytes of one request to a socket and allocates
// nothing, so that allocations are the server's alone; CPU has its system calls in it.
func BenchmarkTrivialTool(b *testing.B) {
	bare := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in trivialInput
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(in)
	}))
	defer bare.Close()
	x := newTrivial(b, trivial{})
	call := `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo_back","arguments":` + trivialArgs
	for _, f := range []surface{
		{"floor", bare.URL + "/", trivialArgs, nil},
		{"mcp-2026-07-28", x.hr + "/mcp", call + `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
			map[string]string{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "echo_back"}},
		{"mcp-2025-11-25", x.hr + "/mcp", call + `}}`, map[string]string{"Mcp-Protocol-Version": "2025-11-25", "Mcp-Session-Id": x.handshake(b)}},
	} {
		b.Run(f.name, func(b *testing.B) { f.bytewise(b, x.mint()) })
	}
}

// newTrivial serves the domain as serveDomain does.
func newTrivial(b testing.TB, of storage.Server) *bench {
	b.Helper()
	folder := b.TempDir()
	redis, err := embedded.StartRedis()
	must(b, err)
	b.Cleanup(redis.Close)
	life := newLifetime()
	b.Cleanup(func() { must(b, life.end(context.WithoutCancel(b.Context()))) })
	keys, err := demoKeys(folder)
	must(b, err)
	pl, err := newPlatform(b.Context(), life, slog.New(slog.DiscardHandler), keys, platformOptions{name: "hr", audit: config.Audit{Path: filepath.Join(folder, "audit.jsonl")}, redis: redis.URL()})
	must(b, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(b, err)
	x := &bench{hr: "http://" + listener.Addr().String(), mint: minting(b, keys.signing)}
	edge, err := pl.edge(domain{name: "hr", title: "Trivial"}, of, domainOptions{listener: listener, url: x.hr})
	must(b, err)
	pl.life.serve(listener, edge.Handler(), pl.log, edge.Close)
	return x
}

// bytewise makes the call again and again on one connection.
func (f surface) bytewise(b *testing.B, token string) {
	address, path, _ := strings.Cut(strings.TrimPrefix(f.url, "http://"), "/")
	request := fmt.Sprintf("POST /%s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n", path, address, token, len(f.body))
	for name, value := range f.headers {
		request += name + ": " + value + "\r\n"
	}
	c, err := net.Dial("tcp", address)
	must(b, err)
	defer c.Close()
	written, read := []byte(request+"\r\n"+f.body), make([]byte, 64<<10)
	b.ReportAllocs()
	busy := cpuTime(b)
	for b.Loop() {
		_, err := c.Write(written)
		must(b, err)
		if answer := read[:answerOn(b, c, read)]; !bytes.HasPrefix(answer, []byte("HTTP/1.1 200")) || !bytes.Contains(answer, []byte(`"note":"hi"`)) {
			b.Fatalf("%s: got %s", f.name, answer)
		}
	}
	reportCPU(b, busy)
}

// answerOn reads an answer of a declared length, and returns how long all of it is.
func answerOn(b *testing.B, c net.Conn, into []byte) (n int) {
	for whole := -1; whole < 0 || n < whole; {
		got, err := c.Read(into[n:])
		must(b, err)
		n += got
		if head := bytes.Index(into[:n], []byte("\r\n\r\n")); whole < 0 && head >= 0 {
			_, after, _ := bytes.Cut(into[:head], []byte("Content-Length: "))
			digits, _, _ := bytes.Cut(after, []byte("\r"))
			length, err := strconv.Atoi(string(digits))
			must(b, err)
			whole = head + 4 + length
		}
	}
	return n
}
