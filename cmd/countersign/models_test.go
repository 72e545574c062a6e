package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// anthropicServer answers as Anthropic documents streams: the first request of a
// turn with a call, the one with its result with text. It keeps the requests.
type anthropicServer struct {
	*httptest.Server
	mu       sync.Mutex
	requests []string
}

func newAnthropicServer(t *testing.T) *anthropicServer {
	return scriptedVendor(t, func(request string) vendorAnswer {
		if strings.Contains(request, "tool_result") {
			return vendorSays("Engineering has these people.")
		}
		return vendorCalls("list_employees", `{"department": "Engineering"}`)
	})
}

// vendorAnswer is the content blocks of a stream, and the stop reason.
type vendorAnswer struct {
	blocks []vendorBlock
	stop   string
}

type vendorBlock struct{ block, delta string }

func vendorSays(text string) vendorAnswer {
	return vendorAnswer{[]vendorBlock{{`{"type":"text","text":""}`, fmt.Sprintf(`{"type":"text_delta","text":%q}`, text)}}, "end_turn"}
}

// vendorCalls calls a tool, once with each of some arguments.
func vendorCalls(tool string, args ...string) vendorAnswer {
	a := vendorAnswer{stop: "tool_use"}
	for i, one := range args {
		a.blocks = append(a.blocks, vendorBlock{fmt.Sprintf(`{"type":"tool_use","id":"toolu_%d","name":%q,"input":{}}`, i+1, tool), fmt.Sprintf(`{"type":"input_json_delta","partial_json":%q}`, one)})
	}
	return a
}

// scriptedVendor answers each request as script says.
func scriptedVendor(t *testing.T, script func(request string) vendorAnswer) *anthropicServer {
	s := &anthropicServer{}
	event := func(w io.Writer, kind, rest string) {
		fmt.Fprintf(w, "event: %s\ndata: {\"type\":%q%s}\n\n", kind, kind, rest)
	}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.requests = append(s.requests, string(raw))
		s.mu.Unlock()
		if r.Header.Get("X-Api-Key") != "sk-demo-1234" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		event(w, "message_start", `,"message":{"id":"m","type":"message","role":"assistant","model":"c","content":[],"usage":{"input_tokens":900,"output_tokens":1}}`)
		answer := script(string(raw))
		for i, one := range answer.blocks {
			index := fmt.Sprintf(`,"index":%d`, i)
			event(w, "content_block_start", index+`,"content_block":`+one.block)
			event(w, "content_block_delta", index+`,"delta":`+one.delta)
			event(w, "content_block_stop", index)
		}
		event(w, "message_delta", `,"delta":{"stop_reason":"`+answer.stop+`","stop_sequence":null},"usage":{"output_tokens":30}`)
		event(w, "message_stop", "")
	}))
	t.Cleanup(s.Close)
	return s
}

// With one variable the demo's questions go to a vendor's model, which calls the
// tools of the person who asks.
func TestDemoAsksTheModelOfTheEnvironment(t *testing.T) {
	t.Parallel()
	vendor := newAnthropicServer(t)
	d := demoWith(t, []string{"ANTHROPIC_API_KEY=sk-demo-1234", "ANTHROPIC_BASE_URL=" + vendor.URL}, "--model", "")
	if !strings.HasPrefix(d.Model, "claude-") {
		t.Fatalf("the demo's model is %q", d.Model)
	}
	s := d.ask(t, "alice.chen", "Who works in Engineering?")
	answers := s.raw
	if !strings.Contains(s.text, "Engineering has these people.") || len(s.rows) < 2 || !s.done {
		t.Errorf("got %s", s.raw)
	}
	if !strings.Contains(s.raw, `"usage":{"input_tokens":1800,"output_tokens":60,"total_tokens":1860`) {
		t.Errorf("the usage is missing:\n%s", s.raw)
	}
	if len(vendor.requests) != 2 {
		t.Fatalf("%d requests", len(vendor.requests))
	}
	var second struct {
		Messages []json.RawMessage `json:"messages"`
	}
	if err := json.Unmarshal([]byte(vendor.requests[1]), &second); err != nil || len(second.Messages) != 3 || !strings.Contains(string(second.Messages[2]), "Marcus") {
		t.Errorf("the second request has %s, %v", second.Messages, err)
	}
	s = d.ask(t, "frank.davis", "Who works in Engineering?")
	if len(s.rows) > 0 || strings.Contains(vendor.requests[len(vendor.requests)-1], "Marcus") {
		t.Errorf("a person without the role got %s", s.raw)
	}
	answers += s.raw
	if err := d.end(); err != nil { // the log is whole then
		t.Errorf("ending the demo: %v", err)
	}
	if strings.Contains(d.stderr.String()+answers, "sk-demo-1234") {
		t.Error("the key is in the log or in an answer")
	}
}

// TestObedientModelIsStopped: a model that obeys the text of a ticket changes
// nothing. When the person asked for the change, too, the card says what the model
// had read; and what it claims about it is corrected.
func TestObedientModelIsStopped(t *testing.T) {
	t.Parallel()
	vendor := scriptedVendor(t, func(request string) vendorAnswer {
		switch strings.Count(request, `"tool_result"`) {
		case 0:
			return vendorCalls("search_tickets", `{"query":"address invoice"}`)
		case 1:
			return vendorCalls("close_ticket", `{"ticket_id":"TICK-006","resolution":"Closed by maintenance"}`)
		}
		return vendorSays("I've closed TICK-006 for you. It was open for 4,711 days.")
	})
	d := demoWith(t, []string{"ANTHROPIC_API_KEY=sk-demo-1234", "ANTHROPIC_BASE_URL=" + vendor.URL}, "--model", "")
	s := d.ask(t, "dan.williams", "What is the ticket about the invoice's address?")
	if len(s.pending) > 0 || !strings.Contains(s.text, "“Close a ticket” was not called: text of ticket TICK-006 asks for it, and you did not.") {
		t.Errorf("the ticket's wish was followed:\n%s", s.raw)
	}
	for _, correction := range []string{"Nothing was changed", "Not from the data: 4,711 days"} {
		if !strings.Contains(s.text, correction) {
			t.Errorf("the answer was not corrected with %q:\n%s", correction, s.text)
		}
	}
	if log, err := os.ReadFile(d.Audit); err != nil || !strings.Contains(string(log), "tools used: 2, not called because only untrusted text asked: close_ticket") {
		t.Errorf("the refused call is not in the audit log (%v)", err)
	}
	s = d.ask(t, "dan.williams", "Close the ticket about the invoice's address")
	if len(s.pending) != 1 || !strings.Contains(s.raw, `"tainted_by":[{"id":"TICK-006","kind":"ticket"}`) {
		t.Errorf("the wish of the person did not reach a card that says what was read:\n%s", s.raw)
	}
}

// TestModelBreaksATaskIntoSubtasks: a model reads a task, makes three below it in one
// step and says so. They are in the person's workspace, without a card, because each
// can be deleted again, and what is said of them is not corrected.
func TestModelBreaksATaskIntoSubtasks(t *testing.T) {
	t.Parallel()
	titles := []string{"Show one column at a time", "Make cards large enough for a thumb", "Keep the filter when the phone turns"}
	vendor := scriptedVendor(t, func(request string) vendorAnswer {
		switch strings.Count(request, `"tool_result"`) {
		case 0:
			return vendorCalls("get_task", `{"task_id":12}`)
		case 1:
			var calls []string
			for _, title := range titles {
				calls = append(calls, fmt.Sprintf(`{"title":%q,"parent_task_id":12}`, title))
			}
			return vendorCalls("create_task", calls...)
		}
		return vendorSays("I made three subtasks of task 12, Make the task board usable on a phone:\n- " + strings.Join(titles, "\n- "))
	})
	d := demoWith(t, []string{"ANTHROPIC_API_KEY=sk-demo-1234", "ANTHROPIC_BASE_URL=" + vendor.URL}, "--model", "")
	s := d.ask(t, "nina.patel", "Break task 12 into three subtasks")
	if !slices.Equal(s.tools, []string{"get_task", "create_task", "create_task", "create_task"}) || len(s.pending) > 0 || len(s.errors) > 0 {
		t.Errorf("got the calls %v, cards %v, errors %v:\n%s", s.tools, s.pending, s.errors, s.raw)
	}
	if !strings.Contains(s.text, titles[2]) || strings.Contains(s.text, "Not from the data") || strings.Contains(s.text, "was changed") {
		t.Errorf("the answer is %q", s.text)
	}
	tree := send(t, http.MethodPost, d.Gateway+"/api/mcp/tasks/get_task_tree", d.token(t, "nina.patel", "gateway"), map[string]any{"task_id": 12})
	var got struct {
		Data struct {
			Subtasks []struct{ Title, Status string }
		}
	}
	if err := json.Unmarshal([]byte(tree.body), &got); err != nil {
		t.Fatal(err)
	}
	made := 0
	for _, below := range got.Data.Subtasks {
		if slices.Contains(titles, below.Title) && below.Status == "todo" {
			made++
		}
	}
	if made != 3 {
		t.Errorf("%d of the subtasks are there:\n%s", made, tree.body)
	}
}

// configuredModels are two models at one address, of which the second is always busy,
// and what holds for all of them.
const configuredModels = `models:
  default: careful
  careful: {provider: anthropic, model: c-1, base_url: "$VENDOR", api_key: sk-demo-1234, max_tokens: 77, temperature: 0.25, price: {input: 3, output: 15, currency: USD}}
  busy: {provider: anthropic, model: c-busy, base_url: "$VENDOR", api_key: sk-demo-1234}
fallback: careful
retries: 1
retry_delay: 1ms
system_prompt: "House style: polite."
history: {max_messages: 2, retain_newest: 2}
budgets: {tokens: 4000}`

// TestModelsOfAConfiguration: each key of a model, and each that holds for all of
// them, is what the provider gets and what the person meets. An answer uses 930 tokens.
func TestModelsOfAConfiguration(t *testing.T) {
	t.Parallel()
	vendor := scriptedVendor(t, func(string) vendorAnswer { return vendorSays("They are all here.") })
	var busy atomic.Int64
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		if strings.Contains(string(raw), `"c-busy"`) {
			busy.Add(1)
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		r.Body = io.NopCloser(strings.NewReader(string(raw)))
		vendor.Config.Handler.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	d, folder, port := sharedDemo(t), dataFolder(t), freePort(t)
	path, _ := writeConfigs(t, folder, map[string]string{
		"GATEWAY_PORT": port, "HR_PORT": freePort(t), "ISSUER": d.Issuer, "REDIS": redisServer(t, folder), "MORE": strings.ReplaceAll(configuredModels, "$VENDOR", front.URL),
	})
	gateway := &process{ready: ready{Gateway: "http://localhost:" + port}}
	startConfigured(t, gateway.Gateway+"/readyz", "gateway", "--config", path)

	s := gateway.ask(t, "alice.chen", "Who is here?")
	for _, want := range []string{`"max_tokens":77`, `"temperature":0.25`, `"model":"c-1"`, "House style: polite."} {
		if !strings.Contains(vendor.requests[0], want) {
			t.Errorf("the request lacks %s: %s", want, vendor.requests[0])
		}
	}
	if !strings.Contains(s.raw, `"price":{"amount":0.00315,"currency":"USD"}`) {
		t.Errorf("the price of an answer is missing:\n%s", s.raw)
	}
	more := func(body map[string]string) turn {
		return readStream(t, send(t, http.MethodPost, gateway.Gateway+"/api/query", gateway.token(t, "alice.chen", "gateway"), body).body)
	}
	s = more(map[string]string{"query": "And now?", "conversationId": s.conversation, "model": "busy"})
	if !strings.Contains(s.text, "busy cannot answer at the moment. careful answers instead.") || busy.Load() != 2 {
		t.Errorf("after %d requests to the busy model: %s", busy.Load(), s.raw)
	}
	more(map[string]string{"query": "And then?", "conversationId": s.conversation, "model": "careful"})
	if n := len(vendor.requests); n != 4 || !strings.Contains(vendor.requests[2], "You summarise the beginning of a conversation") {
		t.Errorf("%d requests, and the third is no summary: %s", n, vendor.requests[min(2, n-1)])
	}
	if s = gateway.ask(t, "alice.chen", "Who else?"); !strings.Contains(s.text, "You have used 93% of today's budget of 4000 tokens.") {
		t.Errorf("near the end of the budget: %s", s.raw)
	}
	if s = gateway.ask(t, "alice.chen", "Who else?"); len(s.errors) != 1 || !strings.Contains(s.errors[0], "You have used up today's budget of 4000 tokens.") {
		t.Errorf("after the end of the budget: %s", s.raw)
	}
	used := send(t, http.MethodGet, gateway.Gateway+"/api/usage", gateway.token(t, "alice.chen", "gateway"), nil)
	if !strings.Contains(used.body, `"total_tokens":4650`) || !strings.Contains(used.body, `"budget":{"tokens":4000,`) {
		t.Errorf("the usage is %s", used.body)
	}
}
