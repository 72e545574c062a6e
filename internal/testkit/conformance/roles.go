package conformance

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"countersign.dev/internal/access"
	"countersign.dev/internal/result"
	"countersign.dev/internal/testkit/domaintest"
)

// roles calls every tool with every single role: the declared table, what is
// listed, the policies of the store and the applied change give one answer. Every
// tool of the domain has a valid call.
func (s *suite) roles(t *testing.T) {
	for _, declared := range s.unchanged.store.Tools() {
		c := s.call(t, declared.Spec().Name)
		for _, role := range Roles() {
			h, allowed := s.unchanged, slices.Contains(c.Allow, role)
			if allowed && s.changes(c.Tool) {
				h = s.open(t, Company)
			}
			ctx := Asker{Email: c.Email, Roles: []string{role}}.in(t.Context())
			if listed := h.lists(Asker{Email: c.Email, Roles: []string{role}}, c.Tool); listed != allowed {
				t.Errorf("%s is listed to %s: %v, want %v", c.Tool, role, listed, allowed)
			}
			o := h.Ask(ctx, c.Tool, c.In)
			if o.Pending() != nil {
				o = h.Answer(ctx, o.Pending().ID, true, "")
			}
			if want := map[bool]string{true: result.StatusSuccess, false: "INSUFFICIENT_PERMISSIONS"}[allowed]; o.Code() != want {
				t.Errorf("%s calls %s: got %s, want %s", role, c.Tool, h.Encode(o), want)
			}
			if allowed && len(o.Data()) < 20 {
				t.Errorf("%s calls %s: got nothing, %s", role, c.Tool, h.Encode(o))
			}
			if !allowed && (o.Fault() == nil || !strings.Contains(o.Fault().Message, strings.Join(c.Allow, " or ")) && !names(o.Fault().Message, c.Allow)) {
				t.Errorf("%s calls %s: the answer does not name who may: %s", role, c.Tool, h.Encode(o))
			}
		}
	}
}

func names(message string, roles []string) bool {
	return !slices.ContainsFunc(roles, func(r string) bool { return !strings.Contains(message, r) })
}

// changes reports whether a tool changes rows, with an approval or at once.
func (s *suite) changes(tool string) bool {
	kind := s.unchanged.info(tool).Kind
	return kind == result.Write || kind == result.Edit
}

func (h *harness) lists(a Asker, tool string) bool {
	h.Helper()
	p, err := access.From(a.in(h.Context()))
	if err != nil {
		h.Fatal(err)
	}
	return slices.ContainsFunc(h.Visible(p), func(i result.ToolInfo) bool { return i.Name == tool })
}

// inputs holds every tool to its documented input: no field is missing, became
// required or was added unseen.
func (s *suite) inputs(t *testing.T) {
	h := s.unchanged
	got := map[string]string{}
	for _, declared := range h.store.Tools() {
		name := declared.Spec().Name
		got[name] = domaintest.Inputs(t, h.info(name))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Inputs)) {
		if got[name] != s.Inputs[name] {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got[name], s.Inputs[name])
		}
		delete(got, name)
	}
	if len(got) > 0 {
		t.Errorf("not documented: %v", got)
	}
}

// info returns the declaration of a tool, as a caller with every role gets it.
func (h *harness) info(tool string) result.ToolInfo {
	h.Helper()
	for _, info := range h.all() {
		if info.Name == tool {
			return info
		}
	}
	h.Fatalf("there is no tool %s", tool)
	return result.ToolInfo{}
}

// all are the tools of the domain.
func (h *harness) all() []result.ToolInfo {
	h.Helper()
	p, err := access.From(Asker{Email: "x@y", Roles: Roles()}.in(h.Context()))
	if err != nil {
		h.Fatal(err)
	}
	return h.Visible(p)
}
