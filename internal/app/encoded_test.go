package app

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"countersign.dev/internal/access"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/tool"
)

// counting is a domain whose answer counts how often it is encoded.
type counting struct{ trivial }

type countingOutput struct {
	Note countedText `json:"note"`
}

type countedText string

var timesEncoded atomic.Int64

func (t countedText) MarshalText() ([]byte, error) {
	timesEncoded.Add(1)
	return []byte(t), nil
}

func (counting) Tools() []tool.Tool {
	return []tool.Tool{tool.Read(tool.Spec{Name: "count", Title: "Count", Description: "Counts.", Allow: []access.Role{access.Employee}},
		func(context.Context, struct{}) (countingOutput, error) {
			return countingOutput{"a \"quoted\" \\ text\n\u2028"}, nil
		})}
}

// TestAnswerIsEncodedOnce: a domain server encodes what a tool returned once for a call,
// in each era. The copy as text is a view of the same bytes.
func TestAnswerIsEncodedOnce(t *testing.T) {
	x := newTrivial(t, counting{})
	const call = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"count","arguments":{}`
	for _, f := range []surface{
		{"mcp-2026-07-28", x.hr + "/mcp", call + `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
			map[string]string{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "count"}},
		{"mcp-2025-11-25", x.hr + "/mcp", call + `}}`, map[string]string{"Mcp-Protocol-Version": "2025-11-25", "Mcp-Session-Id": x.handshake(t)}},
	} {
		before := timesEncoded.Load()
		var answer struct {
			Result struct {
				Content           []struct{ Text string }
				StructuredContent json.RawMessage
			}
		}
		must(t, json.Unmarshal(f.answer(t, x.mint()), &answer))
		if got := timesEncoded.Load() - before; got != 1 {
			t.Errorf("%s: the answer was encoded %d times", f.name, got)
		}
		if r := answer.Result; len(r.Content) != 1 || r.Content[0].Text != string(r.StructuredContent) || !strings.Contains(r.Content[0].Text, `"note"`) {
			t.Errorf("%s: the text is no copy of the structured content: %+v", f.name, r)
		}
	}
}

// answer makes a call, and returns what its server answered.
func (f surface) answer(t *testing.T, token string) []byte {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, f.url, strings.NewReader(f.body))
	must(t, err)
	for name, value := range f.headers {
		r.Header.Set(name, value)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Authorization", "Bearer "+token)
	resp, err := testkit.Client.Do(r)
	must(t, err)
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: got %d %s %v", f.name, resp.StatusCode, body, err)
	}
	return body
}
