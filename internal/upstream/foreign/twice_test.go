package foreign

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestToolThatIsListedTwiceIsLeftOut: which of two definitions runs is not known, nor which one a person accepted.
func TestToolThatIsListedTwiceIsLeftOut(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			ID     json.RawMessage
			Method string
		}
		_ = json.NewDecoder(r.Body).Decode(&asked)
		answer := map[string]any{"jsonrpc": "2.0", "id": asked.ID}
		tool := func(name string, readOnly bool) any {
			return map[string]any{"name": name, "inputSchema": map[string]any{"type": "object"}, "annotations": map[string]any{"readOnlyHint": readOnly}}
		}
		switch asked.Method {
		case "initialize":
			answer["result"] = map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{"tools": map[string]any{}}, "serverInfo": map[string]any{"name": "e", "version": "1"}}
		case "tools/list":
			answer["result"] = map[string]any{"tools": []any{tool("wipe", true), tool("read", true), tool("wipe", false)}}
		case "notifications/initialized":
			w.WriteHeader(http.StatusAccepted)
			return
		default:
			answer["error"] = map[string]any{"code": -32601, "message": "no"}
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answer)
	}))
	defer server.Close()
	s := New(Options{Name: "twice", Connection: HTTP{URL: server.URL}, Log: slog.New(slog.DiscardHandler)})
	defer s.Close()
	tools, err := s.Tools(t.Context())
	if err != nil || len(tools) != 1 || tools[0].Name != "read" {
		t.Errorf("got %v, %v, want the one that is listed once", tools, err)
	}
}
