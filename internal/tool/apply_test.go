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
