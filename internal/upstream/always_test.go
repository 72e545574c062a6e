package upstream_test

import (
	"slices"
	"testing"

	"countersign.dev/internal/mcpfile"
	"countersign.dev/internal/upstream"
)

// TestApproveAlwaysHoldsForReadOnlyTools: a server's word that a tool only reads does
// not weigh more than the operator's that its calls wait.
func TestApproveAlwaysHoldsForReadOnlyTools(t *testing.T) {
	n := newNotes(t, modern)
	ask := func(a mcpfile.Approval) upstream.Server {
		s := n.server()
		s.Rules.Tools = map[string]mcpfile.ToolRules{"stats": {Approve: a}}
		return s
	}
	u := hostWith(t, upstream.Options{}, ask(mcpfile.ApproveAlways))
	p := u.Call(writer, "notes.stats", nil).Pending()
	if p == nil || len(n.received()) != 0 {
		t.Fatalf("got %v and calls %v, want a card and no call", p, n.received())
	}
	for _, tool := range u.Tools(writer).Open {
		if tool.Name == "notes.stats" && tool.Annotations.ReadOnly {
			t.Error("it is listed as read-only, and a client would not expect that it waits")
		}
	}
	if o := u.Answer(writer, p.ID, true, ""); o.Fault() != nil || !slices.Equal(n.received(), []string{"stats {}"}) {
		t.Errorf("approved: got %s and calls %v", o.Code(), n.received())
	}
	free := hostWith(t, upstream.Options{}, ask(mcpfile.ApproveDefault))
	if o := free.Call(writer, "notes.stats", nil); o.Fault() != nil || o.Pending() != nil {
		t.Errorf("without the rule: got %s", o.Code())
	}
}
