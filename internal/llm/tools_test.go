package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"countersign.dev/internal/agent"
	"countersign.dev/internal/llm/vendor"
)

func (s *replaying) modelWith(t *testing.T, provider, tools string, log *slog.Logger) agent.Model {
	t.Helper()
	c, err := provide(Options{Provider: provider, Tools: tools, Vendor: vendor.Options{Model: "m-1", BaseURL: s.URL, APIKey: testKey, KeyName: "THE_KEY"}}, Policy{Log: log})
	if err != nil {
		t.Fatal(err)
	}
	return c.Model
}

// withResult is a conversation in which a tool was called and has answered.
func withResult() agent.Request {
	r := question
	r.Messages = append(r.Messages[:1:1],
		agent.Message{Role: agent.Assistant, Parts: []agent.Part{agent.Opaque{Provider: "other", Data: json.RawMessage(`{"type":"foreign"}`)}, agent.Text("I look."), agent.Call{ID: "1", Tool: "list_employees", Args: json.RawMessage(`{"limit":50}`)}}},
		agent.Message{Role: agent.ToolRole, Parts: []agent.Part{agent.CallResult{ID: "1", Tool: "list_employees", Answer: json.RawMessage(`{"status":"success","data":"<<untrusted K>> x <<end K>>"}`)}}},
		agent.TextMessage(agent.System, "The change was denied."), agent.TextMessage(agent.User, "And now?"))
	return r
}

// A model without tools reads them in its instructions and results as text, and
// calls in its text, with every provider.
func TestToolsInTextOfEveryProvider(t *testing.T) {
	t.Parallel()
	for _, provider := range providers {
		s := replay(t, provider, reply{file: "blob"}, reply{file: "text"})
		m := s.modelWith(t, provider, ToolsBlob, nil)
		got := collect(t.Context(), m, question)
		if got.err != nil || got.text != "I look.\n" || got.stop != agent.StopCalls || len(got.calls) != 1 || got.calls[0].Tool != "list_employees" || string(got.calls[0].Args) != `{"limit": 50}` {
			t.Errorf("%s: got %+v", provider, got)
		}
		if got := collect(t.Context(), m, withResult()); got.err != nil || got.text != "Nina leads nine people." || got.stop != agent.StopEnd {
			t.Errorf("%s: got %+v", provider, got)
		}
		sent, err := json.Marshal(s.requests[1])
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{
			`{ \"tool\": \"name\", \"arguments\": {...} }`, `## files.read\nDoes files.read.\nArguments: {\"type\":\"object\"`,
			`I look.\n\n{ \"tool\": \"list_employees\", \"arguments\": {\"limit\":50} }`,
			`Result of list_employees:\n{\"status\":\"success\",\"data\":\"\u003c\u003cuntrusted K\u003e\u003e x \u003c\u003cend K\u003e\u003e\"}\n\nNote of the gateway, not of the person: The change was denied.\n\nAnd now?`,
		} {
			if !strings.Contains(string(sent), want) {
				t.Errorf("%s: the request lacks %s\n%s", provider, want, sent)
			}
		}
		if s.requests[1]["tools"] != nil || strings.Contains(string(sent), "foreign") {
			t.Errorf("%s: tools or another provider's part were sent", provider)
		}
	}
}

// What Ollama, vLLM and llama.cpp answer when a model has no tools is remembered,
// and logged once.
func TestRefusedToolsAreCalledInTextFromThenOn(t *testing.T) {
	t.Parallel()
	for name, refusal := range map[string]reply{
		"Ollama":    {status: 400, body: `{"error":{"message":"stablelm2:latest does not support tools","type":"api_error","param":null,"code":null}}`},
		"vLLM":      {status: 400, body: `{"object":"error","message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set","type":"BadRequestError","param":null,"code":400}`},
		"llama.cpp": {status: 500, body: `{"error":{"code":500,"message":"tools param requires --jinja flag","type":"server_error"}}`},
	} {
		var log bytes.Buffer
		s := replay(t, OpenAI, refusal, reply{file: "blob"}, reply{file: "text"})
		m := s.modelWith(t, OpenAI, "", slog.New(slog.NewTextHandler(&log, nil)))
		if got := collect(t.Context(), m, question); got.err != nil || got.text != "I look.\n" || len(got.calls) != 1 {
			t.Errorf("%s: got %+v", name, got)
		}
		if got := collect(t.Context(), m, withResult()); got.err != nil || got.text != "Nina leads nine people." {
			t.Errorf("%s: got %+v", name, got)
		}
		if s.requests[0]["tools"] == nil || s.requests[1]["tools"] != nil || s.requests[2]["tools"] != nil {
			t.Errorf("%s: tools were sent in %v", name, s.requests)
		}
		if n := strings.Count(log.String(), "has no tools"); n != 1 {
			t.Errorf("%s: logged %d times: %s", name, n, log.String())
		}
	}
}

// The log has what a provider said of a request that it rejected, and no key.
func TestReasonOfAProviderIsLogged(t *testing.T) {
	t.Parallel()
	for _, provider := range []string{Anthropic, Gemini, OpenAI} {
		var log bytes.Buffer
		s := replay(t, provider, reply{status: 400, body: `{"error":{"message":"the last message is too odd for ` + testKey + `"}}`})
		if got := collect(t.Context(), s.modelWith(t, provider, ToolsNative, slog.New(slog.NewTextHandler(&log, nil))), question); got.err == nil {
			t.Errorf("%s: got %+v", provider, got)
		}
		if said := log.String(); !strings.Contains(said, "answered 400") || !strings.Contains(said, "too odd for ***") || strings.Contains(said, testKey) {
			t.Errorf("%s: logged %s", provider, said)
		}
	}
}

// An event that was cut off holds a part of an answer, which is no line of a log.
func TestPieceOfAnAnswerIsNotLogged(t *testing.T) {
	t.Parallel()
	for _, provider := range providers {
		raw, err := os.ReadFile(filepath.Join("testdata", provider, "text.sse"))
		if err != nil {
			t.Fatal(err)
		}
		_, events, _ := strings.Cut(string(raw), "\n\n")
		cut := events[:strings.Index(events, "Nina")+len("Nina")]
		var log bytes.Buffer
		m, _ := replay(t, provider, slices.Repeat([]reply{{body: cut, header: map[string]string{"Content-Type": "text/event-stream"}}}, defaultRetries+1)...).model(t, provider)
		logged := m.(retrying)
		logged.log = slog.New(slog.NewTextHandler(&log, nil))
		got := collect(t.Context(), logged, question)
		said := log.String()
		for err := got.err; err != nil; err = errors.Unwrap(err) {
			said += err.Error()
		}
		if got.err == nil || !strings.Contains(said, "gave no answer") || strings.Contains(said, "Nina") {
			t.Errorf("%s: got %+v, logged %s", provider, got, said)
		}
	}
}

// A model that is configured with native tools keeps them.
func TestNativeToolsAreKept(t *testing.T) {
	t.Parallel()
	s := replay(t, OpenAI, reply{status: 400, body: `{"error":{"message":"m-1 does not support tools"}}`})
	if got := collect(t.Context(), s.modelWith(t, OpenAI, ToolsNative, nil), question); got.err == nil {
		t.Errorf("got %+v", got)
	}
	if _, err := provide(Options{Provider: OpenAI, Tools: "none", Vendor: vendor.Options{Model: "m"}}, Policy{}); err == nil {
		t.Error("an unknown way to call tools was accepted")
	}
}
