package mcpserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"countersign.dev/internal/access"
	"countersign.dev/internal/httpx"
	"countersign.dev/internal/mcpserver"
	"countersign.dev/internal/result"
)

// The question of these benchmarks: what does one trivial tool cost through
// each face, as a multiple of a bare handler that reads and writes the same
// JSON? "handler" leaves the network out, "loopback" has it in, with the same
// client for all four. Quote ratios of one run only.

const (
	benchArgs = `{"employee_id":"8f14e45f-ceea-467f-9575-6f9c7d1a2b3c","note":"hi"}`
	benchWant = `"employee_id":"8f14e45f-ceea-467f-9575-6f9c7d1a2b3c"`
)

// face is one way to make the call.
type face struct {
	name    string
	handler http.Handler
	request func() *http.Request // for any host
}

func faces(b *testing.B) []face {
	h := open(b, func(o *mcpserver.Options) { // a proven token is remembered, as package auth does
		alice, err := verify(b.Context(), "alice")
		o.Verify = func(context.Context, string) (*access.Principal, error) { return alice, err }
	})
	handler := h.server.Handler()
	session := h.handshake(b, "alice")
	return []face{
		{"floor", bare(), post("/tools/echo", benchArgs)},
		{"rest", handler, post("/tools/echo", benchArgs)},
		{"modern", handler, post("/mcp", modernBody("tools/call", `"name":"echo","arguments":`+benchArgs), modernHeaders("tools/call", "echo")...)},
		{"legacy", handler, post("/mcp", `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":`+benchArgs+`}}`,
			"Mcp-Session-Id", session, "Mcp-Protocol-Version", legacy)},
	}
}

// bare is the floor: net/http and encoding/json, no policy at all.
func bare() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			EmployeeID string `json:"employee_id"`
			Note       string `json:"note"`
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		data, err := json.Marshal(in)
		if err == nil {
			err = httpx.JSON(w, http.StatusOK, result.Envelope{Status: result.StatusSuccess, Data: data})
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})
}

func post(path, body string, headers ...string) func() *http.Request {
	return func() *http.Request {
		r := httptest.NewRequest("POST", "http://localhost"+path, strings.NewReader(body))
		r.RequestURI = "" // a client refuses it
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("Authorization", "Bearer alice")
		for i := 0; i+1 < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		return r
	}
}

func BenchmarkCall(b *testing.B) {
	for _, f := range faces(b) {
		b.Run("handler/"+f.name, func(b *testing.B) { f.direct(b) })
	}
	for _, f := range faces(b) {
		b.Run("loopback/"+f.name, func(b *testing.B) { f.loopback(b) })
	}
}

func (f face) direct(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		w := httptest.NewRecorder()
		f.handler.ServeHTTP(w, f.request())
		f.check(b, w.Code, w.Body.Bytes())
	}
}

func (f face) loopback(b *testing.B) {
	s := httptest.NewServer(f.handler)
	defer s.Close()
	client := s.Client()
	b.ReportAllocs()
	for b.Loop() {
		r := f.request()
		r.URL.Host = s.Listener.Addr().String()
		resp, err := client.Do(r)
		if err != nil {
			b.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil {
			b.Fatal(err)
		}
		f.check(b, resp.StatusCode, body)
	}
}

func (f face) check(b *testing.B, status int, body []byte) {
	if status != http.StatusOK || !bytes.Contains(body, []byte(benchWant)) {
		b.Fatalf("%s: got %d %s", f.name, status, body)
	}
}
