package elastic_test

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/domain/codesearch"
	"countersign.dev/internal/domain/codesearch/elastic"
	"countersign.dev/internal/domain/codesearch/endpoint"
	"countersign.dev/internal/testkit"
)

// post asks document 004's endpoint.
func post(t *testing.T, s *codesearch.Server) *httptest.ResponseRecorder {
	t.Helper()
	handler := s.Endpoint(endpoint.Options{Loopback: true, Enter: func(_ http.ResponseWriter, r *http.Request) (*http.Request, error) { return r, nil }})
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/mcp/search", strings.NewReader(`{"query": "Alpha"}`))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return w
}

func health(t *testing.T, s *codesearch.Server) (states struct {
	Status   string
	Services map[string]string
}) {
	t.Helper()
	w := httptest.NewRecorder()
	s.Endpoint(endpoint.Options{}).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/health", nil))
	if err := json.Unmarshal(w.Body.Bytes(), &states); err != nil {
		t.Fatal(err)
	}
	return states
}

// TestEngineThatIsDownIsUnavailable: 503 and SEARCH_ERROR, in the health check and for
// operators too; and good again when it is back.
func TestEngineThatIsDownIsUnavailable(t *testing.T) {
	address, prefix := engine.Address(t)
	one := codesearch.Repository{Name: "one", Path: t.TempDir(), Anonymous: true}
	put(t, one.Path, "a.go", "package a\n\nfunc Alpha() {}\n")
	proxy := testkit.NewProxy(t, host(t, address))
	s := served(t, connect(t, "http://"+proxy.Address(), prefix), one)
	good := func() {
		t.Helper()
		said, err := s.Check(t.Context())
		if w := post(t, s.Server); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "a.go") || err != nil || !strings.HasPrefix(said, "1 of 1 repositories are indexed in ") {
			t.Errorf("%d %s; %s %v", w.Code, w.Body, said, err)
		}
		if h := health(t, s.Server); h.Status != "healthy" || h.Services["index"] != "ready" {
			t.Errorf("%+v", h)
		}
	}
	good()
	proxy.Cut()
	if w := post(t, s.Server); w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "SEARCH_ERROR") || w.Header().Get("Retry-After") == "" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if h := health(t, s.Server); h.Status != "degraded" || h.Services["index"] != "unreachable" {
		t.Errorf("%+v", h)
	}
	if _, err := s.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "code search store cannot be reached") {
		t.Error(err)
	}
	if err := s.Ready(t.Context()); err == nil {
		t.Error("it is ready")
	}
	if _, err := s.update("one"); err == nil {
		t.Error("it was indexed")
	}
	proxy.Restore()
	good()
}

// TestSilentEngineEndsAtTheDeadline: a server that takes connections and says nothing
// is 503 when the time is over.
func TestSilentEngineEndsAtTheDeadline(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	store, err := elastic.Open("http://"+listener.Addr().String(), &elastic.Options{Limit: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	s := codesearch.New(codesearch.Options{Store: store, Repositories: []codesearch.Repository{{Name: "one", Anonymous: true}}})
	if w := post(t, s); w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "SEARCH_ERROR") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
