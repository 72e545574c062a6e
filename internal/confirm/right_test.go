package confirm_test

import (
	"testing"

	"countersign.dev/internal/access"
	"countersign.dev/internal/audit"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/fault"
)

// TestOnlyTheRightAnswers: an answer without the right changes nothing, is
// audited, and leaves the confirmation to its person.
func TestOnlyTheRightAnswers(t *testing.T) {
	claims := access.Claims{Issuer: "https://id.example.com", Subject: "alice", Username: "alice"}
	with := func(change func(*access.Claims)) *access.Principal {
		c := claims
		change(&c)
		return access.NewPrincipal(c)
	}
	for _, row := range []struct {
		name            string
		who             *access.Principal
		direct, through *fault.Code
	}{
		{"a token without the right", with(func(*access.Claims) {}), fault.InsufficientScope, fault.InsufficientScope},
		{"an internal token for calls", with(func(c *access.Claims) { c.Purpose = access.PurposeCall }), fault.InsufficientScope, fault.InsufficientScope},
		{"a token with the right", with(func(c *access.Claims) { c.MayConfirm = true }), nil, fault.ForbiddenRequest},
		{"the gateway's execute token", with(func(c *access.Claims) { c.MayConfirm, c.Purpose = true, access.PurposeExecute }), nil, nil},
	} {
		for name, want := range map[string]*fault.Code{"direct": row.direct, "through the gateway": row.through} {
			for _, approved := range []bool{true, false} {
				h := newHarness(t)
				service := confirm.NewService(h.store, h.audit, &confirm.Options{Now: h.now, ThroughGateway: name != "direct"})
				id := h.open()
				_, err := service.Answer(t.Context(), row.who, reply(id, approved), h.domain)
				if want == nil && err != nil || want != nil && !fault.Is(err, want) {
					t.Errorf("%s, %s, approved %v: got %v, want %v", row.name, name, approved, err, want)
				}
				if want == nil {
					continue
				}
				last := h.audit.last()
				if last.Kind != audit.Denial || last.Outcome != want.Name || last.Confirmation != string(id) || last.Username != "alice" {
					t.Errorf("%s, %s: the last event is %+v", row.name, name, last)
				}
				if got := h.state(id); got != confirm.Pending {
					t.Errorf("%s, %s: the confirmation is %s", row.name, name, got)
				}
			}
		}
	}
}
