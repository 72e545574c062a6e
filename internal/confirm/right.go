package confirm

import (
	"context"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
)

// Permit reports whether p may answer confirmations here. A refusal is audited:
// INSUFFICIENT_SCOPE without the right, FORBIDDEN when answers must come through
// the gateway.
func (s *Service) Permit(ctx context.Context, p *access.Principal, id ID) error {
	if !idShape.MatchString(string(id)) {
		id = "" // the caller chose it: the audit keeps no unverified text
	}
	switch {
	case !p.MayConfirm():
		return s.refuse(ctx, p, id, fault.InsufficientScope.New("This token may not approve or deny changes."))
	case s.o.ThroughGateway && p.Purpose() == access.PurposeNone:
		return s.refuse(ctx, p, id, fault.ForbiddenRequest.New("This server takes answers to confirmations from the gateway only.").
			Suggest("Approve or deny the change at the gateway."))
	}
	return nil
}
