package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign.dev/internal/mcpwire"
)

// What BenchmarkGateway compares with, as processes of their own: the test binary
// with one of these variables.
const (
	// asHop makes a bare hop to the address that it names: net/http in, http.Transport
	// out, no protocol and no policy. It is the floor of a gateway.
	asHop = "COUNTERSIGN_TEST_AS_HOP"
	// asEcho makes the fastest server that a gateway can have behind it: its one tool,
	// which the variable names, answers with its input.
	asEcho = "COUNTERSIGN_TEST_AS_ECHO"
)

func hop(listen, target string) error {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 64
	return serveMeasured(listen, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out, err := http.NewRequestWithContext(r.Context(), r.Method, target+r.URL.Path, r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		out.Header, out.ContentLength = r.Header, r.ContentLength
		resp, err := transport.RoundTrip(out)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer func() { _ = resp.Body.Close() }()
		for name, values := range resp.Header {
			w.Header()[name] = values
		}
		w.WriteHeader(resp.StatusCode)
		_, _ = io.Copy(w, resp.Body)
	}))
}

// beginnings counts the messages with which clients of the echo server begin.
var beginnings atomic.Int64

func echo(listen, tool string) error {
	server := mcp.NewServer(&mcp.Implementation{Name: "echo", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{
		Name: tool, Description: "Answers with its input.", InputSchema: json.RawMessage(`{"type":"object"}`), Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true},
		Meta: mcp.Meta{"countersign/kind": "read", "countersign/roles": []string{"employee"}},
	}, func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		text := echoed(req.Params.Arguments)
		return &mcp.CallToolResult{StructuredContent: json.RawMessage(text), Content: []mcp.Content{&mcp.TextContent{Text: string(text)}}}, nil
	})
	slow := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true})
	return serveMeasured(listen, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if call, ok := mcpwire.ReadCall(body, ""); err == nil && ok {
			answer := mcpwire.AppendResult(nil, call, mcpwire.Result{Structured: echoed(call.Args)}, []byte(`{"name":"echo","version":"1"}`))
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
			_, _ = w.Write(answer)
			return
		}
		if bytes.Contains(body, []byte(`"server/discover"`)) || bytes.Contains(body, []byte(`"initialize"`)) {
			beginnings.Add(1)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		slow.ServeHTTP(w, r)
	}))
}

func echoed(args []byte) []byte {
	return append(append([]byte(`{"status":"success","data":`), args...), '}')
}

// serveMeasured serves a handler, and what it has allocated in the format of
// Prometheus.
func serveMeasured(listen string, h http.Handler) error {
	mux := http.NewServeMux()
	mux.Handle("/", h)
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		_, _ = fmt.Fprintf(w, "go_memstats_mallocs_total %d\nbeginnings %d\n", m.Mallocs, beginnings.Load())
	})
	return (&http.Server{Addr: listen, ReadHeaderTimeout: time.Minute, Handler: mux}).ListenAndServe()
}

// scraped is what a process says of itself, by the names of its metrics.
func scraped(b *testing.B, url string) map[string]float64 {
	resp, err := http.Get(url + "/metrics")
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		b.Fatalf("%s: %d %v", url, resp.StatusCode, err)
	}
	values := map[string]float64{}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if number, err := strconv.ParseFloat(value, 64); err == nil {
			values[name] = number
		}
	}
	return values
}

// resident is the memory of a process in MiB: all, and without what is a view of
// its program file.
func resident(b *testing.B, p *process) (all, anonymous float64) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		fields := strings.Fields(line)
		if len(fields) != 3 {
			continue
		}
		kib, _ := strconv.ParseFloat(fields[1], 64) // other lines have no number there
		switch fields[0] {
		case "VmRSS:":
			all = kib / 1024
		case "RssAnon:":
			anonymous = kib / 1024
		}
	}
	return all, anonymous
}
