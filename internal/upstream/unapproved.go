package upstream

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"

	"countersign.dev/internal/access"
	"countersign.dev/internal/audit"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/mcpfile"
	"countersign.dev/internal/result"
	"countersign.dev/internal/upstream/mcpsession"
)

// unapproved reports whether a write is sent without asking its person. That needs
// the operator's setting, a caller who could approve it, and that it is known what
// the model has read: a turn of ours without untrusted text, or a direct call without
// a model. What the model of an MCP client has read is not known, and its token, which
// may not approve, gets no further on another surface.
func (r route) unapproved(who *access.Principal) bool {
	provenance := who.Provenance()
	switch provenance.Surface {
	case access.SurfaceChat, access.SurfaceTerminal, access.SurfaceAPI:
		return who.MayConfirm() && len(provenance.TaintedBy) == 0 && r.rules.Approve == mcpfile.ApproveNever
	}
	return false
}

// change sends a write that waits for no person. Its intent is recorded before, or
// it is not sent. When its answer is lost, whether it was carried out is unknown.
func (r route) change(ctx context.Context, input json.RawMessage) result.Outcome {
	intent := audit.Event{Kind: audit.Intent, Server: r.server.Name, Tool: r.tool.Name, Digest: digest(input), Row: audit.RowsOf(input)}
	sink := r.server.up.o.Audit
	if sink == nil {
		return result.Failed(fault.ServiceDown.New("Changes on the %s service cannot be recorded here.", r.server.Name))
	}
	if err := sink.Append(ctx, intent); err != nil {
		return result.Failed(fault.ServiceDown.New("The change was not made because it could not be recorded.").Because(err))
	}
	o, err := r.server.call(ctx, r, input)
	switch {
	case err == nil:
		return r.recorded(ctx, input, o)
	case errors.Is(err, mcpsession.ErrNotSent):
		return result.Failed(r.server.fault(err))
	}
	return result.Failed(r.server.unknown().Because(err))
}

// recorded records an outcome that the server knows and does not record. What was read is
// withheld without a record where that is asked for; the intent of a change was recorded before.
func (r route) recorded(ctx context.Context, input json.RawMessage, o result.Outcome) result.Outcome {
	kind := audit.Outcome
	if f := o.Fault(); f != nil && f.Kind() == fault.Forbidden {
		kind = audit.Denial
	}
	err := r.server.up.audit(ctx, audit.Event{Kind: kind, Server: r.server.Name, Tool: r.tool.Name, Digest: digest(input), Row: audit.RowsOf(input), Rows: o.Rows(), Shown: audit.ShownIn(o.Data()), Outcome: o.Code()})
	if err != nil && r.server.up.o.FailClosed && r.tool.Kind != result.Write && o.Fault() == nil {
		return result.Failed(fault.ServiceDown.New("The answer was withheld because it could not be recorded.").Because(err))
	}
	return o
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
