package tasks_test

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"countersign.dev/internal/access"
	"countersign.dev/internal/mcpserver"
)

// surfaces are the endpoints of a task server, called by Nina with her own token.
type surfaces struct {
	*harness
	http.Handler
}

func newSurfaces(t *testing.T) surfaces {
	t.Helper()
	h := newHarness(t)
	s, err := mcpserver.New(h.Toolbox, mcpserver.Options{Name: "tasks", Verify: func(context.Context, string) (*access.Principal, error) {
		return access.From(as(t, "nina", access.PurposeNone))
	}})
	if err != nil {
		t.Fatal(err)
	}
	return surfaces{h, s.Handler()}
}

func (s surfaces) post(path, body string, headers ...string) (status int, answer []byte) {
	s.Helper()
	r := httptest.NewRequestWithContext(s.Context(), http.MethodPost, path, strings.NewReader(body))
	r.Host = "localhost:1"
	headers = append(headers, "Authorization", "Bearer x", "Content-Type", "application/json", "Accept", "application/json, text/event-stream")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	a := httptest.NewRecorder()
	s.ServeHTTP(a, r)
	return a.Code, a.Body.Bytes()
}

// called is what a call over MCP answers.
type called struct {
	Result struct {
		IsError           bool
		StructuredContent json.RawMessage
		Content           []struct{ Text string }
	}
}

func (s surfaces) mcp(name, input string) (a called) {
	s.Helper()
	status, body := s.post("/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+name+`","arguments":`+input+
		`,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`,
		"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", name)
	if err := json.Unmarshal(body, &a); err != nil || status != http.StatusOK {
		s.Fatalf("%d, %v: %s", status, err, body)
	}
	return a
}

// TestErrorsAreAlikeOverMCPAndREST: each of the six codes of document 002, with its
// details, and a page. Over REST the status is 200, over MCP isError is true, and the
// body is the same.
func TestErrorsAreAlikeOverMCPAndREST(t *testing.T) {
	s := newSurfaces(t)
	fill(t, s.harness, 40, strings.Repeat("Some words of a long text. ", 370))
	for _, c := range []struct {
		tool    string
		in      map[string]any
		code    string
		details []string
	}{
		{"list_tasks", map[string]any{"limit": 2}, "", nil},
		{"list_tasks", map[string]any{"limit": 0}, "PAGINATION_INVALID", []string{"limit"}},
		{"get_entity_tasks", map[string]any{"entity_id": 1, "offset": -1}, "PAGINATION_INVALID", []string{"offset"}},
		{"search_tasks", map[string]any{"search_term": "x", "mode": "full"}, "INVALID_MODE", []string{"provided_mode"}},
		{"list_entities", map[string]any{"workspace_path": "/etc"}, "WORKSPACE_INVALID", []string{"workspace_path", "reason"}},
		{"list_tasks", map[string]any{"status": "open"}, "INVALID_FILTER", []string{"filter_name", "invalid_value", "valid_values"}},
		{"get_task_tree", map[string]any{"task_id": 99}, "NOT_FOUND", []string{"resource_type", "resource_id"}},
		{"list_tasks", map[string]any{"mode": "details", "limit": 40}, "RESPONSE_SIZE_EXCEEDED", []string{"actual_tokens", "max_tokens"}},
	} {
		in := map[string]any{"workspace_path": s.platform}
		maps.Copy(in, c.in)
		input, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		status, body := s.post("/tools/"+c.tool, `{"input":`+string(input)+`}`)
		over := s.mcp(c.tool, string(input)).Result
		if status != http.StatusOK || over.IsError != (c.code != "") || string(over.StructuredContent) != string(body) || len(over.Content) != 1 || over.Content[0].Text != string(body) {
			t.Errorf("%s %s: got %d over REST and %+v over MCP, for %s", c.tool, input, status, over, body)
		}
		var answer struct {
			Items      []any `json:"items"`
			Suggestion string
			Error      struct {
				Code    string
				Details map[string]any
			}
		}
		if err := json.Unmarshal(body, &answer); err != nil || answer.Error.Code != c.code || len(answer.Error.Details) != len(c.details) {
			t.Errorf("%s %s: got %s, want %s with %v", c.tool, input, body, c.code, c.details)
		}
		for _, name := range c.details {
			if answer.Error.Details[name] == nil {
				t.Errorf("%s %s: no %s in %s", c.tool, input, name, body)
			}
		}
		if (answer.Suggestion != "") != (c.code == "RESPONSE_SIZE_EXCEEDED") || (c.code == "") != (len(answer.Items) == 2) {
			t.Errorf("%s %s: got %s", c.tool, input, body)
		}
	}
}
