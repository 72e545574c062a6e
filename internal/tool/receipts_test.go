package tool_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"countersign.dev/internal/access"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/tool"
)

// workspaces keeps one receipt store per workspace, as a task server does.
type workspaces struct {
	stores   map[string]*testkit.FakeDomain
	assigned map[confirm.ID]string
}

func (w *workspaces) Assign(_ context.Context, id confirm.ID, input json.RawMessage) error {
	var in struct{ Workspace string }
	if err := json.Unmarshal(input, &in); err != nil {
		return err
	}
	if w.stores[in.Workspace] == nil {
		return fault.OperationFailed.New("There is no workspace %q.", in.Workspace)
	}
	w.assigned[id] = in.Workspace
	return nil
}

func (w *workspaces) Of(_ context.Context, id confirm.ID) (tool.ReceiptStore, bool, error) {
	store, found := w.stores[w.assigned[id]]
	return store, found, nil
}

type emptyWorkspace struct {
	Workspace string `json:"workspace"`
}

type emptyCard struct{ Workspace string }

func (c emptyCard) Message() tool.Sentence { return tool.Say("Empty %s?", c.Workspace) }

type emptied struct {
	Message string `json:"message"`
}

// TestReceiptStoreIsFoundFromTheInput: the receipt is kept in the store of the
// workspace that the input names, and found there when only the id is left.
func TestReceiptStoreIsFoundFromTheInput(t *testing.T) {
	w := &workspaces{map[string]*testkit.FakeDomain{"red": testkit.NewFakeDomain(), "blue": testkit.NewFakeDomain()}, map[confirm.ID]string{}}
	made := 0
	empty := tool.Write(
		tool.Spec{Name: "empty_workspace", Title: "Empty a workspace", Description: "Empty a workspace.", Allow: []access.Role{access.Manager}},
		tool.Steps[emptyWorkspace, emptyCard, struct{}, emptied]{
			Preview: func(_ context.Context, in emptyWorkspace) (emptyCard, struct{}, error) {
				return emptyCard(in), struct{}{}, nil
			},
			Apply: func(context.Context, emptyWorkspace, struct{}) (emptied, error) {
				made++
				return emptied{"Done."}, nil
			},
		})
	runner := func() *tool.Runner { // each with an empty Redis
		r, err := tool.NewRunner([]tool.Tool{empty}, tool.Options{Server: "tasks", Confirmations: newConfirmations(t, newHarness(t, nil)), Receipts: w, Audit: &testkit.MemorySink{}})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	boss, first := testkit.As(t, "boss", access.Manager), runner()
	wantFault(t, first.Call(boss, "empty_workspace", json.RawMessage(`{"workspace":"green"}`)), fault.OperationFailed)

	id := first.Call(boss, "empty_workspace", json.RawMessage(`{"workspace":"blue"}`)).Pending().ID
	receipt := string(first.Encode(first.Answer(boss, id, true, "")))
	if !strings.Contains(receipt, "Done.") {
		t.Fatalf("got %s", receipt)
	}
	who, err := access.From(boss)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"blue": true, "red": false} {
		if _, found, err := w.stores[name].Find(boss, who.Owner(), confirm.ID(id)); found != want || err != nil {
			t.Errorf("receipt in %s: %v, %v, want %v", name, found, err, want)
		}
	}
	second := runner()
	if again := string(second.Encode(second.Answer(boss, id, true, ""))); again != receipt || made != 1 {
		t.Errorf("without Redis: got %s after %d changes, want the receipt and one", again, made)
	}
	wantFault(t, second.Answer(boss, string(confirm.NewID()), true, ""), fault.ConfirmationNotFound)
}
