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
)

var (
	noon  = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	alice = person("alice")
	frank = person("frank")
)

func person(name string) *access.Principal {
	return access.NewPrincipal(access.Claims{Issuer: "https://id.example.com", Subject: name, Username: name})
}

// world is everything that outlives a desk: Redis, the domain's store, the
// audit and the clock.
type world struct {
	t      testing.TB
	redis  *miniredis.Miniredis
	store  *state.Confirmations
	ledger *ledger
	audit  *journal
	time   time.Time
}

func newWorld(t testing.TB) *world {
	m := miniredis.NewMiniRedis()
	m.ClockTTL(true)
	if err := m.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	r, err := state.Open(t.Context(), "redis://"+m.Addr(), &state.Options{Connections: 8, Timeout: 20 * time.Second}) // a busy machine is no outage
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return &world{t: t, redis: m, store: state.NewConfirmations(r), ledger: &ledger{}, audit: &journal{}, time: noon}
}

func (w *world) now() time.Time { return w.time }

func (w *world) desk() *confirm.Service { return confirm.NewService(w.store, w.audit, w.now) }

var raise = confirm.Request{
	Action: "update_salary", Server: "hr", Input: json.RawMessage(`{"new_salary":420000}`), Digest: "digest",
	Precondition: "facts", Summary: "Raise Sarah", Data: map[string]any{"action": "update_salary"}, Note: "promotion",
}

func (w *world) open() confirm.ID {
	w.t.Helper()
	r, err := w.desk().Open(w.t.Context(), alice, raise)
	if err != nil {
		w.t.Fatal(err)
	}
	return r.ID
}

func (w *world) approve(id confirm.ID) (confirm.Result, error) {
	return w.desk().Answer(w.t.Context(), alice, id, true, w.ledger)
}

func (w *world) deny(id confirm.ID) (confirm.Result, error) {
	return w.desk().Answer(w.t.Context(), alice, id, false, w.ledger)
}

func (w *world) state(id confirm.ID) confirm.State {
	w.t.Helper()
	r, ok, err := w.store.Get(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	if !ok {
		return "gone"
	}
	return r.State
}

func (w *world) wantApplied(v confirm.Result, err error) {
	w.t.Helper()
	if err != nil || v.State != confirm.Applied || string(v.Answer) != receipt {
		w.t.Errorf("verdict: got %s %s, %v, want the receipt", v.State, v.Answer, err)
	}
}

func (w *world) wantFault(code *fault.Code) func(confirm.Result, error) {
	w.t.Helper()
	return func(v confirm.Result, err error) {
		w.t.Helper()
		if !fault.Is(err, code) || v.State != "" || v.Answer != nil {
			w.t.Errorf("verdict: got %s %s, %v, want %s and nothing else", v.State, v.Answer, err, code.Name)
		}
	}
}

func (w *world) wantEffects(id confirm.ID, want int) {
	w.t.Helper()
	if got := w.ledger.effects(id); got != want {
		w.t.Errorf("effects: got %d, want %d", got, want)
	}
}

func (w *world) wantSteps(want string) {
	w.t.Helper()
	if got := w.audit.steps(); got != want {
		w.t.Errorf("audit: got %q, want %q", got, want)
	}
}

const receipt = `{ "status":"success", "data":{"message":"<b> & done"} }`

// ledger is a domain's store: a change and its receipt are one step, and a
// second receipt of the same id undoes its change.
type ledger struct {
	mu     sync.Mutex
	made   map[confirm.ID]int
	owner  map[confirm.ID]access.Owner
	before *fault.Error // stops the next applies before the change
	after  *fault.Error // loses the answer of the next applies
	blind  error        // Find cannot look
}

func (l *ledger) Apply(ctx context.Context, r confirm.Record) (json.RawMessage, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
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

func (l *ledger) Find(ctx context.Context, owner access.Owner, id confirm.ID) (json.RawMessage, bool, error) {
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

func (l *ledger) effects(id confirm.ID) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.made[id]
}

// journal keeps events in memory, and can be full.
type journal struct {
	mu     sync.Mutex
	events []audit.Event
	full   bool
}

func (j *journal) Append(_ context.Context, e audit.Event) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.full {
		return fmt.Errorf("no space left")
	}
	j.events = append(j.events, e)
	return nil
}

// steps is the story in a line: "opened approved applied".
func (j *journal) steps() string {
	var steps []string
	for _, e := range j.events {
		steps = append(steps, e.Step)
	}
	return strings.Join(steps, " ")
}

func (j *journal) last() audit.Event { return slices.Clone(j.events)[len(j.events)-1] }
