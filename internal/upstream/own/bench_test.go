package own_test

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/mcpwire"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/upstream/own"
)

// BenchmarkCall asks what the adapter adds to a request with the same bytes: the
// floor posts a call and reads the answer with an http.Transport of the same kind.
func BenchmarkCall(b *testing.B) {
	envelope := []byte(`{"status":"success","data":{"employee_id":"e-1","name":"Marcus Johnson","salary":145000,"note":"` + string(bytes.Repeat([]byte("x"), 400)) + `"}}`)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		c, ok := mcpwire.ReadCall(body, "")
		if err != nil || !ok {
			http.Error(w, "not understood", http.StatusBadRequest)
			return
		}
		answer := mcpwire.AppendResult(nil, c, mcpwire.Result{Structured: envelope}, []byte(`{"name":"hr","version":"1"}`))
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
		_, _ = w.Write(answer)
	}))
	defer server.Close()
	args := []byte(`{"employee_id":"e-1"}`)
	b.Run("floor", func(b *testing.B) {
		transport := own.NewTransport()
		defer transport.CloseIdleConnections()
		call := mcpwire.AppendCall(nil, 1, "get_employee", args, []byte(`{"name":"x","version":"1"}`))
		b.ReportAllocs()
		for b.Loop() {
			req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, server.URL+"/mcp", bytes.NewReader(call))
			if err != nil {
				b.Fatal(err)
			}
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Authorization", "Bearer a-token")
			resp, err := transport.RoundTrip(req)
			if err != nil {
				b.Fatal(err)
			}
			if _, err = io.ReadAll(resp.Body); err != nil {
				b.Fatal(err)
			}
			_ = resp.Body.Close()
		}
	})
	b.Run("adapter", func(b *testing.B) {
		s := own.New(own.Options{Name: "hr", URL: server.URL, Timeout: testkit.Patience, MaxAnswer: 1 << 20, Log: slog.New(slog.DiscardHandler), Now: time.Now,
			Mint: func(*access.Principal, string, access.Purpose) (string, error) { return "a-token", nil }})
		defer s.Close()
		ctx := testkit.As(b, "alice")
		b.ReportAllocs()
		for b.Loop() {
			if o, err := s.Call(ctx, "get_employee", args); err != nil || o.Fault() != nil {
				b.Fatal(err, o.Fault())
			}
		}
	})
}
