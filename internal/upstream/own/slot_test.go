package own_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/admission"
	"countersign.dev/internal/mcpwire"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/upstream/own"
)

// TestCallHoldsNoSlotWhileItsServerWorks: the one slot is another person's meanwhile, who
// would be refused otherwise.
func TestCallHoldsNoSlotWhileItsServerWorks(t *testing.T) {
	queue := admission.New(admission.Options{Slots: 1, Patience: time.Second})
	var refused error
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		other := queue.Work().For(access.Owner{Issuer: "i", Subject: "bob"})
		refused = other.Admit(r.Context())
		other.End()
		body, _ := io.ReadAll(r.Body)
		call, _ := mcpwire.ReadCall(body, "")
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(mcpwire.AppendResult(nil, call, mcpwire.Result{Structured: []byte(`{"status":"success","data":1}`)}, []byte(`{"name":"hr","version":"1"}`)))
	}))
	defer server.Close()
	s := own.New(own.Options{Name: "hr", URL: server.URL, Timeout: testkit.Patience, MaxAnswer: 1 << 20, Log: slog.New(slog.DiscardHandler), Now: time.Now,
		Mint: func(*access.Principal, string, access.Purpose) (string, error) { return "a-token", nil }})
	defer s.Close()
	work := queue.Work().For(access.Owner{Issuer: "i", Subject: "alice"})
	ctx := admission.With(testkit.As(t, "alice"), work)
	if err := work.Begin(ctx); err != nil {
		t.Fatal(err)
	}
	defer work.End()
	if o, err := s.Call(ctx, "get_employee", nil); err != nil || o.Fault() != nil || refused != nil {
		t.Errorf("the call: %v %v; the other person: %v", o.Fault(), err, refused)
	}
}
