package tool_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/audit"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/tool"
)

func TestPanicBecomesAFaultWithAnID(t *testing.T) {
	sink := &testkit.MemorySink{}
	boom := tool.Read(tool.Spec{Name: "boom", Title: "Boom", Description: "Fails.", Allow: []access.Role{access.Employee}},
		func(context.Context, struct{}) (testkit.Note, error) { panic("secret address 10.0.0.7") })
	r, err := tool.NewRunner([]tool.Tool{boom}, tool.Options{Server: "x", Policy: testkit.NewFakeDomain().Policy(), Audit: sink})
	if err != nil {
		t.Fatal(err)
	}
	f := wantFault(t, r.Call(testkit.As(t, "ann", access.Employee), "boom", nil), fault.InternalError)
	if f.ID == "" || strings.Contains(f.Message, "secret") || !strings.Contains(f.Message, f.ID) {
		t.Errorf("got %q, id %q", f.Message, f.ID)
	}
}

func TestDeadlineIsATimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := tool.Read(tool.Spec{Name: "slow", Title: "Slow", Description: "Waits.", Allow: []access.Role{access.Employee}},
			func(ctx context.Context, _ struct{}) (testkit.Note, error) {
				<-ctx.Done()
				return testkit.Note{}, errors.New("connection reset while waiting")
			})
		r, err := tool.NewRunner([]tool.Tool{slow}, tool.Options{Server: "x", Policy: testkit.NewFakeDomain().Policy(), Audit: &testkit.MemorySink{}})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		wantFault(t, r.Call(testkit.As(t, "ann", access.Employee), "slow", nil), fault.Timeout)
		if took := time.Since(began); took != tool.ReadTimeout {
			t.Errorf("took %s, want %s", took, tool.ReadTimeout)
		}
	})
}

// store is a sink that writes nothing once its context has ended, as a database.
type store struct{ sink *testkit.MemorySink }

// Append implements audit.Sink.
func (s store) Append(ctx context.Context, e audit.Event) error {
	if ctx.Err() != nil {
		return fault.Timeout.New("The store did not answer in time.").Because(ctx.Err())
	}
	if _, ok := ctx.Deadline(); !ok {
		return errors.New("writing an event has no deadline")
	}
	return s.sink.Append(ctx, e)
}

// locked is a store that another process has locked until the caller leaves.
type locked struct {
	store
	leave func()
}

// Append implements audit.Sink.
func (l locked) Append(ctx context.Context, e audit.Event) error {
	if e.Kind == audit.Intent {
		l.leave()
	}
	return l.store.Append(ctx, e)
}

// TestChangeWhoseCallerLeavesBeforeItIsRecordedIsCancelled: it is no failure of ours, and
// nothing has changed.
func TestChangeWhoseCallerLeavesBeforeItIsRecordedIsCancelled(t *testing.T) {
	var (
		sink testkit.MemorySink
		log  testkit.Logs
	)
	ctx, cancel := context.WithCancel(testkit.As(t, "ann", access.Employee))
	edit := tool.Edit(tool.Spec{Name: "edit", Title: "Edit", Description: "Edits.", Allow: []access.Role{access.Employee}},
		func(context.Context, struct{}) (testkit.Note, error) {
			t.Error("the change was made")
			return testkit.Note{}, nil
		})
	r, err := tool.NewRunner([]tool.Tool{edit}, tool.Options{Server: "x", Policy: testkit.NewFakeDomain().Policy(), Audit: locked{store{&sink}, cancel}, Log: log.Logger()})
	if err != nil {
		t.Fatal(err)
	}
	wantFault(t, r.Call(ctx, "edit", nil), fault.Cancelled)
	if events := sink.Events(); len(events) != 1 || events[0].Kind != audit.Outcome || events[0].Outcome != "CANCELLED" {
		t.Errorf("got %+v in the audit, want one CANCELLED", events)
	}
	if text := log.String(); strings.Contains(text, "level=ERROR") {
		t.Errorf("got logged:\n%s", text)
	}
}

// TestOneCauseIsLoggedOnce: a change that is refused because its event cannot be written has
// one line, and so has a read whose answer is withheld.
func TestOneCauseIsLoggedOnce(t *testing.T) {
	var (
		sink testkit.MemorySink
		log  testkit.Logs
	)
	h := newHarness(t, nil)
	domain := testkit.NewFakeDomain(someNotes(3)...)
	r, err := tool.NewRunner(domain.Tools(), tool.Options{
		Server: "notebook", Policy: domain.Policy(), Cursors: ring(t), Confirmations: newConfirmations(t, h), Receipts: tool.OneStore(domain), Audit: &sink, FailClosed: true, Log: log.Logger(),
	})
	if err != nil {
		t.Fatal(err)
	}
	sink.Break(errors.New("disk full"))
	calls := [][2]string{{"burn_note", `{"id":1,"reason":"too old"}`}, {"get_note", `{"id":1}`}}
	for _, c := range calls {
		wantFault(t, r.Call(testkit.As(t, "boss", access.Manager, access.Employee), c[0], json.RawMessage(c[1])), fault.ServiceDown)
	}
	if text := log.String(); strings.Count(text, "disk full") != len(calls) || strings.Count(text, "audit event not written") != len(calls) {
		t.Errorf("got logged:\n%s", text)
	}
}

// TestCancelledCallIsRecordedAsSuch: the store may report the end of the context
// in its own way. It is no failure of ours, so that no alarm is raised.
func TestCancelledCallIsRecordedAsSuch(t *testing.T) {
	for name, failure := range map[string]error{"as it is": nil, "as a deadline": fault.Timeout.New("Too slow."), "unknown": errors.New("connection reset while waiting")} {
		var (
			sink     testkit.MemorySink
			log      testkit.Logs
			outcomes []string
		)
		running := make(chan struct{})
		slow := tool.Read(tool.Spec{Name: "slow", Title: "Slow", Description: "Waits.", Allow: []access.Role{access.Employee}},
			func(ctx context.Context, _ struct{}) (testkit.Note, error) {
				close(running)
				<-ctx.Done()
				return testkit.Note{}, cmp.Or(failure, ctx.Err())
			})
		r, err := tool.NewRunner([]tool.Tool{slow}, tool.Options{
			Server: "x", Policy: testkit.NewFakeDomain().Policy(), Audit: store{&sink}, Log: log.Logger(),
			Observe: func(_, outcome string, _ time.Duration) { outcomes = append(outcomes, outcome) },
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(testkit.As(t, "ann", access.Employee))
		go func() { <-running; cancel() }()
		wantFault(t, r.Call(ctx, "slow", nil), fault.Cancelled)
		events := sink.Events()
		if len(events) != 1 || events[0].Outcome != "CANCELLED" || !slices.Equal(outcomes, []string{"CANCELLED"}) {
			t.Errorf("%s: got %+v in the audit and %v counted, want one CANCELLED each", name, events, outcomes)
		}
		if text := log.String(); strings.Contains(text, "level=ERROR") || strings.Count(text, "cancelled") != 1 {
			t.Errorf("%s: got logged:\n%s", name, text)
		}
	}
}

// TestKnownStateIsNoFailureInTheLog: a tool that says itself why it cannot answer, as where
// nothing is configured, raises no alarm.
func TestKnownStateIsNoFailureInTheLog(t *testing.T) {
	for want, failure := range map[string]error{"level=WARN": fault.ServiceDown.New("Nothing is configured."), "level=ERROR": fault.ServiceDown.New("Away.").Because(errors.New("no route"))} {
		var log testkit.Logs
		read := tool.Read(tool.Spec{Name: "look", Title: "Look", Description: "Fails.", Allow: []access.Role{access.Employee}},
			func(context.Context, struct{}) (testkit.Note, error) { return testkit.Note{}, failure })
		r, err := tool.NewRunner([]tool.Tool{read}, tool.Options{Server: "x", Policy: testkit.NewFakeDomain().Policy(), Audit: store{new(testkit.MemorySink)}, Log: log.Logger()})
		if err != nil {
			t.Fatal(err)
		}
		r.Call(testkit.As(t, "ann", access.Employee), "look", nil)
		if text := log.String(); !strings.Contains(text, want+" ") {
			t.Errorf("got logged:\n%s, want %s", text, want)
		}
	}
}

// TestCallCancelledAtTheLastMomentIsRecordedAsItEnds: record and answer agree. What was read
// is CANCELLED as long as it is not recorded; an edit that was made, and what was recorded
// before, are answered.
func TestCallCancelledAtTheLastMomentIsRecordedAsItEnds(t *testing.T) {
	spec := func(name string) tool.Spec {
		return tool.Spec{Name: name, Title: "A tool", Description: "Ends.", Allow: []access.Role{access.Employee}}
	}
	for _, c := range []struct{ tool, cancelledIn, want string }{
		{"look", "tool", "CANCELLED"}, {"look", "record", "success"}, {"edit", "tool", "success"},
	} {
		var sink testkit.MemorySink
		ctx, cancel := context.WithCancel(testkit.As(t, "ann", access.Employee))
		do := func(context.Context, struct{}) (testkit.Note, error) {
			if c.cancelledIn == "tool" {
				cancel()
			}
			return testkit.Note{}, nil
		}
		leave := func() {
			if c.cancelledIn == "record" {
				cancel()
			}
		}
		r, err := tool.NewRunner([]tool.Tool{tool.Read(spec("look"), do), tool.Edit(spec("edit"), do)}, tool.Options{Server: "x", Policy: testkit.NewFakeDomain().Policy(), Audit: leaving{store{&sink}, leave}})
		if err != nil {
			t.Fatal(err)
		}
		o := r.Call(ctx, c.tool, nil)
		events := sink.Events()
		if last := events[len(events)-1]; o.Code() != c.want || last.Kind != audit.Outcome || last.Outcome != c.want {
			t.Errorf("%+v: got %s and recorded %+v", c, o.Code(), events)
		}
		cancel()
	}
}

// leaving is a sink whose event's caller leaves while it is written.
type leaving struct {
	store
	leave func()
}

// Append implements audit.Sink.
func (l leaving) Append(ctx context.Context, e audit.Event) error {
	err := l.store.Append(ctx, e)
	l.leave()
	return err
}

// TestFailureIsLoggedWithItsCause: one without a cause is logged with its sentence.
func TestFailureIsLoggedWithItsCause(t *testing.T) {
	for want, failure := range map[string]error{
		`error="disk is full"`:           fault.ServiceDown.New("The store is away.").Because(errors.New("disk is full")),
		`error="Nothing is configured."`: fault.ServiceDown.New("Nothing is configured."),
	} {
		var log testkit.Logs
		away := tool.Read(tool.Spec{Name: "away", Title: "Away", Description: "Fails.", Allow: []access.Role{access.Employee}},
			func(context.Context, struct{}) (testkit.Note, error) { return testkit.Note{}, failure })
		r, err := tool.NewRunner([]tool.Tool{away}, tool.Options{Server: "x", Policy: testkit.NewFakeDomain().Policy(), Audit: &testkit.MemorySink{}, Log: log.Logger()})
		if err != nil {
			t.Fatal(err)
		}
		f := wantFault(t, r.Call(testkit.As(t, "ann", access.Employee), "away", nil), fault.ServiceDown)
		if f.Details["operation"] != "away" {
			t.Errorf("got the details %v, want the operation, as document 000 has it", f.Details)
		}
		if text := log.String(); strings.Count(text, "error=") != 1 || !strings.Contains(text, want) {
			t.Errorf("got logged:\n%s\nwant %s", text, want)
		}
	}
}
