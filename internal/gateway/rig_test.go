package gateway_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/alicebob/miniredis/v2"

	"countersign.dev/internal/access"
	"countersign.dev/internal/agent"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/gateway"
	"countersign.dev/internal/result"
	"countersign.dev/internal/seal"
	"countersign.dev/internal/state"
	"countersign.dev/internal/testkit"
)

// rig is a gateway on loopback over a real Redis protocol, with a scripted model
// and scripted servers.
type rig struct {
	t       testing.TB
	gateway *gateway.Gateway
	url     string
	redis   *state.Redis
	mini    *miniredis.Miniredis
	desk    *confirm.Desk
	journal *testkit.Journal
	servers *servers
	model   *model
	login   *login
}

func newRig(t testing.TB, change ...func(*gateway.Options)) *rig {
	mini := miniredis.RunT(t)
	return rigOn(t, mini, change...)
}

// rigOn starts one more replica on the same Redis.
func rigOn(t testing.TB, mini *miniredis.Miniredis, change ...func(*gateway.Options)) *rig {
	redis, err := state.Open(context.Background(), "redis://"+mini.Addr(), nil)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, redis: redis, mini: mini, journal: &testkit.Journal{}, model: newModel(), login: &login{}}
	r.desk = confirm.NewDesk(state.NewConfirmations(redis), r.journal, time.Now)
	r.servers = newServers(r.desk)
	cookies, err := seal.NewRing("cookie", bytes.Repeat([]byte("k"), 32))
	if err != nil {
		t.Fatal(err)
	}
	o := gateway.Options{
		PublicURL: "http://gateway.test", Issuers: []string{"https://issuer.test"}, Verify: verify, Login: r.login, Cookies: cookies,
		Model: r.model, Servers: r.servers, Desk: r.desk, Redis: redis, Audit: r.journal,
		Web: fstest.MapFS{"index.html": {Data: []byte("<!doctype html>page")}, "app.js": {Data: []byte("//")}},
	}
	for _, c := range change {
		c(&o)
	}
	if r.gateway, err = gateway.New(o); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(r.gateway.Handler())
	r.url = server.URL
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		r.model.release()
		if err := r.gateway.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		server.Close()
		_ = redis.Close()
	})
	return r
}

// verify takes tokens of the form name:role,role.
func verify(_ context.Context, token string) (*access.Principal, error) {
	name, roles, ok := strings.Cut(token, ":")
	if !ok {
		return nil, fault.Unauthorized.New("The token is not valid.")
	}
	var list []access.Role
	for role := range strings.SplitSeq(roles, ",") {
		list = append(list, access.Role(role))
	}
	return testkit.Person(name, list...), nil
}

const (
	alice = "alice.chen:hr-read,hr-write"
	frank = "frank.davis:employee"
)

// send makes one request as a person; body is JSON or empty.
func (r *rig) send(method, path, token, body string, headers ...string) *http.Response {
	r.t.Helper()
	return r.sendCtx(context.Background(), method, path, token, body, headers...)
}

func (r *rig) sendCtx(ctx context.Context, method, path, token, body string, headers ...string) *http.Response {
	r.t.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second) // a stream that never ends fails its test
	r.t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, method, r.url+path, reader)
	if err != nil {
		r.t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

// read returns the status and the body of a whole answer.
func (r *rig) read(resp *http.Response) (int, string) {
	r.t.Helper()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

func (r *rig) get(path, token string, into any) int {
	r.t.Helper()
	status, body := r.read(r.send("GET", path, token, ""))
	if into != nil {
		if err := json.Unmarshal([]byte(body), into); err != nil {
			r.t.Fatalf("%s: %v in %s", path, err, body)
		}
	}
	return status
}

// event is one server-sent event.
type event struct{ id, data string }

// stream reads the events of an answer one by one.
type stream struct {
	t    testing.TB
	resp *http.Response
	scan *bufio.Scanner
}

func (r *rig) stream(resp *http.Response) *stream {
	r.t.Helper()
	if got := resp.Header.Get("Content-Type"); resp.StatusCode != 200 || got != "text/event-stream" {
		_, body := r.read(resp)
		r.t.Fatalf("got %d %s %s, want a stream", resp.StatusCode, got, body)
	}
	return &stream{r.t, resp, bufio.NewScanner(resp.Body)}
}

// next returns the next event; ok is false at the end of the stream.
func (s *stream) next() (e event, ok bool) {
	for s.scan.Scan() {
		switch line := s.scan.Text(); {
		case strings.HasPrefix(line, "id: "):
			e.id = line[4:]
		case strings.HasPrefix(line, "data: "):
			e.data = line[6:]
		case line == "" && e.data != "":
			return e, true
		}
	}
	return e, false
}

// rest reads until [DONE], which it includes, or the end.
func (s *stream) rest() (all []event) {
	for {
		e, ok := s.next()
		if !ok {
			return all
		}
		all = append(all, e)
		if e.data == "[DONE]" {
			return all
		}
	}
}

// ask asks in a conversation ("" for a new one) and returns the whole turn.
func (r *rig) ask(token, question, conversation string) []event {
	r.t.Helper()
	return r.stream(r.send("POST", "/api/query", token, askBody(question, conversation))).rest()
}

func askBody(question, conversation string) string {
	b, _ := json.Marshal(map[string]string{"query": question, "conversationId": conversation})
	return string(b)
}

// conversationOf reads the id out of a turn's start event.
func conversationOf(t testing.TB, events []event) string {
	t.Helper()
	var start struct{ Type, ConversationID string }
	if len(events) == 0 || json.Unmarshal([]byte(events[0].data), &start) != nil || start.Type != "start" {
		t.Fatalf("got %v, want a start event first", events)
	}
	return start.ConversationID
}

func dataOf(events []event) string {
	var b strings.Builder
	for _, e := range events {
		b.WriteString(e.data + "\n")
	}
	return b.String()
}

// model plays what its script has for a question: one step per model call.
type model struct {
	mu     sync.Mutex
	asked  []agent.Request
	script map[string][]step
	gate   chan struct{} // "wait" steps wait for it
	once   sync.Once
}

type step func(ctx context.Context, m *model, yield func(agent.Delta, error) bool)

func newModel() *model {
	return &model{script: make(map[string][]step), gate: make(chan struct{})}
}

func (m *model) release() { m.once.Do(func() { close(m.gate) }) }

func (m *model) Name() string { return "script" }

func (m *model) Stream(ctx context.Context, r agent.Request) iter.Seq2[agent.Delta, error] {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked = append(m.asked, r)
	question, rounds := "", 0
	for _, message := range r.Messages {
		switch message.Role {
		case agent.User:
			question, rounds = message.Text, 0
		case agent.Assistant:
			rounds++
		}
	}
	steps := m.script[question]
	if len(steps) == 0 {
		steps = []step{says("You said: " + question)}
	}
	play := steps[min(rounds, len(steps)-1)]
	return func(yield func(agent.Delta, error) bool) { play(ctx, m, yield) }
}

func (m *model) lastAsked() agent.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.asked[len(m.asked)-1]
}

func says(pieces ...string) step {
	return func(_ context.Context, _ *model, yield func(agent.Delta, error) bool) {
		for _, p := range pieces {
			if !yield(agent.Delta{Text: p}, nil) {
				return
			}
		}
		yield(agent.Delta{Usage: &agent.Usage{InputTokens: 7, OutputTokens: 3}}, nil)
	}
}

func calls(names ...string) step {
	return func(_ context.Context, _ *model, yield func(agent.Delta, error) bool) {
		for i, name := range names {
			if !yield(agent.Delta{Call: &agent.Call{ID: fmt.Sprintf("c%d", i+1), Tool: name, Args: json.RawMessage(`{"n":1}`)}}, nil) {
				return
			}
		}
	}
}

func fails(_ context.Context, _ *model, yield func(agent.Delta, error) bool) {
	if yield(agent.Delta{Text: "Let me see. "}, nil) {
		yield(agent.Delta{}, errors.New("the vendor at 10.0.0.1 said no"))
	}
}

// waits says something and then waits for the gate or the end of the turn.
func waits(ctx context.Context, m *model, yield func(agent.Delta, error) bool) {
	if !yield(agent.Delta{Text: "One moment. "}, nil) {
		return
	}
	select {
	case <-m.gate:
		yield(agent.Delta{Text: "Done."}, nil)
	case <-ctx.Done():
		yield(agent.Delta{}, ctx.Err())
	}
}

// servers is one server "hr" with tools that tests script. Confirmations live on
// the real desk.
type servers struct {
	desk *confirm.Desk
	mu   sync.Mutex
	made map[confirm.ID]json.RawMessage // receipts: what was really changed
	call map[string]func(ctx context.Context, args json.RawMessage) result.Outcome
	down []agent.Warning
	fail error // of Execute
}

func newServers(d *confirm.Desk) *servers {
	s := &servers{desk: d, made: make(map[confirm.ID]json.RawMessage)}
	s.call = map[string]func(context.Context, json.RawMessage) result.Outcome{
		"list_employees": func(context.Context, json.RawMessage) result.Outcome {
			return result.Outcome{Data: json.RawMessage(`[{"name":"Nina Patel"},{"name":"Frank Davis"}]`), Page: &result.Page{Limit: 2, Returned: 2, More: true, Next: "CURSOR", Noun: "employees", Narrow: "department"}}
		},
		"delete_employee": func(ctx context.Context, args json.RawMessage) result.Outcome {
			return s.pend(ctx, "Frank Davis", args)
		},
		"update_salary": func(ctx context.Context, args json.RawMessage) result.Outcome {
			return s.pend(ctx, "Marcus Johnson", args)
		},
		"get_employee": func(_ context.Context, args json.RawMessage) result.Outcome { return result.Outcome{Data: args} },
	}
	return s
}

func (s *servers) pend(ctx context.Context, whom string, args json.RawMessage) result.Outcome {
	p, err := access.From(ctx)
	if err != nil {
		return result.Failed(err)
	}
	r, err := s.desk.Open(ctx, p, confirm.Request{Action: "delete_employee", Server: "hr", Input: args, Summary: "Delete " + whom + "?", Data: map[string]any{"employeeName": whom}})
	if err != nil {
		return result.Failed(err)
	}
	return result.Outcome{Pending: &result.Pending{ID: string(r.ID), Message: r.Summary, Data: r.Data, Expires: r.Expires}}
}

func (s *servers) Tools(ctx context.Context) agent.Toolset {
	p, err := access.From(ctx)
	if err != nil {
		return agent.Toolset{}
	}
	set := agent.Toolset{Down: s.down}
	for _, t := range []result.ToolInfo{
		{Name: "delete_employee", Kind: result.Write}, {Name: "get_employee", Kind: result.Read, InputSchema: json.RawMessage(`{"properties":{"employee_id":{"type":"string"},"deep":{"type":"boolean"},"tags":{"type":"array"}}}`)},
		{Name: "list_employees", Kind: result.List}, {Name: "update_salary", Kind: result.Write},
	} {
		if p.HasAny(access.HRRead) {
			set.Open = append(set.Open, agent.Tool{ToolInfo: t, Server: "hr"})
		} else {
			set.Closed = append(set.Closed, agent.ClosedTool{Name: t.Name, Roles: []string{"hr-read"}})
		}
	}
	return set
}

func (s *servers) Call(ctx context.Context, name string, args json.RawMessage) result.Outcome {
	p, err := access.From(ctx)
	if err != nil {
		return result.Failed(err)
	}
	if !p.HasAny(access.HRRead) {
		return result.Failed(fault.Insufficient.New("You need hr-read."))
	}
	if f := s.call[name]; f != nil {
		return f(ctx, args)
	}
	return result.Failed(fault.UnknownTool.New("No tool is called %q.", name))
}

func (s *servers) EachServer(report func(string, bool, int64, int64, time.Duration)) {
	report("hr", len(s.down) == 0, 3, 1, 1500*time.Microsecond)
}

func (s *servers) Execute(ctx context.Context, server, id string, approved bool) (int, json.RawMessage, error) {
	s.mu.Lock()
	err := s.fail
	s.mu.Unlock()
	if err != nil {
		return 0, nil, err
	}
	if server != "hr" && server != "" {
		return 0, nil, fault.ServerNotFound.New("no")
	}
	p, err := access.From(ctx)
	if err != nil {
		return 0, nil, err
	}
	v, err := s.desk.Answer(ctx, p, confirm.ID(id), approved, s)
	switch f := fault.From(err); {
	case f != nil:
		return f.Code.Status, result.EncodeEnvelope(result.Outcome{Fault: f}), nil
	case v.State == confirm.Denied:
		return 200, json.RawMessage(`{"status":"cancelled","message":"Action cancelled by user"}`), nil
	}
	return 200, v.Answer, nil
}

// Apply implements confirm.Effect.
func (s *servers) Apply(_ context.Context, r confirm.Record) (json.RawMessage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	answer := json.RawMessage(fmt.Sprintf(`{"status":"success","data":{"message":"%s has been deleted."}}`, r.Data["employeeName"]))
	s.made[r.ID] = answer
	return answer, nil
}

// Find implements confirm.Effect.
func (s *servers) Find(_ context.Context, _ access.Owner, id confirm.ID) (json.RawMessage, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	answer, ok := s.made[id]
	return answer, ok, nil
}
