package llm

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"countersign.dev/internal/agent"
)

// promptOf are the bytes of a request in the order in which its provider reads
// them, one piece a tool, instruction or message. Marks for the cache are no part of
// a prompt.
func promptOf(t *testing.T, provider string, raw []byte) (pieces []string) {
	t.Helper()
	raw = bytes.ReplaceAll(bytes.ReplaceAll(raw, []byte(`"cache_control":{"type":"ephemeral"},`), nil), []byte(`,"cache_control":{"type":"ephemeral"}`), nil)
	var body map[string]json.RawMessage
	if err := json.Unmarshal(raw, &body); err != nil {
		t.Fatal(err)
	}
	keys := map[string][]string{Anthropic: {"tools", "system", "messages"}, OpenAI: {"tools", "messages"}, Gemini: {"tools", "systemInstruction", "contents"}}
	for _, key := range keys[provider] {
		var list []json.RawMessage
		if err := json.Unmarshal(body[key], &list); err != nil {
			list = []json.RawMessage{body[key]}
		}
		if len(body[key]) == 0 {
			t.Fatalf("%s: the request has no %s", provider, key)
		}
		for _, piece := range list {
			pieces = append(pieces, string(piece))
		}
	}
	return pieces
}

// A provider's cache of prompts is of use only when a request begins, byte for
// byte, with what the one before it was.
func TestRequestsOfAConversationShareTheirBeginning(t *testing.T) {
	t.Parallel()
	for _, provider := range providers {
		s := replay(t, provider, reply{file: "text"}, reply{file: "text"}, reply{file: "text"})
		m, _ := s.model(t, provider)
		r := question
		calls, results := agent.Message{Role: agent.Assistant, Parts: []agent.Part{agent.Text("I look.")}}, agent.Message{Role: agent.ToolRole}
		for _, id := range []string{"c1", "c2"} {
			calls.Parts = append(calls.Parts, agent.Call{ID: id, Tool: "files.read", Args: json.RawMessage(`{"b":1,"a":2}`)})
			results.Parts = append(results.Parts, agent.CallResult{ID: id, Tool: "files.read", Answer: json.RawMessage(`{"status":"success"}`), Table: "rows: 1\na|b\n1|2"})
		}
		for _, more := range [][]agent.Message{nil, {calls, results}, {agent.TextMessage(agent.Assistant, "Nine."), agent.TextMessage(agent.User, "And now?")}} {
			r.Messages = append(slices.Clone(r.Messages), more...)
			if got := collect(t.Context(), m, r); got.err != nil {
				t.Fatalf("%s: %v", provider, got.err)
			}
		}
		for i := range 2 {
			before, after := promptOf(t, provider, s.raw[i]), promptOf(t, provider, s.raw[i+1])
			if len(after) <= len(before) || !slices.Equal(before, after[:len(before)]) {
				t.Errorf("%s: request %d does not begin as the one before it:\n%s\n\n%s", provider, i+2, strings.Join(before, "\n"), strings.Join(after, "\n"))
			}
		}
		if last := promptOf(t, provider, s.raw[2]); !strings.Contains(strings.Join(last, ""), `rows: 1\na|b\n1|2`) {
			t.Errorf("%s: the table is not in the request: %s", provider, last)
		}
	}
}

// A thought of one model goes to no other, of the same provider neither.
func TestSwitchOfTheModelDropsOpaqueParts(t *testing.T) {
	t.Parallel()
	for _, provider := range providers {
		s := replay(t, provider, reply{file: "text"})
		m, _ := s.model(t, provider)
		r := question
		thought := agent.Opaque{Provider: provider, Model: "an-older-model", Data: json.RawMessage(`{"type":"thinking","thinking":"secret thought","signature":"c2VjcmV0"}`)}
		r.Messages = append(slices.Clone(r.Messages), agent.Message{Role: agent.Assistant, Parts: []agent.Part{thought, agent.Text("Nine.")}}, agent.TextMessage(agent.User, "And now?"))
		if got := collect(t.Context(), m, r); got.err != nil {
			t.Fatalf("%s: %v", provider, got.err)
		}
		if sent := string(s.raw[0]); strings.Contains(sent, "secret") || strings.Contains(sent, "c2VjcmV0") || !strings.Contains(sent, "Nine.") {
			t.Errorf("%s: sent %s", provider, sent)
		}
	}
}
