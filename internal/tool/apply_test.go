package tool_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"countersign.dev/internal/access"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/tool"
)

// failingReceipts is a receipt store whose transaction fails after the change.
type failingReceipts struct {
	*testkit.FakeDomain
	keep, find error
}

func (f failingReceipts) Keep(context.Context, confirm.Receipt) error { return f.keep }

func (f failingReceipts) Find(ctx context.Context, o access.Owner, id confirm.ID) (json.RawMessage, bool, error) {
	if f.find != nil {
		return nil, false, f.find
	}
	return f.FakeDomain.Find(ctx, o, id)
}

// approve approves a change whose transaction fails, and returns the answer and
// the log.
func approve(t *testing.T, keep, find error) (o result.Outcome, log string, left int) {
	t.Helper()
	h := &harness{domain: testkit.NewFakeDomain(someNotes(3)...), sink: &testkit.MemorySink{}}
	var lines bytes.Buffer
	r, err := tool.NewRunner(h.domain.Tools(), tool.Options{
		Server: "notebook", Policy: h.domain.Policy(), Cursors: ring(t), Confirmations: newConfirmations(t, h),
		Receipts: tool.OneStore(failingReceipts{h.domain, keep, find}), Audit: h.sink, Log: slog.New(slog.NewJSONHandler(&lines, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	boss := testkit.As(t, "boss", access.Manager)
	id := r.Call(boss, "burn_note", json.RawMessage(`{"id":1}`)).Pending().ID
	o = r.Answer(boss, id, true, "")
	return o, lines.String(), len(h.domain.Notes())
}

func TestFailedApplyIsLoggedOnceWithItsCause(t *testing.T) {
	for name, cause := range map[string]error{
		"a plain error": errors.New("deadlock with 10.0.0.7"),
		"a statement":   fault.DatabaseError.New("The statement failed.").Because(errors.New("deadlock with 10.0.0.7")),
		"an operation":  fault.OperationFailed.New("No row was changed.").Because(errors.New("deadlock with 10.0.0.7")),
	} {
		t.Run(name, func(t *testing.T) {
			o, log, left := approve(t, cause, nil)
			f := wantFault(t, o, fault.OperationFailed)
			if f.ID == "" || !strings.Contains(f.Message, f.ID) || strings.Contains(f.Message, "10.0.0.7") {
				t.Errorf("got %q, want a reference and no cause", f.Message)
			}
			if strings.Count(log, "\n") != 1 || strings.Count(log, f.ID) != 1 || strings.Count(log, "deadlock with 10.0.0.7") != 1 {
				t.Errorf("got the log %s, want one line with the id and the cause, each once", log)
			}
			if left != 3 {
				t.Errorf("%d notes are left, want 3", left)
			}
		})
	}
}

func TestFailedApplyOfAnUnreachableStorePromisesNothing(t *testing.T) {
	gone := fault.ServiceDown.New("The store cannot be reached.")
	o, log, _ := approve(t, errors.New("connection reset"), gone)
	wantFault(t, o, fault.ServiceDown)
	if !strings.Contains(log, "connection reset") {
		t.Errorf("got the log %s, want the cause of the apply", log)
	}
}

type paintV1 struct {
	Wall string `json:"wall"`
}

type paintV2 struct {
	Wall  string `json:"wall"`
	Coats int    `json:"coats,omitempty" jsonschema:"default=2"`
}

type paintCard struct {
	Wall string `json:"wall"`
}

func (c paintCard) Message() tool.Sentence { return tool.Say("Paint %s?", c.Wall) }

type painted struct {
	Message string `json:"message"`
}

// paint declares a change of a wall, whose preview shows nothing but the wall.
func paint[In any](changes *int) tool.Tool {
	return tool.Write(tool.Spec{Name: "paint_wall", Title: "Paint a wall", Description: "Paint a wall.", Allow: []access.Role{access.Manager}},
		tool.Steps[In, paintCard, struct{}, painted]{
			Preview: func(context.Context, In) (paintCard, struct{}, error) { return paintCard{"north"}, struct{}{}, nil },
			Apply:   func(context.Context, In, struct{}) (painted, error) { *changes++; return painted{"Painted."}, nil },
		})
}

// TestToolThatChangedSinceItsCardAppliesNothing: a server that was started anew with another
// default would do something else than what was countersigned.
func TestToolThatChangedSinceItsCardAppliesNothing(t *testing.T) {
	h := &harness{domain: testkit.NewFakeDomain(), sink: &testkit.MemorySink{}}
	confirmations, changes := newConfirmations(t, h), 0
	start := func(declared tool.Tool) *tool.Runner {
		r, err := tool.NewRunner([]tool.Tool{declared}, tool.Options{
			Server: "walls", Policy: h.domain.Policy(), Cursors: ring(t), Confirmations: confirmations,
			Receipts: tool.OneStore(h.domain), Audit: h.sink, Log: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	boss := testkit.As(t, "boss", access.Manager)
	open := func(r *tool.Runner) string {
		return r.Call(boss, "paint_wall", json.RawMessage(`{"wall":"north"}`)).Pending().ID
	}
	before, after := start(paint[paintV1](&changes)), start(paint[paintV2](&changes))
	wantFault(t, after.Answer(boss, open(before), true, ""), fault.ConfirmationStale)
	if changes != 0 {
		t.Error("the changed tool made the change")
	}
	if o := after.Answer(boss, open(after), true, ""); o.Fault() != nil || changes != 1 {
		t.Errorf("confirmed anew: got %v, %d changes", o.Fault(), changes)
	}
}
