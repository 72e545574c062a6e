package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/agent"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
	"countersign.dev/internal/state"
)

// model plays what its script has for a question: one step per model call.
type model struct {
	mu      sync.Mutex
	asked   []agent.Request
	script  map[string][]step
	barrier chan struct{} // "wait" steps wait for it
	once    sync.Once
}

type step func(ctx context.Context, m *model, yield func(agent.Delta, error) bool)

func newModel() *model {
	return &model{script: make(map[string][]step), barrier: make(chan struct{})}
}

func (m *model) release() { m.once.Do(func() { close(m.barrier) }) }

func (m *model) Name() string { return "script" }

func (m *model) Stream(ctx context.Context, r agent.Request) iter.Seq2[agent.Delta, error] {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked = append(m.asked, r)
	question, rounds := "", 0
	for _, message := range r.Messages {
		switch message.Role {
		case agent.User:
			question, rounds = message.Text(), 0
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

// models are the scripted one, which is the default, and the same as "other".
type models struct{ *model }

func (m models) List() []agent.Choice {
	return []agent.Choice{{Model: m.model, Provider: "test", Default: true}, {Model: other(m), Provider: "test", Price: agent.Price{Input: 3, Output: 15, Cached: 0.3, Currency: "USD"}}}
}

func (m models) Choose(name string) (agent.Choice, error) {
	for _, c := range m.List() {
		if c.Name() == name || name == "" && c.Default {
			return c, nil
		}
	}
	return agent.Choice{}, fault.BadRequest.New("No model is called %q.", name)
}

type other struct{ *model }

func (other) Name() string { return "other" }

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
		yield(agent.Delta{Usage: &agent.Usage{InputTokens: 7, OutputTokens: 3}, Stop: agent.StopEnd}, nil)
	}
}

func calls(names ...string) step {
	return func(_ context.Context, _ *model, yield func(agent.Delta, error) bool) {
		for i, name := range names {
			if !yield(agent.Delta{Call: &agent.Call{ID: fmt.Sprintf("c%d", i+1), Tool: name, Args: json.RawMessage(`{"n":1}`)}}, nil) {
				return
			}
		}
		yield(agent.Delta{Stop: agent.StopCalls}, nil)
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
	case <-m.barrier:
		yield(agent.Delta{Text: "Done.", Stop: agent.StopEnd}, nil)
	case <-ctx.Done():
		yield(agent.Delta{}, ctx.Err())
	}
}

// servers is one server "hr" with tools that tests script. Confirmations live on
// the real service.
type servers struct {
	confirmations *confirm.Service
	mu            sync.Mutex
	made          map[confirm.ID]json.RawMessage // receipts: what was really changed
	call          map[string]func(ctx context.Context, args json.RawMessage) result.Outcome
	down          []agent.Warning
	fail          error // of Answer and Confirmation
	entries       *state.Entries
	foreign       bool // a connected server "notes" has a tool of its own
	broken        bool // asking for their state panics
}

func newServers(c *confirm.Service, entries *state.Entries) *servers {
	s := &servers{confirmations: c, entries: entries, made: make(map[confirm.ID]json.RawMessage)}
	s.call = map[string]func(context.Context, json.RawMessage) result.Outcome{
		"list_employees": func(context.Context, json.RawMessage) result.Outcome {
			return result.Success(json.RawMessage(`[{"name":"Nina Patel"},{"name":"Frank Davis"}]`), &result.Page{Limit: 2, Returned: 2, More: true, Next: "CURSOR", Noun: "employees", Narrow: "department"}, "")
		},
		"delete_employee": func(ctx context.Context, args json.RawMessage) result.Outcome {
			return s.pend(ctx, "Frank Davis", args)
		},
		"update_salary": func(ctx context.Context, args json.RawMessage) result.Outcome {
			return s.pend(ctx, "Marcus Johnson", args)
		},
		"get_employee": func(_ context.Context, args json.RawMessage) result.Outcome { return result.Success(args, nil, "") },
	}
	return s
}

func (s *servers) pend(ctx context.Context, whom string, args json.RawMessage) result.Outcome {
	p, err := access.From(ctx)
	if err != nil {
		return result.Failed(err)
	}
	r, err := s.confirmations.Open(ctx, p, confirm.Request{Action: "delete_employee", Server: "hr", Input: args, Summary: "Delete " + whom + "?", Data: map[string]any{"employeeName": whom}})
	if err != nil {
		return result.Failed(err)
	}
	return result.Waiting(result.Pending{ID: string(r.ID), Message: r.Summary, Data: r.Data, Expires: r.Expires})
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
		if p.HasAny("hr-read") {
			set.Open = append(set.Open, agent.Tool{ToolInfo: t, Server: "hr"})
		} else {
			set.Closed = append(set.Closed, agent.ClosedTool{Name: t.Name, Server: "hr", Roles: []string{"hr-read"}, Info: t})
		}
	}
	switch search := "notes.search"; {
	case s.foreign && p.HasAny("hr-read"):
		set.Open = append(set.Open, agent.Tool{ToolInfo: result.ToolInfo{Name: search, Kind: result.Read}, Server: "notes"})
	case s.foreign:
		set.Closed = append(set.Closed, agent.ClosedTool{Name: search, Server: "notes", Roles: []string{"hr-read"}})
	}
	return set
}

func (s *servers) Call(ctx context.Context, name string, args json.RawMessage) result.Outcome {
	p, err := access.From(ctx)
	if err != nil {
		return result.Failed(err)
	}
	if !p.HasAny("hr-read") {
		return result.Failed(fault.Insufficient.New("You need hr-read."))
	}
	if f := s.call[name]; f != nil {
		return f(ctx, args)
	}
	return result.Failed(fault.UnknownTool.New("No tool is called %q.", name))
}

func (s *servers) EachServer(report func(string, bool, int64, int64, time.Duration)) {
	s.mu.Lock()
	healthy, broken := len(s.down) == 0, s.broken
	s.mu.Unlock()
	if broken {
		panic("a server without a state")
	}
	report("hr", healthy, 3, 1, 1500*time.Microsecond)
	if s.foreign {
		report("notes", true, 0, 0, 0)
	}
}

// EachTool has been asked for one tool.
func (s *servers) EachTool(report func(result.Reliability)) {
	report(result.Reliability{Server: "hr", Tool: "get_employee", Transport: "http", Calls: 3, Failures: 1, Average: 1500 * time.Microsecond, LastUsed: time.UnixMilli(1767323045678), Breaker: "open"})
	report(result.Reliability{Server: "hr", Tool: "delete_employee", Kind: result.Write, Transport: "http", Breaker: "open"})
}

// Answer implements gateway.Confirmations.
func (s *servers) Answer(ctx context.Context, id string, approved bool, digest string) result.Outcome {
	s.mu.Lock()
	err := s.fail
	s.mu.Unlock()
	if err != nil {
		return result.Failed(err)
	}
	p, err := access.From(ctx)
	if err != nil {
		return result.Failed(err)
	}
	answered, err := s.confirmations.Answer(ctx, p, confirm.Reply{ID: confirm.ID(id), Server: "hr", Approved: approved, Digest: digest}, s)
	if err != nil {
		return result.Failed(err)
	}
	return answered.Outcome(confirm.ID(id), result.DecodeEnvelope)
}

// Permit implements gateway.Confirmations.
func (s *servers) Permit(ctx context.Context, id string) error {
	p, err := access.From(ctx)
	if err != nil {
		return err
	}
	return s.confirmations.Permit(ctx, p, confirm.ID(id))
}

// Confirmation implements gateway.Confirmations.
func (s *servers) Confirmation(ctx context.Context, id string) (result.Confirmation, error) {
	p, err := access.From(ctx)
	if err != nil {
		return result.Confirmation{}, err
	}
	s.mu.Lock()
	err = s.fail
	s.mu.Unlock()
	if err != nil {
		return result.Confirmation{}, err
	}
	r, err := s.confirmations.Get(ctx, p, "hr", confirm.ID(id), s)
	if err != nil {
		return result.Confirmation{}, err
	}
	return r.View(), nil
}

// PendingOf implements gateway.Confirmations.
func (s *servers) PendingOf(ctx context.Context) (shown []result.Confirmation, unshown []result.Unshown, err error) {
	p, err := access.From(ctx)
	if err != nil {
		return nil, nil, err
	}
	entries, err := s.entries.PendingOf(ctx, p.Owner())
	for _, e := range entries {
		c, err := s.Confirmation(ctx, string(e.ID))
		if err != nil {
			unshown = append(unshown, result.Unshown{ID: string(e.ID), Server: e.Server, Expires: e.Expires, Message: err.Error()})
			continue
		}
		if c.State == string(confirm.Pending) {
			shown = append(shown, c)
		}
	}
	return shown, unshown, err
}

// Apply implements confirm.Executor.
func (s *servers) Apply(_ context.Context, r confirm.Record) (json.RawMessage, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	answer := json.RawMessage(fmt.Sprintf(`{"status":"success","data":{"message":"%s has been deleted."}}`, r.Data["employeeName"]))
	s.made[r.ID] = answer
	return answer, nil
}

// Find implements confirm.Executor.
func (s *servers) Find(_ context.Context, _ access.Owner, id confirm.ID) (json.RawMessage, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	answer, ok := s.made[id]
	return answer, ok, nil
}
