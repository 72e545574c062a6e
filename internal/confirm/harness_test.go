package confirm_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"countersign.dev/internal/access"
	"countersign.dev/internal/audit"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/state"
	"countersign.dev/internal/testkit"
)

var (
	noon  = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	alice = person("alice")
	frank = person("frank")
)

func person(name string) *access.Principal {
	return access.NewPrincipal(access.Claims{Issuer: "https://id.example.com", Subject: name, Username: name, MayConfirm: true})
}

// harness holds everything that outlives a service: Redis, the domain's store,
// the audit and the clock.
type harness struct {
	t      testing.TB
	redis  *miniredis.Miniredis
	store  *state.Confirmations
	domain *fakeDomain
	audit  *memorySink
	time   time.Time
}

func newHarness(t testing.TB) *harness {
	m := miniredis.NewMiniRedis()
	m.ClockTTL(true)
	if err := m.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	r, err := state.Open(t.Context(), "redis://"+m.Addr(), &state.Options{Connections: 8, Timeout: 20 * time.Second}) // a busy machine must not look like an outage
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return &harness{t: t, redis: m, store: state.NewConfirmations(r, testkit.Ring("record")), domain: &fakeDomain{}, audit: &memorySink{}, time: noon}
}

func (w *harness) now() time.Time { return w.time }

func (w *harness) service() *confirm.Service {
	return confirm.NewService(w.store, w.audit, &confirm.Options{Now: w.now})
}

var raise = confirm.Request{
	Action: "update_salary", Server: "hr", Input: json.RawMessage(`{"employee_id":"e-7","new_salary":420000}`), Digest: "digest",
	Precondition: "facts", Summary: "Raise Sarah", Data: map[string]any{"action": "update_salary"}, Note: "promotion",
}

func (w *harness) open() confirm.ID {
	w.t.Helper()
	r, err := w.service().Open(w.t.Context(), alice, raise)
	if err != nil {
		w.t.Fatal(err)
	}
	return r.ID
}

// reply is an answer to a confirmation of raise.
func reply(id confirm.ID, approved bool) confirm.Reply {
	return confirm.Reply{ID: id, Server: raise.Server, Approved: approved}
}

func (w *harness) approve(id confirm.ID) (confirm.Result, error) {
	return w.service().Answer(w.t.Context(), alice, reply(id, true), w.domain)
}

func (w *harness) deny(id confirm.ID) (confirm.Result, error) {
	return w.service().Answer(w.t.Context(), alice, reply(id, false), w.domain)
}

func (w *harness) state(id confirm.ID) confirm.State {
	w.t.Helper()
	r, ok, err := w.store.Get(w.t.Context(), "hr", id)
	if err != nil {
		w.t.Fatal(err)
	}
	if !ok {
		return "gone"
	}
	return r.State
}

func (w *harness) wantApplied(v confirm.Result, err error) {
	w.t.Helper()
	if err != nil || v.State != confirm.Applied || string(v.Answer) != receipt {
		w.t.Errorf("got %s %s, %v, want the receipt", v.State, v.Answer, err)
	}
}

func (w *harness) wantFault(code *fault.Code) func(confirm.Result, error) {
	w.t.Helper()
	return func(v confirm.Result, err error) {
		w.t.Helper()
		if !fault.Is(err, code) || v.State != "" || v.Answer != nil {
			w.t.Errorf("got %s %s, %v, want %s", v.State, v.Answer, err, code.Name)
		}
	}
}

func (w *harness) wantEffects(id confirm.ID, want int) {
	w.t.Helper()
	if got := w.domain.effects(id); got != want {
		w.t.Errorf("effects: got %d, want %d", got, want)
	}
}

func (w *harness) wantSteps(want string) {
	w.t.Helper()
	if got := w.audit.steps(); got != want {
		w.t.Errorf("audit: got %q, want %q", got, want)
	}
}

const receipt = `{ "status":"success", "data":{"message":"<b> & done"} }`

// fakeDomain is a domain's store: a change and its receipt are one step, and a
// second receipt with the same id undoes its change.
type fakeDomain struct {
	mu     sync.Mutex
	made   map[confirm.ID]int
	tried  map[confirm.ID]int // applies that got here
	owner  map[confirm.ID]access.Owner
	before *fault.Error // stops the next applies before the change
	after  *fault.Error // loses the answer of the next applies
	blind  error        // the error of Find
}

func (l *fakeDomain) Apply(ctx context.Context, r confirm.Record) (json.RawMessage, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.tried == nil {
		l.tried = make(map[confirm.ID]int)
	}
	l.tried[r.ID]++
	if p, err := access.From(ctx); err != nil || p.Owner() != r.Owner {
		return nil, fmt.Errorf("applied for the wrong person: %v", err)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if l.before != nil {
		return json.RawMessage(`{"code":"` + l.before.Code.Name + `"}`), l.before
	}
	if l.made[r.ID] > 0 {
		return nil, fault.DatabaseError.New("There is a receipt of this id.")
	}
	if l.made == nil {
		l.made, l.owner = make(map[confirm.ID]int), make(map[confirm.ID]access.Owner)
	}
	l.made[r.ID]++
	l.owner[r.ID] = r.Owner
	if l.after != nil {
		return nil, l.after
	}
	return json.RawMessage(receipt), nil
}

func (l *fakeDomain) Find(ctx context.Context, owner access.Owner, id confirm.ID) (json.RawMessage, bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, false, err
	}
	if l.blind != nil {
		return nil, false, l.blind
	}
	if l.made[id] == 0 || l.owner[id] != owner {
		return nil, false, nil
	}
	return json.RawMessage(receipt), true, nil
}

func (l *fakeDomain) effects(id confirm.ID) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.made[id]
}

// memorySink keeps events in memory and can be full.
type memorySink struct {
	mu     sync.Mutex
	events []audit.Event
	full   bool

	appended func() // nil: nothing more
}

func (j *memorySink) Append(ctx context.Context, e audit.Event) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.full || ctx.Err() != nil {
		return fmt.Errorf("no space left")
	}
	j.events = append(j.events, e)
	if j.appended != nil {
		j.appended()
	}
	return nil
}

// steps joins the steps of all events: "opened approved applied".
func (j *memorySink) steps() string {
	var steps []string
	for _, e := range j.events {
		steps = append(steps, e.Step)
	}
	return strings.Join(steps, " ")
}

func (j *memorySink) last() audit.Event { return slices.Clone(j.events)[len(j.events)-1] }
