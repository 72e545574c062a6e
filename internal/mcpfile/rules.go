package mcpfile

import (
	"cmp"
	"slices"
	"time"
)

// Approval says when a call of a tool waits for its person.
type Approval string

// The approvals. ApproveDefault waits for every tool that is not read-only.
const (
	ApproveDefault Approval = ""
	ApproveAlways  Approval = "always" // read-only tools too
	ApproveNever   Approval = "never"  // a weakening setting; it does not hold in a turn that untrusted text has entered
)

// Rules are the operator's decisions about the tools of one server. Tools are
// named here as the server names them. The zero value lets no person call
// anything.
type Rules struct {
	Roles   []string             // who may call the tools that name no roles of their own; none: no person
	Allow   []string             // the only tools that are offered; none: all
	Deny    []string             // tools that are not offered, whatever Allow says
	Rename  map[string]string    // to the names under which tools are offered
	Timeout time.Duration        // of one call; zero: the default
	Tools   map[string]ToolRules // of single tools
}

// ToolRules are the operator's decisions about one tool.
type ToolRules struct {
	Roles   []string // who may call it; none: no person
	Approve Approval
	Timeout time.Duration // of one call; zero: the default
}

// Of returns the rules of one tool: its own, and the server's where it has none.
func (r Rules) Of(tool string) ToolRules {
	t := r.Tools[tool]
	if t.Roles == nil {
		t.Roles = r.Roles
	}
	t.Timeout = cmp.Or(t.Timeout, r.Timeout)
	return t
}

// Offered reports whether a tool is offered at all, and the name that follows the
// server's.
func (r Rules) Offered(tool string) (name string, ok bool) {
	if slices.Contains(r.Deny, tool) || len(r.Allow) > 0 && !slices.Contains(r.Allow, tool) {
		return "", false
	}
	return cmp.Or(r.Rename[tool], tool), true
}
