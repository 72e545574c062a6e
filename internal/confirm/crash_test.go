package confirm_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime/debug"
	"sync"
	"testing"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/audit"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/testkit"
)

// crash is the panic of a burnt fuse: the process has ended.
type crash struct{}

// fuse burns at the nth external call: before or after one of the store, the
// audit or the executor. Zero never burns.
type fuse struct{ left int }

func (f *fuse) pass() {
	f.left--
	if f.left == 0 {
		panic(crash{})
	}
}

type fusedStore struct {
	confirm.Store
	*fuse
}

func (s fusedStore) Get(ctx context.Context, server string, id confirm.ID) (confirm.Record, bool, error) {
	s.pass()
	defer s.pass()
	return s.Store.Get(ctx, server, id)
}

func (s fusedStore) Acquire(ctx context.Context, r confirm.Reply, o access.Owner, now time.Time) (confirm.Record, confirm.Acquisition, error) {
	s.pass()
	defer s.pass()
	return s.Store.Acquire(ctx, r, o, now)
}

func (s fusedStore) Settle(ctx context.Context, r confirm.Record, to confirm.State, answer json.RawMessage) (bool, error) {
	s.pass()
	defer s.pass()
	return s.Store.Settle(ctx, r, to, answer)
}

type fusedSink struct {
	audit.Sink
	*fuse
}

func (s fusedSink) Append(ctx context.Context, e audit.Event) error {
	s.pass()
	defer s.pass()
	return s.Sink.Append(ctx, e)
}

type fusedExecutor struct {
	confirm.Executor
	*fuse
}

func (e fusedExecutor) Apply(ctx context.Context, r confirm.Record) (json.RawMessage, error) {
	e.pass()
	defer e.pass()
	return e.Executor.Apply(ctx, r)
}

func (e fusedExecutor) Find(ctx context.Context, o access.Owner, id confirm.ID) (json.RawMessage, bool, error) {
	e.pass()
	defer e.pass()
	return e.Executor.Find(ctx, o, id)
}

// answerAndCrash answers with a service that crashes at the nth place. crashed is
// false when it finished before.
func (w *harness) answerAndCrash(id confirm.ID, approved bool, place int) (v confirm.Result, crashed bool) {
	f := &fuse{left: place}
	defer func() {
		if r := recover(); r != nil {
			if r != any(crash{}) {
				panic(r)
			}
			v, crashed = confirm.Result{}, true
		}
	}()
	service := confirm.NewService(fusedStore{w.store, f}, fusedSink{w.audit, f}, &confirm.Options{Now: w.now})
	v, _ = service.Answer(context.Background(), alice, reply(id, approved), fusedExecutor{w.domain, f})
	return v, false
}

// TestCrashAtEveryPlace kills the service at every place of a first answer, then
// at every place of the second, and answers a third time without a crash.
func TestCrashAtEveryPlace(t *testing.T) {
	testkit.Alone(t)
	for name, c := range map[string]struct {
		first, second, third bool           // approved?
		between              func(*harness) // after the first crash
		before, after        *fault.Error   // the fault of the first apply
		pause                time.Duration  // between answers
	}{
		"approve":                {first: true, second: true, third: true, pause: 31 * time.Second},
		"approve, quickly again": {first: true, second: true, third: true, pause: time.Second},
		"approve, then deny":     {first: true, second: true, third: false, pause: 31 * time.Second},
		"approve, deny, approve": {first: true, second: false, third: true, pause: 31 * time.Second},
		"deny, then approve":     {first: false, second: false, third: true, pause: 31 * time.Second},
		"approve, Redis lost":    {first: true, second: true, third: true, pause: 31 * time.Second, between: func(w *harness) { w.redis.FlushAll() }},
		"approve, answer lost":   {first: true, second: true, third: true, pause: 31 * time.Second, after: fault.Timeout.New("slow")},
		"approve, database gone": {first: true, second: true, third: true, pause: 31 * time.Second, before: fault.ServiceDown.New("gone")},
		"approve, refused":       {first: true, second: true, third: true, pause: 31 * time.Second, before: fault.ConfirmationStale.New("stale")},
		"answer lost, then deny": {first: true, second: false, third: false, pause: 31 * time.Second, after: fault.Timeout.New("slow")},
		"approve, expired":       {first: true, second: true, third: true, pause: 301 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			w := newHarness(t)
			for i, burnt := 1, true; burnt; i++ {
				for j, burntAgain := 1, true; burntAgain; j++ {
					w.time, w.domain.before, w.domain.after = noon, c.before, c.after
					life := trial{harness: w, id: w.open()}
					burnt = life.answer(c.first, i)
					w.domain.before, w.domain.after = nil, nil
					if c.between != nil {
						c.between(w)
					}
					w.time = w.time.Add(c.pause)
					burntAgain = life.answer(c.second, j)
					w.time = w.time.Add(c.pause)
					life.answer(c.third, 0)
					if life.check(); t.Failed() {
						t.Fatalf("crashed at place %d, then at %d", i, j)
					}
				}
			}
		})
	}
}

// trial is one confirmation and the results that its owner received.
type trial struct {
	*harness
	id      confirm.ID
	results []confirm.Result
}

func (s *trial) answer(approved bool, place int) (crashed bool) {
	v, crashed := s.answerAndCrash(s.id, approved, place)
	s.results = append(s.results, v)
	return crashed
}

// check compares the results with the effects.
func (s *trial) check() {
	s.t.Helper()
	made := s.domain.effects(s.id)
	if made > 1 {
		s.t.Errorf("%d effects", made)
	}
	ended := confirm.State("")
	for _, v := range s.results {
		if v.State == "" { // crashed, in progress, gone
			continue
		}
		if ended != "" && v.State != ended {
			s.t.Errorf("got %s, then %s", ended, v.State)
		}
		ended = v.State
		if v.State == confirm.Applied && (made != 1 || string(v.Answer) != receipt) {
			s.t.Errorf("got applied with %s, and %d effects", v.Answer, made)
		}
		if v.State != confirm.Applied && made != 0 {
			s.t.Errorf("got %s, and %d effects", v.State, made)
		}
	}
	if last := s.results[len(s.results)-1]; made == 1 && last.State != confirm.Applied && s.waited() {
		s.t.Errorf("the change was made, and the last answer was %q", last.State)
	}
}

// waited reports whether every earlier acquisition counted as abandoned at the last
// answer.
func (s *trial) waited() bool { return s.time.Sub(noon) > 2*confirm.AbandonedAfter }

// TestCrowdWithFailingStore runs approvals and denials at once while the store
// fails before and after its changes.
func TestCrowdWithFailingStore(t *testing.T) {
	const crowd = 16
	rounds := 60
	if testkit.Soak() {
		rounds = 1000
	}
	w := newHarness(t)
	for range rounds {
		life := trial{harness: w, id: w.open()}
		results := make(chan confirm.Result, crowd)
		var all sync.WaitGroup
		for i := range crowd {
			all.Go(func() {
				v, _ := w.service().Answer(context.Background(), alice, reply(life.id, i%8 != 7), flaky{w.domain})
				results <- v
			})
		}
		all.Wait()
		close(results)
		for v := range results {
			life.results = append(life.results, v)
		}
		if life.check(); t.Failed() {
			t.FailNow()
		}
	}
}

// flaky fails a third of all applies before the change and a third after it.
type flaky struct{ *fakeDomain }

func (f flaky) Apply(ctx context.Context, r confirm.Record) (json.RawMessage, error) {
	chance := rand.IntN(3)
	if chance == 0 {
		return nil, fault.ServiceDown.New("gone before")
	}
	answer, err := f.fakeDomain.Apply(ctx, r)
	if chance == 1 {
		return nil, fault.Timeout.New("gone after")
	}
	return answer, err
}

// TestHundredApprovalsOfEachConfirmation counts effects in the store and in a
// real audit log.
func TestHundredApprovalsOfEachConfirmation(t *testing.T) {
	const approvals, atOnce = 100, 2
	confirmations := 30
	switch {
	case testkit.Soak():
		confirmations = 1000
	case testing.Short():
		confirmations = 5
	}
	defer debug.SetGCPercent(debug.SetGCPercent(800)) // with a tiny heap and many stacks, collecting would take half of the test
	w := newHarness(t)
	w.redis.ClockTTL(false) // nothing expires here, and miniredis would scan a thousand keys at every command
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	log, err := audit.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	service := confirm.NewService(w.store, log, &confirm.Options{Now: w.now})
	ids := make(chan confirm.ID)
	var workers sync.WaitGroup
	for range atOnce {
		workers.Go(func() {
			for id := range ids {
				if err := approveTogether(service, w.domain, id, approvals); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range confirmations {
		r, err := service.Open(t.Context(), alice, raise)
		if err != nil {
			t.Fatal(err)
		}
		ids <- r.ID
	}
	close(ids)
	workers.Wait()

	for id, made := range w.domain.made {
		if made != 1 {
			t.Errorf("%s: %d effects", id, made)
		}
		if n := w.domain.tried[id]; n != 1 { // the store would undo a second one; none gets there
			t.Errorf("%s: %d answers were applied", id, n)
		}
	}
	if n := len(w.domain.made); n != confirmations {
		t.Errorf("effects in the store: got %d, want %d", n, confirmations)
	}
	applied := 0
	for e, err := range audit.Events(path) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Step == "applied" {
			applied++
		}
	}
	if applied != confirmations {
		t.Errorf("effects in the audit: got %d, want %d", applied, confirmations)
	}
	if report, err := audit.Verify(path); err != nil || report.Broken != nil {
		t.Errorf("audit: %v, %v", report.Broken, err)
	}
}

// approveTogether approves at once and checks that every answer is the receipt or
// "in progress", and at least one the receipt.
func approveTogether(service *confirm.Service, effect confirm.Executor, id confirm.ID, approvals int) error {
	faults := make(chan error, approvals)
	var all sync.WaitGroup
	for range approvals {
		all.Go(func() {
			v, err := service.Answer(context.Background(), alice, reply(id, true), effect)
			if err == nil && string(v.Answer) != receipt {
				err = fmt.Errorf("%s: answered %s %s", id, v.State, v.Answer)
			}
			faults <- err
		})
	}
	all.Wait()
	close(faults)
	receipts := 0
	for err := range faults {
		switch {
		case err == nil:
			receipts++
		case !fault.Is(err, fault.ConfirmationInProgress):
			return err
		}
	}
	if receipts == 0 {
		return fmt.Errorf("%s: no answer had the receipt", id)
	}
	return nil
}
