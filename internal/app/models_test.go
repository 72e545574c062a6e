package app

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/agent"
	"countersign.dev/internal/config"
	"countersign.dev/internal/result"
)

// What a model's keys say holds for its requests: one that is configured without
// native tools is sent none, and reads them in its instructions.
func TestModelIsMadeAsItsKeysSay(t *testing.T) {
	t.Parallel()
	var sent struct {
		Tools    []any
		Messages []struct{ Content string }
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(raw, &sent); err != nil {
			t.Error(err)
		}
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(server.Close)
	models, err := modelsOf(&config.Config{Models: config.Models{Default: "local", ByName: map[string]config.Model{
		"local": {Provider: "openai", Model: "m", BaseURL: server.URL, Tools: "blob", Timeout: 9 * time.Second, BudgetTokens: 5000},
	}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	local, err := models.Choose("local")
	if err != nil || local.Timeout != 9*time.Second || local.Budget != 5000 {
		t.Fatalf("got %+v, %v", local, err)
	}
	for range local.Stream(t.Context(), agent.Request{Messages: []agent.Message{agent.TextMessage(agent.User, "Hello")}, Tools: []agent.Tool{{ToolInfo: result.ToolInfo{Name: "list_employees"}}}}) {
	}
	if len(sent.Tools) > 0 || len(sent.Messages) == 0 || !strings.Contains(sent.Messages[0].Content, "## list_employees") {
		t.Errorf("sent %+v", sent)
	}
}
