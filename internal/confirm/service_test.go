package confirm_test

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign.dev/internal/access"
	"countersign.dev/internal/audit"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
)

func TestOpenKeepsExactlyWhatWillBeDone(t *testing.T) {
	w := newHarness(t)
	r, err := w.service().Open(t.Context(), alice.WithSurface(access.SurfaceMCP), raise)
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(string(r.ID)) {
		t.Errorf("id: got %q, want a random UUID", r.ID)
	}
	// SHA-256 of {"confirmationData":{"action":"update_salary","origin":{"surface":"mcp"}},"message":"Raise Sarah"}
	data := result.PreviewData{"action": "update_salary", "origin": map[string]any{"surface": "mcp"}, "digest": "89b4e8cfe6f30a1bb33cd2fa75536d978e484e5cf2de35fe075270df953561ba"}
	want := confirm.Record{
		ID: r.ID, State: confirm.Pending, Action: raise.Action, Server: raise.Server, Input: raise.Input, Digest: raise.Digest,
		Precondition: raise.Precondition, Owner: alice.Owner(), Username: "alice", Provenance: access.Provenance{Surface: access.SurfaceMCP}, Summary: raise.Summary, Data: data, Note: raise.Note,
		Created: noon, Expires: noon.Add(300 * time.Second),
	}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
	stored, err := w.service().Get(t.Context(), alice, "hr", r.ID, w.domain)
	if diff := cmp.Diff(want, stored); diff != "" || err != nil {
		t.Errorf("stored: %v (-want +got):\n%s", err, diff)
	}
	wantEvent := audit.Event{
		Kind: audit.Confirmation, Issuer: "https://id.example.com", Subject: "alice", Username: "alice", Server: "hr", Tool: "update_salary",
		Step: "opened", Confirmation: string(r.ID), Digest: "digest", Row: "e-7", Outcome: "pending_confirmation", Note: "promotion",
	}
	if diff := cmp.Diff(wantEvent, w.audit.last()); diff != "" {
		t.Errorf("event (-want +got):\n%s", diff)
	}
}

// TestCardSaysWhatWasReadBefore: the untrusted texts that a wish follows are in the
// record, on the card and so in its digest, and in the audit of every step.
func TestCardSaysWhatWasReadBefore(t *testing.T) {
	w := newHarness(t)
	plain, err := w.service().Open(t.Context(), alice.WithSurface(access.SurfaceChat), raise)
	if err != nil {
		t.Fatal(err)
	}
	read := []access.Source{{Kind: "ticket", ID: "TICK-009"}, {Kind: "deal", ID: "65a2", Name: "Acme Renewal"}, {Kind: "review", ID: "f1", About: "Margaret Scott"}}
	const recorded = "text of ticket TICK-009, text of deal 65a2, text of review f1" // auditors see no names of rows
	tainted, err := access.From(access.Tainted(access.With(t.Context(), alice.WithSurface(access.SurfaceChat)), read))
	if err != nil {
		t.Fatal(err)
	}
	r, err := w.service().Open(t.Context(), tainted, raise)
	if err != nil || w.audit.last().TaintedBy != recorded || !slices.Equal(r.Provenance.TaintedBy, read) {
		t.Fatalf("got %+v, %v; audited %+v", r.Provenance, err, w.audit.last())
	}
	origin, _ := json.Marshal(r.Pending().Data["origin"])
	if string(origin) != `{"surface":"chat","tainted_by":[{"kind":"ticket","id":"TICK-009"},{"kind":"deal","id":"65a2","name":"Acme Renewal"},{"kind":"review","id":"f1","about":"Margaret Scott"}]}` || r.Data["digest"] == plain.Data["digest"] {
		t.Errorf("the card has the provenance %s and the digest %v", origin, r.Data["digest"])
	}
	if _, err := w.service().Answer(t.Context(), alice, confirm.Reply{ID: r.ID, Server: "hr"}, w.domain); err != nil || w.audit.last().TaintedBy != recorded {
		t.Errorf("the denial, %v, was audited as %+v", err, w.audit.last())
	}
}

func TestNothingOpensWithoutAudit(t *testing.T) {
	w := newHarness(t)
	w.audit.full = true
	if _, err := w.service().Open(t.Context(), alice, raise); !fault.Is(err, fault.ServiceDown) {
		t.Errorf("with a full audit: got %v, want SERVICE_UNAVAILABLE", err)
	}
	if keys := w.redis.Keys(); len(keys) != 0 {
		t.Errorf("stored all the same: %v", keys)
	}
	w.audit.full = false
	w.redis.Close()
	if _, err := w.service().Open(t.Context(), alice, raise); !fault.Is(err, fault.ServiceDown) {
		t.Errorf("without Redis: got %v, want SERVICE_UNAVAILABLE", err)
	}
}

func TestApprovalAppliesOnceAndRepeatsItsReceipt(t *testing.T) {
	w := newHarness(t)
	id := w.open()
	for range 3 {
		w.wantApplied(w.approve(id))
	}
	w.wantApplied(w.deny(id)) // too late
	w.wantEffects(id, 1)
	w.wantSteps("opened approved applied")
	r, err := w.service().Get(t.Context(), alice, "hr", id, w.domain)
	if err != nil || r.State != confirm.Applied || string(r.Answer) != receipt {
		t.Errorf("Get: got %s %s, %v, want it applied with its receipt", r.State, r.Answer, err)
	}
}

func TestDenialCancels(t *testing.T) {
	w := newHarness(t)
	id := w.open()
	if v, err := w.deny(id); err != nil || v.State != confirm.Denied || v.Answer != nil {
		t.Errorf("denial: got %v, %v", v, err)
	}
	w.wantFault(fault.ConfirmationDenied)(w.approve(id))
	w.wantFault(fault.ConfirmationDenied)(w.deny(id))
	w.wantEffects(id, 0)
	w.wantSteps("opened denied refused refused")
}

// TestDenialHoldsWithoutAudit: it changes nothing, so its person is answered that it was made.
func TestDenialHoldsWithoutAudit(t *testing.T) {
	w := newHarness(t)
	id := w.open()
	w.audit.full = true
	if v, err := w.deny(id); err != nil || v.State != confirm.Denied || v.Answer != nil {
		t.Errorf("denial: got %v, %v", v, err)
	}
	w.wantFault(fault.ConfirmationDenied)(w.approve(id))
	w.wantEffects(id, 0)
}

func TestDisconnectedCallersDenialIsRecorded(t *testing.T) {
	w := newHarness(t)
	id := w.open()
	ctx, leave := context.WithCancel(t.Context())
	service := confirm.NewService(w.store, w.audit, &confirm.Options{Now: w.now, Notifier: notifier(leave)})
	if v, err := service.Answer(ctx, alice, reply(id, false), w.domain); err != nil || v.State != confirm.Denied {
		t.Errorf("denial: got %v, %v", v, err)
	}
	w.wantSteps("opened denied")
}

// notifier is called when a confirmation was answered.
type notifier func()

func (n notifier) Changed(context.Context, confirm.Record) { n() }

func TestAnotherPersonCannotAnswer(t *testing.T) {
	w := newHarness(t)
	id := w.open()
	for _, approved := range []bool{true, false} {
		_, err := w.service().Answer(t.Context(), frank, reply(id, approved), w.domain)
		if !fault.Is(err, fault.UserMismatch) || fault.From(err).Message != "You can only approve your own confirmations" {
			t.Errorf("another person: got %v, want USER_MISMATCH", err)
		}
		if e := w.audit.last(); e.Kind != audit.Denial || e.Step != "refused" || e.Subject != "frank" || e.Outcome != "USER_MISMATCH" {
			t.Errorf("event: got %+v, want frank's denial", e)
		}
	}
	if _, err := w.service().Get(t.Context(), frank, "hr", id, w.domain); !fault.Is(err, fault.UserMismatch) {
		t.Errorf("another person's Get: got %v, want USER_MISMATCH", err)
	}
	w.wantApplied(w.approve(id)) // it was not consumed
	w.wantFault(fault.UserMismatch)(w.service().Answer(t.Context(), frank, reply(id, true), w.domain))
	w.redis.FlushAll()
	w.wantFault(fault.ConfirmationNotFound)(w.service().Answer(t.Context(), frank, reply(id, true), w.domain))
}

func TestUnknownAndExpired(t *testing.T) {
	w := newHarness(t)
	for _, id := range []confirm.ID{"", "x", "pending:*", "00000000-0000-4000-8000-000000000000"} {
		w.wantFault(fault.ConfirmationNotFound)(w.approve(id))
		w.wantFault(fault.ConfirmationNotFound)(w.deny(id))
		if _, err := w.service().Get(t.Context(), alice, "hr", id, w.domain); !fault.Is(err, fault.ConfirmationNotFound) {
			t.Errorf("Get %q: got %v, want CONFIRMATION_NOT_FOUND", id, err)
		}
	}
	id := w.open()
	w.time = noon.Add(confirm.TTL)
	for range 2 {
		w.wantFault(fault.ConfirmationNotFound)(w.approve(id))
		w.wantFault(fault.ConfirmationNotFound)(w.deny(id))
		r, err := w.service().Get(t.Context(), alice, "hr", id, w.domain)
		if err != nil || r.State != confirm.Expired || r.Summary == "" || len(r.Data) == 0 || r.View().State != "expired" || !r.View().Answered.IsZero() {
			t.Errorf("Get of an expired one: got %+v, %v, want what was asked", r, err)
		}
		if _, err := w.service().Get(t.Context(), frank, "hr", id, w.domain); !fault.Is(err, fault.ConfirmationNotFound) {
			t.Errorf("another person's Get of an expired one: got %v, want CONFIRMATION_NOT_FOUND", err)
		}
		w.redis.Del("pending:" + string(id)) // as Redis does
	}
	w.wantEffects(id, 0)
	w.redis.FlushAll()
	if _, err := w.service().Get(t.Context(), alice, "hr", id, w.domain); !fault.Is(err, fault.ConfirmationNotFound) {
		t.Errorf("Get of what is not kept: got %v, want CONFIRMATION_NOT_FOUND", err)
	}
}

func TestApprovalInTheLastSecondCounts(t *testing.T) {
	w := newHarness(t)
	id := w.open()
	w.time = noon.Add(299 * time.Second)
	w.wantApplied(w.approve(id))
	w.time = noon.Add(20 * time.Hour)
	w.wantApplied(w.approve(id))
}

func TestRefusedApplyIsRepeated(t *testing.T) {
	w := newHarness(t)
	id := w.open()
	w.domain.before = fault.ConfirmationStale.New("What you saw has changed.")
	for range 2 {
		v, err := w.approve(id)
		if err != nil || v.State != confirm.Failed || string(v.Answer) != `{"code":"CONFIRMATION_STALE"}` {
			t.Errorf("got %s %s, %v, want the encoded error", v.State, v.Answer, err)
		}
		w.domain.before = nil // too late: a terminal state is final
	}
	w.wantEffects(id, 0)
	w.wantSteps("opened approved failed")
}

func TestUnreachableStoreReopensIt(t *testing.T) {
	w := newHarness(t)
	id := w.open()
	w.domain.before = fault.ServiceDown.New("The database is gone.")
	w.wantFault(fault.ServiceDown)(w.approve(id))
	w.domain.blind = errors.New("still gone")
	w.wantFault(fault.ServiceDown)(w.approve(id))
	if s := w.state(id); s != confirm.Pending {
		t.Errorf("state: got %s, want it pending again", s)
	}
	w.domain.before, w.domain.blind = nil, nil
	w.wantApplied(w.approve(id))
	w.wantEffects(id, 1)
	w.wantSteps("opened approved reopened approved reopened approved applied")
}

func TestReopenedStillExpires(t *testing.T) {
	w := newHarness(t)
	id := w.open()
	w.time = noon.Add(299 * time.Second)
	w.domain.before = fault.Timeout.New("Too slow.")
	w.wantFault(fault.Timeout)(w.approve(id))
	w.time = noon.Add(confirm.TTL)
	w.domain.before = nil
	w.wantFault(fault.ConfirmationNotFound)(w.approve(id))
	w.wantEffects(id, 0)
}

func TestLostAnswerIsFound(t *testing.T) {
	for _, lost := range []*fault.Code{fault.Timeout, fault.InternalError, fault.ConfirmationStale} {
		t.Run(lost.Name, func(t *testing.T) {
			w := newHarness(t)
			id := w.open()
			w.domain.after = lost.New("The answer was lost.")
			w.wantApplied(w.approve(id))
			w.wantApplied(w.approve(id))
			w.wantEffects(id, 1)
			w.wantSteps("opened approved settled")
		})
	}
}

// TestDenialOfATriedChangeLooksFirst: the change was made, but its receipt could
// not be read at the time.
func TestDenialOfATriedChangeLooksFirst(t *testing.T) {
	w := newHarness(t)
	id := w.open()
	w.domain.after, w.domain.blind = fault.Timeout.New("Too slow."), errors.New("gone")
	w.wantFault(fault.Timeout)(w.approve(id))
	if _, err := w.deny(id); err == nil {
		t.Error("denied without knowing whether it went through")
	}
	w.domain.blind = nil
	w.wantApplied(w.deny(id))
	w.wantApplied(w.approve(id))
	w.wantEffects(id, 1)
}

// racing is an executor at which something happens once, right after a receipt was not found.
type racing struct {
	confirm.Executor
	then func()
}

func (e *racing) Find(ctx context.Context, o access.Owner, id confirm.ID) (json.RawMessage, bool, error) {
	receipt, found, err := e.Executor.Find(ctx, o, id)
	if then := e.then; then != nil {
		e.then = nil
		then()
	}
	return receipt, found, err
}

// TestDenialLooksForWhatWasMadeMeanwhile: an approval makes the change between the look for
// a receipt and the denial, and its own receipt cannot be read.
func TestDenialLooksForWhatWasMadeMeanwhile(t *testing.T) {
	w := newHarness(t)
	id := w.open()
	e := &racing{Executor: w.domain, then: func() {
		w.domain.after, w.domain.blind = fault.Timeout.New("Too slow."), errors.New("gone")
		w.wantFault(fault.Timeout)(w.approve(id))
		w.domain.after, w.domain.blind = nil, nil
	}}
	w.wantApplied(w.service().Answer(t.Context(), alice, reply(id, false), e))
	w.wantApplied(w.approve(id))
	w.wantEffects(id, 1)
}

func TestLostRedisLosesNoReceipt(t *testing.T) {
	w := newHarness(t)
	id := w.open()
	w.wantApplied(w.approve(id))
	w.redis.FlushAll()
	w.wantApplied(w.approve(id))
	w.wantApplied(w.deny(id))
	w.wantEffects(id, 1)

	other := w.open()
	w.redis.FlushAll()
	w.wantFault(fault.ConfirmationNotFound)(w.approve(other))
	w.wantEffects(other, 0)
}

func TestRedisGoneIsUnavailable(t *testing.T) {
	w := newHarness(t)
	id := w.open()
	w.redis.Close()
	w.wantFault(fault.ServiceDown)(w.approve(id))
	w.wantFault(fault.ServiceDown)(w.deny(id))
	w.wantEffects(id, 0)
}

func TestNothingIsAppliedWithoutAudit(t *testing.T) {
	w := newHarness(t)
	id := w.open()
	w.audit.full = true
	w.wantFault(fault.ServiceDown)(w.approve(id))
	w.wantEffects(id, 0)
	w.audit.full = false
	w.wantApplied(w.approve(id))
}

// TestRedisGoneAfterApplyStillAnswers loses Redis between apply and settle.
func TestRedisGoneAfterApplyStillAnswers(t *testing.T) {
	w := newHarness(t)
	id := w.open()
	w.wantApplied(w.service().Answer(t.Context(), alice, reply(id, true), atApply{w.domain, nil, w.redis.Close}))
	if err := w.redis.Restart(); err != nil {
		t.Fatal(err)
	}
	for {
		if _, _, err := w.store.Get(t.Context(), "hr", id); err == nil {
			break
		}
	}
	w.wantApplied(w.approve(id))
	w.wantEffects(id, 1)
	if s := w.state(id); s != confirm.Applied {
		t.Errorf("state: got %s, want it settled by the second answer", s)
	}
}

func TestDisconnectedCallerDoesNotChangeTheOutcome(t *testing.T) {
	t.Run("before the change", func(t *testing.T) {
		w := newHarness(t)
		id := w.open()
		ctx, leave := context.WithCancel(t.Context())
		_, err := w.service().Answer(ctx, alice, reply(id, true), atApply{w.domain, leave, nil})
		if !fault.Is(err, fault.Cancelled) || w.state(id) != confirm.Pending {
			t.Errorf("got %v and %s, want CANCELLED and it pending again", err, w.state(id))
		}
		w.wantApplied(w.approve(id))
	})
	t.Run("after the change", func(t *testing.T) {
		w := newHarness(t)
		id := w.open()
		ctx, leave := context.WithCancel(t.Context())
		w.wantApplied(w.service().Answer(ctx, alice, reply(id, true), atApply{w.domain, nil, leave}))
		if s := w.state(id); s != confirm.Applied {
			t.Errorf("state: got %s, want it applied", s)
		}
	})
}

// TestSecondApprovalDuringAnApply answers while an apply is running.
func TestSecondApprovalDuringAnApply(t *testing.T) {
	w := newHarness(t)
	id := w.open()
	meet := func() {
		w.wantFault(fault.ConfirmationInProgress)(w.approve(id))
		w.wantFault(fault.ConfirmationInProgress)(w.deny(id))
	}
	after := func() { w.wantApplied(w.approve(id)) } // made, but not settled yet
	w.wantApplied(w.service().Answer(t.Context(), alice, reply(id, true), atApply{w.domain, meet, after}))
	w.wantEffects(id, 1)
	w.wantSteps("opened approved settled applied")
}

// atApply calls a function just before or just after the change.
type atApply struct {
	confirm.Executor
	before, after func()
}

func (a atApply) Apply(ctx context.Context, r confirm.Record) (answer json.RawMessage, err error) {
	if a.before != nil {
		a.before()
	}
	answer, err = a.Executor.Apply(ctx, r)
	if a.after != nil {
		a.after()
	}
	return answer, err
}

// TestCancelledChangeIsWithdrawn: its client knows nothing of it, so it must not wait. It counts
// against no limit, and no answer has an effect.
func TestCancelledChangeIsWithdrawn(t *testing.T) {
	w := newHarness(t)
	ctx, leave := context.WithCancel(t.Context())
	request := raise
	request.ID = confirm.NewID()
	w.audit.appended = leave // before it is stored
	if r, err := w.service().Open(ctx, alice, request); !errors.Is(err, context.Canceled) || r.ID != "" {
		t.Errorf("got %+v, %v, want the end of its call", r, err)
	}
	w.audit.appended = nil
	if got := w.state(request.ID); got == confirm.Pending || w.audit.steps() != "opened withdrawn" {
		t.Errorf("it is %s, and recorded as %s", got, w.audit.steps())
	}
	if _, err := w.approve(request.ID); err == nil {
		t.Error("it was approved")
	}
	w.wantEffects(request.ID, 0)
	ctx, leave = context.WithCancel(t.Context())
	store := leavingStore{w.store, leave}
	request.ID = confirm.NewID()
	if _, err := confirm.NewService(store, w.audit, &confirm.Options{Now: w.now}).Open(ctx, alice, request); !errors.Is(err, context.Canceled) {
		t.Errorf("stored as its caller left: got %v", err)
	}
	if got := w.state(request.ID); got != confirm.Denied {
		t.Errorf("stored as its caller left: it is %s", got)
	}
	if e := w.audit.last(); e.Step != "withdrawn" || e.Outcome != "CANCELLED" || e.Confirmation != string(request.ID) {
		t.Errorf("recorded %+v", e)
	}
}

// leavingStore is a store whose caller leaves when a change is stored.
type leavingStore struct {
	confirm.Store
	leave func()
}

func (s leavingStore) Create(ctx context.Context, r confirm.Record) error {
	err := s.Store.Create(ctx, r)
	s.leave()
	return err
}
