package llm

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign.dev/internal/agent"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/llm/vendor"
	"countersign.dev/internal/result"
)

// The same conversations with every provider, over servers that replay what the
// vendors document, event by event.
var providers = []string{Anthropic, Gemini, OpenAI}

const testKey = "sk-test-0123456789"

// reply is one answer of a replaying server.
type reply struct {
	status int               // 0: 200
	file   string            // of events; or
	body   string            // something else
	header map[string]string // more headers
	stall  bool              // it never ends
}

// replaying serves replies in turn and keeps the requests.
type replaying struct {
	*httptest.Server
	replies []reply

	mu       sync.Mutex
	requests []map[string]any
	raw      [][]byte // of the requests
	keys     []string
	paths    []string
	left     chan struct{} // a stalled request was given up by its client
}

func replay(t *testing.T, provider string, replies ...reply) *replaying {
	s := &replaying{replies: replies, left: make(chan struct{}, 1)}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next := s.took(t, r)
		w.Header().Set("Content-Type", "application/json")
		for name, value := range next.header {
			w.Header().Set(name, value)
		}
		if next.status == 0 {
			next.status = http.StatusOK
		}
		if next.file != "" {
			raw, err := os.ReadFile(filepath.Join("testdata", provider, next.file+".sse"))
			if err != nil {
				t.Error(err)
			}
			w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
			_, next.body, _ = strings.Cut(string(raw), "\n\n") // before it is where it comes from
		}
		w.WriteHeader(next.status)
		fmt.Fprint(w, next.body)
		w.(http.Flusher).Flush()
		if next.stall {
			<-r.Context().Done()
			s.left <- struct{}{}
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// took keeps a request and returns its reply.
func (s *replaying) took(t *testing.T, r *http.Request) reply {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		t.Error(err)
	}
	var body map[string]any
	if err := json.Unmarshal(raw, &body); err != nil {
		t.Errorf("a request is not JSON: %v", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests, s.raw = append(s.requests, body), append(s.raw, raw)
	s.paths = append(s.paths, r.URL.Path)
	s.keys = append(s.keys, r.Header.Get("X-Api-Key")+r.Header.Get("X-Goog-Api-Key")+strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
	if len(s.requests) > len(s.replies) {
		t.Errorf("request %d was not expected", len(s.requests))
		return reply{status: http.StatusTeapot}
	}
	return s.replies[len(s.requests)-1]
}

// model makes the provider's model at the server. Its pauses are kept instead of
// waited for.
func (s *replaying) model(t *testing.T, provider string) (agent.Model, *[]time.Duration) {
	t.Helper()
	temperature := 0.5
	c, err := provide(Options{Provider: provider, Vendor: vendor.Options{Temperature: &temperature, Model: "m-1", BaseURL: s.URL, APIKey: testKey, KeyName: "THE_KEY"}}, Policy{})
	if err != nil {
		t.Fatal(err)
	}
	m, pauses := c.Model.(retrying), &[]time.Duration{}
	m.pause = func(ctx context.Context, d time.Duration) error { *pauses = append(*pauses, d); return ctx.Err() }
	return m, pauses
}

// collected is a whole answer.
type collected struct {
	text   string
	calls  []agent.Call
	opaque []agent.Opaque
	usage  agent.Usage
	stop   agent.StopReason
	err    error
}

func collect(ctx context.Context, m agent.Model, r agent.Request) (c collected) {
	for d, err := range m.Stream(ctx, r) {
		c.err = err
		c.text += d.Text
		c.stop = d.Stop
		if d.Call != nil {
			c.calls = append(c.calls, *d.Call)
		}
		if d.Opaque != nil {
			c.opaque = append(c.opaque, *d.Opaque)
		}
		if d.Usage != nil {
			c.usage.InputTokens += d.Usage.InputTokens
			c.usage.OutputTokens += d.Usage.OutputTokens
			c.usage.CachedTokens += d.Usage.CachedTokens
		}
	}
	return c
}

var question = agent.Request{
	System: "Be brief.", Messages: []agent.Message{agent.TextMessage(agent.User, "Who is on my team?")},
	Tools: []agent.Tool{declared("list_budgets"), declared("list_employees"), declared("files.read")},
}

func declared(name string) agent.Tool {
	return agent.Tool{ToolInfo: result.ToolInfo{
		Name: name, Description: "Does " + name + ".", InputSchema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"integer"}}}`),
	}}
}

func TestAnswersOfEveryProvider(t *testing.T) {
	t.Parallel()
	for _, provider := range providers {
		for _, c := range []struct {
			file  string
			text  string
			calls string // tool and arguments, as JSON
			stop  agent.StopReason
			usage agent.Usage
		}{
			{"text", "Nina leads nine people.", "", agent.StopEnd, agent.Usage{InputTokens: 420, OutputTokens: 35, CachedTokens: 400}},
			{"call", "I look that up.", `list_employees {"limit":50,"manager_id":"e1"}`, agent.StopCalls, agent.Usage{InputTokens: 420, OutputTokens: 119}},
			{"two_calls", "", `list_employees {"a":1}; list_budgets {"a":2}`, agent.StopCalls, agent.Usage{InputTokens: 420, OutputTokens: 137}},
			{"five_calls", "", `list_employees {"a":0}; list_employees {"a":1}; list_employees {"a":2}; list_employees {"a":3}; list_employees {"a":4}`, agent.StopCalls, agent.Usage{InputTokens: 420, OutputTokens: 200}},
			{"refusal", "I would rather not.", "", agent.StopRefusal, agent.Usage{InputTokens: 420, OutputTokens: 9}},
			{"length", "A long answer that", "", agent.StopLength, agent.Usage{InputTokens: 420, OutputTokens: 64}},
		} {
			s := replay(t, provider, reply{file: c.file})
			m, _ := s.model(t, provider)
			got := collect(t.Context(), m, question)
			if got.err != nil || got.text != c.text || got.stop != c.stop || got.usage != c.usage {
				t.Errorf("%s, %s: got %+v", provider, c.file, got)
			}
			var calls, ids []string
			for _, call := range got.calls {
				calls, ids = append(calls, call.Tool+" "+sorted(t, call.Args)), append(ids, call.ID)
			}
			if strings.Join(calls, "; ") != c.calls {
				t.Errorf("%s, %s: got the calls %q", provider, c.file, calls)
			}
			if slices.Sort(ids); provider != Gemini && (len(slices.Compact(ids)) != len(got.calls) || slices.Contains(ids, "")) { // Gemini need not name calls
				t.Errorf("%s, %s: the calls have the ids %q", provider, c.file, ids)
			}
			if s.keys[0] != testKey {
				t.Errorf("%s: the key sent is %q", provider, s.keys[0])
			}
		}
	}
}

// sorted writes arguments with their names in order.
func sorted(t *testing.T, args json.RawMessage) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(args, &v); err != nil {
		t.Errorf("the arguments %s: %v", args, err)
	}
	raw, _ := json.Marshal(v)
	return string(raw)
}

// Some servers count every call as the first, and say stop when they call.
func TestCallsOfServersThatCountThemAsOne(t *testing.T) {
	t.Parallel()
	m, _ := replay(t, OpenAI, reply{file: "same_index"}).model(t, OpenAI)
	got := collect(t.Context(), m, question)
	if got.stop != agent.StopCalls || len(got.calls) != 2 || string(got.calls[0].Args) != `{"a":1}` || got.calls[1].Tool != "list_budgets" {
		t.Errorf("got %+v", got)
	}
}

// The second request of a step carries the first answer as it came, its results
// right after its calls, and nothing of another provider.
func TestConversationsGoBackAsTheyCame(t *testing.T) {
	t.Parallel()
	for _, provider := range providers {
		s := replay(t, provider, reply{file: "call"}, reply{file: "text"})
		m, _ := s.model(t, provider)
		first := collect(t.Context(), m, question)
		first.calls[0].ID = cmp.Or(first.calls[0].ID, "call_1_1") // as a turn names it
		answer := agent.Message{Role: agent.Assistant}
		for _, o := range first.opaque {
			answer.Parts = append(answer.Parts, o)
		}
		answer.Parts = append(answer.Parts, agent.Opaque{Provider: "other", Model: "m-1", Data: json.RawMessage(`{"type":"foreign"}`)}, agent.Text(first.text), first.calls[0])
		r := question
		r.Messages = append(slices.Clone(question.Messages), answer,
			agent.Message{Role: agent.ToolRole, Parts: []agent.Part{agent.CallResult{ID: first.calls[0].ID, Tool: "list_employees", Answer: json.RawMessage(`{"status":"success"}`)}}},
			agent.TextMessage(agent.System, "The change was denied."), agent.TextMessage(agent.User, "And now?"))
		if got := collect(t.Context(), m, r); got.err != nil || got.text == "" {
			t.Fatalf("%s: got %+v", provider, got)
		}
		sent, err := json.Marshal(s.requests[1])
		if err != nil {
			t.Fatal(err)
		}
		want := map[string][]string{
			Anthropic: {
				`"system":[{"cache_control":{"type":"ephemeral"},"text":"Be brief.","type":"text"}]`,
				`{"content":[{"signature":"EsQDCkYICBgCKkBr9+example/sig==","thinking":"The person asks for a team.","type":"thinking"},{"text":"I look that up.","type":"text"},` +
					`{"id":"toolu_01A","input":{"limit":50,"manager_id":"e1"},"name":"list_employees","type":"tool_use"}],"role":"assistant"},` +
					`{"content":[{"cache_control":{"type":"ephemeral"},"content":[{"text":"{\"status\":\"success\"}","type":"text"}],"is_error":false,"tool_use_id":"toolu_01A","type":"tool_result"}],"role":"user"}`,
				`"input_schema":{"properties":{"a":{"type":"integer"}},"type":"object"},"name":"files_read"`,
				`"text":"Note of the gateway, not of the person: The change was denied."`,
				`{"cache_control":{"type":"ephemeral"},"text":"And now?","type":"text"}`,
				`"max_tokens":4096`, `"temperature":0.5`,
			},
			OpenAI: {
				`{"content":"Be brief.","role":"system"}`,
				`{"content":"I look that up.","role":"assistant","tool_calls":[{"function":{"arguments":"{\"manager_id\": \"e1\", \"limit\": 50}","name":"list_employees"},"id":"call_01A","type":"function"}]},` +
					`{"content":"{\"status\":\"success\"}","role":"tool","tool_call_id":"call_01A"}`,
				`"name":"files_read","parameters":{"properties":{"a":{"type":"integer"}},"type":"object"}`,
				`{"content":"Note of the gateway, not of the person: The change was denied.","role":"user"}`,
				`"max_tokens":4096`, `"stream_options":{"include_usage":true}`, `"temperature":0.5`,
			},
			Gemini: {
				`"systemInstruction":{"parts":[{"text":"Be brief."}],"role":"user"}`,
				`{"parts":[{"text":"I look that up."},{"functionCall":{"args":{"limit":50,"manager_id":"e1"},"id":"call_1_1","name":"list_employees"},"thoughtSignature":"CiQB0e2Kb02QlBJ2I5/zDqv1c0AUEV+C"}],"role":"model"},` +
					`{"parts":[{"functionResponse":{"id":"call_1_1","name":"list_employees","response":{"output":{"status":"success"}}}}],"role":"user"}`,
				`"name":"files_read","parametersJsonSchema":{"properties":{"a":{"type":"integer"}},"type":"object"}`,
				`{"parts":[{"text":"Note of the gateway, not of the person: The change was denied."}],"role":"user"}`,
				`"maxOutputTokens":4096`, `"temperature":0.5`,
			},
		}[provider]
		for _, w := range want {
			if !strings.Contains(string(sent), w) {
				t.Errorf("%s: the request lacks %s\n%s", provider, w, sent)
			}
		}
		if strings.Contains(string(sent), "foreign") {
			t.Errorf("%s: another provider's part was sent", provider)
		}
	}
}

// A filter that stops an answer, or the question, declines it.
func TestWhatAFilterStopsIsDeclined(t *testing.T) {
	t.Parallel()
	for provider, text := range map[string]string{Gemini: "", OpenAI: "A long answer that"} {
		m, _ := replay(t, provider, reply{file: "blocked"}).model(t, provider)
		if got := collect(t.Context(), m, question); got.err != nil || got.text != text || got.stop != agent.StopRefusal {
			t.Errorf("%s: got %+v", provider, got)
		}
	}
}

// A tool of another company has a name that providers do not take. A call comes back
// under its own, and a result that failed says so where the provider has a place.
func TestNamesAndFailuresOfTools(t *testing.T) {
	t.Parallel()
	failed := map[string]string{Anthropic: `"is_error":true`, Gemini: `"response":{"error":{"status":"error"}}`, OpenAI: `"content":"{\"status\":\"error\"}"`}
	for _, provider := range providers {
		raw, err := os.ReadFile(filepath.Join("testdata", provider, "call.sse"))
		if err != nil {
			t.Fatal(err)
		}
		_, events, _ := strings.Cut(strings.ReplaceAll(string(raw), "list_employees", "files_read"), "\n\n")
		s := replay(t, provider, reply{body: events, header: map[string]string{"Content-Type": "text/event-stream"}}, reply{file: "text"})
		m, _ := s.model(t, provider)
		first := collect(t.Context(), m, question)
		if len(first.calls) != 1 || first.calls[0].Tool != "files.read" {
			t.Fatalf("%s: got %+v", provider, first)
		}
		r, call := question, first.calls[0]
		r.Messages = append(slices.Clone(question.Messages), agent.Message{Role: agent.Assistant, Parts: []agent.Part{call}},
			agent.Message{Role: agent.ToolRole, Parts: []agent.Part{agent.CallResult{ID: call.ID, Tool: call.Tool, Answer: json.RawMessage(`{"status":"error"}`), Failed: true}}})
		collect(t.Context(), m, r)
		if sent, _ := json.Marshal(s.requests[1]); !strings.Contains(string(sent), failed[provider]) {
			t.Errorf("%s: the request lacks %s\n%s", provider, failed[provider], sent)
		}
	}
}

// The signature of a text goes back in the part that it came in.
func TestSignaturesOfTextsGoBack(t *testing.T) {
	t.Parallel()
	s := replay(t, Gemini, reply{file: "signed_text"}, reply{file: "text"})
	m, _ := s.model(t, Gemini)
	first := collect(t.Context(), m, question)
	if first.text != "Nina leads nine people." || len(first.opaque) != 2 {
		t.Fatalf("got %+v", first)
	}
	r := question
	answer := agent.Message{Role: agent.Assistant, Parts: []agent.Part{first.opaque[0], agent.Text(first.text), first.opaque[1]}}
	r.Messages = append(slices.Clone(question.Messages), answer, agent.TextMessage(agent.User, "And now?"))
	collect(t.Context(), m, r)
	sent, _ := json.Marshal(s.requests[1]["contents"])
	if want := `{"parts":[{"text":"Nina leads nine people.","thoughtSignature":"c2lnbmVkIHRleHQ="},{"thoughtSignature":"bGFzdCBwYXJ0"}],"role":"model"}`; !strings.Contains(string(sent), want) {
		t.Errorf("sent %s, want %s", sent, want)
	}
}

// Callers that failed together do not come back together.
func TestPausesDiffer(t *testing.T) {
	t.Parallel()
	m, failed, pauses := retrying{retries: 3, delay: time.Second}, &vendor.Failure{Retry: true, Fault: fault.TooManyRequests.New("busy")}, map[time.Duration]bool{}
	for range 20 {
		pause, _ := m.pauseBefore(failed, 0)
		pauses[pause] = true
	}
	if len(pauses) < 2 {
		t.Errorf("all of 20 callers wait for %v", pauses)
	}
}

// Failures: each ends in one answer or in one error that says what to do, and
// nothing of an answer comes twice.
func TestFailuresOfEveryProvider(t *testing.T) {
	t.Parallel()
	after := map[string]string{"Retry-After": "2"}
	long := map[string]string{"Retry-After": "3600"}
	for _, provider := range providers {
		for _, c := range []struct {
			name    string
			replies []reply
			text    string // that was shown
			says    string // of the error; empty: none
			code    *fault.Code
			pauses  string // "b": by backoff
		}{
			{"a key that is not accepted", []reply{{status: 401, body: `{"error":{"type":"authentication_error","message":"invalid key ` + testKey + `"}}`}}, "", "The model's key is not accepted. Check THE_KEY.", fault.ServiceDown, ""},
			{"a time to wait in the body", []reply{{status: 429, body: `{"error":{"code":429,"details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"3s"}]}}`}, {file: "text"}}, "Nina leads nine people.", "", nil, "3s"},
			{"a model that is not known", []reply{{status: 404, body: `{"error":{"type":"not_found_error"}}`}}, "", `The provider knows no model "m-1"`, fault.ServiceDown, ""},
			{"a request that is not accepted", []reply{{status: 400, body: `{"error":{}}`}}, "", "rejected the request", fault.ServiceDown, ""},
			{"429, then an answer", []reply{{status: 429, header: after}, {file: "text"}}, "Nina leads nine people.", "", nil, "2s"},
			{"429 without a time", []reply{{status: 429}, {status: 429}, {file: "text"}}, "Nina leads nine people.", "", nil, "b b"},
			{"429 for an hour", []reply{{status: 429, header: long}}, "", "too many requests", fault.TooManyRequests, ""},
			{"529 for ever", []reply{{status: 529}, {status: 529}, {status: 529}, {status: 529}}, "", "too many requests", fault.TooManyRequests, "b b b"},
			{"500, then an answer", []reply{{status: 500, body: "oops"}, {file: "text"}}, "Nina leads nine people.", "", nil, "b"},
			{"an error before the text", []reply{{file: "error_first"}, {file: "text"}}, "Nina leads nine people.", "", nil, "b"},
			{"an error after some text", []reply{{file: "error_later"}}, "Nina leads nine", "gain in a moment", nil, ""},
			{"a stream that ends before the text", []reply{{file: "cut_first"}, {file: "text"}}, "Nina leads nine people.", "", nil, "b"},
			{"a stream that ends in the text", []reply{{file: "cut_later"}}, "Nina leads nine", "the connection broke", fault.ServiceDown, ""},
			{"a page instead of a stream", []reply{{body: "<html>Welcome to the hotel</html>", header: map[string]string{"Content-Type": "text/html"}}}, "", "does not answer as a model. Check the model's base_url", fault.ServiceDown, ""},
			{"a redirect", []reply{{status: 307, header: map[string]string{"Location": "/elsewhere", "Content-Type": "text/event-stream"}}}, "", "does not answer as a model", fault.ServiceDown, ""},
		} {
			s := replay(t, provider, c.replies...)
			m, pauses := s.model(t, provider)
			got := collect(t.Context(), m, question)
			if got.text != c.text || (got.err == nil) != (c.says == "") {
				t.Errorf("%s, %s: got %+v", provider, c.name, got)
				continue
			}
			checkPauses(t, provider+", "+c.name, *pauses, strings.Fields(c.pauses))
			if len(s.requests) != len(c.replies) {
				t.Errorf("%s, %s: %d requests, want %d", provider, c.name, len(s.requests), len(c.replies))
			}
			if c.says == "" {
				continue
			}
			f := fault.From(got.err)
			if shown := f.Message + " " + f.SuggestedAction; !strings.Contains(shown, c.says) {
				t.Errorf("%s, %s: the error says %q, want %q", provider, c.name, shown, c.says)
			}
			if c.code != nil && f.Code != c.code {
				t.Errorf("%s, %s: the code is %s, want %s", provider, c.name, f.Code.Name, c.code.Name)
			}
			for err := got.err; err != nil; err = errors.Unwrap(err) {
				if strings.Contains(err.Error(), testKey) {
					t.Errorf("%s, %s: the key is in the error: %v", provider, c.name, err)
				}
			}
		}
	}
}

// checkPauses compares pauses with durations, or with the backoff of their try.
func checkPauses(t *testing.T, name string, got []time.Duration, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: paused %v, want %v", name, got, want)
		return
	}
	for i, w := range want {
		if longest := defaultDelay << i; w == "b" && (got[i] < longest/2 || got[i] > longest) || w != "b" && got[i].String() != w {
			t.Errorf("%s: pause %d is %s, want %s", name, i, got[i], w)
		}
	}
}

// A turn that is cancelled, or whose time is over, ends the vendor's work too.
func TestCancelReachesTheProvider(t *testing.T) {
	t.Parallel()
	for _, provider := range providers {
		s := replay(t, provider, reply{file: "cut_later", stall: true})
		m, _ := s.model(t, provider)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var last error
		for d, err := range m.Stream(ctx, question) {
			if d.Text != "" {
				cancel()
			}
			last = err
		}
		if !errors.Is(last, context.Canceled) {
			t.Errorf("%s: ended with %v", provider, last)
		}
		<-s.left
	}
}

// A reader that stops reading ends the vendor's work too.
func TestBreakReachesTheProvider(t *testing.T) {
	t.Parallel()
	for _, provider := range providers {
		s := replay(t, provider, reply{file: "cut_later", stall: true})
		m, _ := s.model(t, provider)
		for d := range m.Stream(t.Context(), question) {
			if d.Text != "" {
				break
			}
		}
		<-s.left
	}
}

func TestModelsNeedAName(t *testing.T) {
	t.Parallel()
	for provider, want := range map[string]string{Anthropic: "no model is named", Gemini: "no model is named", OpenAI: "no model is named", "other": "no model is named"} {
		if _, err := New(map[string]Options{"x": {Provider: provider}}, Policy{Default: "x"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", provider, err, want)
		}
	}
	if _, err := New(map[string]Options{"x": {Provider: Gemini, Vendor: vendor.Options{Model: "m"}}}, Policy{Default: "x"}); err == nil || !strings.Contains(err.Error(), "GEMINI_API_KEY") {
		t.Errorf("gemini without a key: %v", err)
	}
}
