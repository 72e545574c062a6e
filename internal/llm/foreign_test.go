package llm

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"countersign.dev/internal/agent"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/llm/vendor"
)

// One tool of a connected server, whose schema a provider does not take as it is,
// would make every request fail.
func TestSchemasOfOtherServersAreSentAsProvidersTakeThem(t *testing.T) {
	t.Parallel()
	for _, provider := range providers {
		s := replay(t, provider, reply{file: "text"})
		m, _ := s.model(t, provider)
		r := question
		either, none := declared("notion.attach"), declared("aws.list_regions")
		either.InputSchema = json.RawMessage(`{"type":"object","anyOf":[{"properties":{"content":{"type":"string"}},"required":["content"]},{"properties":{"source_url":{"type":"string"}}}]}`)
		none.InputSchema = json.RawMessage(`{"type":"object"}`)
		r.Tools = []agent.Tool{either, none}
		if got := collect(t.Context(), m, r); got.err != nil {
			t.Fatalf("%s: %v", provider, got.err)
		}
		sent, _ := json.Marshal(s.requests[0]["tools"])
		for _, want := range []string{`{"properties":{"content":{"type":"string"},"source_url":{"type":"string"}},"type":"object"}`, `{"properties":{},"type":"object"}`} {
			if !strings.Contains(string(sent), want) {
				t.Errorf("%s: the tools lack %s\n%s", provider, want, sent)
			}
		}
	}
}

// An answer that Gemini itself could not read is asked for again.
func TestMalformedCallIsAskedForAgain(t *testing.T) {
	t.Parallel()
	m, pauses := replay(t, Gemini, reply{file: "malformed"}, reply{file: "text"}).model(t, Gemini)
	if got := collect(t.Context(), m, question); got.err != nil || got.text != "Nina leads nine people." || len(*pauses) != 1 {
		t.Errorf("got %+v after %v", got, *pauses)
	}
	always := slices.Repeat([]reply{{file: "malformed"}}, defaultRetries+1)
	m, _ = replay(t, Gemini, always...).model(t, Gemini)
	if got := collect(t.Context(), m, question); got.err == nil || fault.From(got.err).Message != fault.TriesFailed {
		t.Errorf("got %+v", got)
	}
}

// Gemini may leave out the arguments of a call that needs none.
func TestCallWithoutArguments(t *testing.T) {
	t.Parallel()
	events := `data: {"candidates": [{"content": {"parts": [{"functionCall": {"name": "list_budgets"}}], "role": "model"}, "finishReason": "STOP", "index": 0}]}` + "\n\n"
	m, _ := replay(t, Gemini, reply{body: events, header: map[string]string{"Content-Type": "text/event-stream"}}).model(t, Gemini)
	if got := collect(t.Context(), m, question); got.err != nil || len(got.calls) != 1 || len(got.calls[0].Args) > 0 {
		t.Errorf("got %+v", got)
	}
}

// Gemini rejects a call of the running turn that has no signature. Where another model
// made it, and Gemini goes on, the first call of each step has what Google documents
// instead; for its newer models alone.
func TestCallsOfAnotherModelAreSignedForGemini(t *testing.T) {
	t.Parallel()
	for model, want := range map[string]int{"gemini-3.5-flash": 2, "models/gemini-3-pro-preview": 2, "gemini-2.5-flash": 0} {
		s := replay(t, Gemini, reply{file: "text"})
		c, err := provide(Options{Provider: Gemini, Vendor: vendor.Options{Model: model, BaseURL: s.URL, APIKey: testKey}}, Policy{})
		if err != nil {
			t.Fatal(err)
		}
		var turns []agent.Message
		for _, asked := range []string{"Who is on my team?", "And now?"} {
			calls, results := agent.Message{Role: agent.Assistant}, agent.Message{Role: agent.ToolRole}
			for _, id := range []string{asked[:3] + "1", asked[:3] + "2"} {
				calls.Parts = append(calls.Parts, agent.Call{ID: id, Tool: "list_employees", Args: json.RawMessage(`{}`)})
				results.Parts = append(results.Parts, agent.CallResult{ID: id, Tool: "list_employees", Answer: json.RawMessage(`{"status":"success"}`)})
			}
			turns = append(turns, agent.TextMessage(agent.User, asked), calls, results)
		}
		r := question
		r.Messages = turns
		if got := collect(t.Context(), c.Model, r); got.err != nil {
			t.Fatalf("%s: %v", model, got.err)
		}
		sent, _ := json.Marshal(s.requests[0]["contents"])
		const signed = `"functionCall":{"id":"And1","name":"list_employees"},"thoughtSignature":"c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="`
		if n := strings.Count(string(sent), "thoughtSignature"); n != want || want > 0 && !strings.Contains(string(sent), signed) {
			t.Errorf("%s: %d signatures: %s", model, n, sent)
		}
	}
}
