package upstream

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"countersign.dev/internal/audit"
	"countersign.dev/internal/audit/rowid"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
)

// recorded is the exit of a call with a route that no server has recorded. What was read
// is withheld without a record where that is asked for. intended says that the intent of a change
// was recorded before. A nil input is one that only its server looks at.
func (r route) recorded(ctx context.Context, input json.RawMessage, o result.Outcome, intended bool) result.Outcome {
	e := audit.Event{Server: r.server.Name, Tool: r.tool.Name, Rows: o.Rows(), Shown: rowid.Fingerprints(o.Data())}
	if input != nil {
		e.Digest, e.Row = confirm.Digest(input), rowid.InJSON(input)
	}
	err := r.server.up.record(ctx, e, o, intended)
	if err != nil && r.server.up.o.FailClosed && r.tool.Kind != result.Write && o.Fault() == nil {
		return result.Failed(fault.ServiceDown.New("The answer was withheld because it could not be recorded.").Because(err))
	}
	return o
}

// unfound is the exit of a call for which no server was found.
func unfound(ctx context.Context, u *Upstream, name string, err error) result.Outcome {
	o := result.Failed(err)
	_ = u.record(ctx, audit.Event{Tool: fault.Clip(name, maxName)}, o, false) // nothing was read
	return o
}

const maxName = 128 // bytes of a tool's name that no server has

// record records how a call ended. An intent has its outcome in a line of its own.
func (u *Upstream) record(ctx context.Context, e audit.Event, o result.Outcome, intended bool) error {
	e.Kind, e.Outcome = audit.Outcome, o.Code()
	if f := o.Fault(); f != nil && f.Kind() == fault.Forbidden {
		e.Kind = audit.Denial
	}
	sink := u.o.Audit
	if !intended && refused(e, o.Fault()) {
		sink = cmp.Or(u.o.Refusals, sink)
	}
	if sink == nil {
		return nil
	}
	err := sink.Append(context.WithoutCancel(ctx), e)
	if err != nil {
		u.o.Log.ErrorContext(ctx, "audit could not be written", "server", e.Server, "tool", e.Tool, "error", err)
	}
	return err
}

// refused reports whether a call was refused whatever its arguments are, by us or by its server's
// limits: a flood of such calls costs nothing else, and must not fill the disk.
func refused(e audit.Event, f *fault.Error) bool {
	return f != nil && (e.Server == "" || f.Code == fault.UnknownTool || f.Kind() == fault.RateLimited || errors.Is(f, errOpen))
}
