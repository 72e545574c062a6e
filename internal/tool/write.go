package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"countersign.dev/internal/access"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
	"countersign.dev/internal/schema"
)

// Confirmation returns a confirmation of the principal in the context, as its
// owner may see it.
func (r *Runner) Confirmation(ctx context.Context, id string) (result.Confirmation, error) {
	who, err := access.From(ctx)
	if err != nil {
		return result.Confirmation{}, err
	}
	if r.opts.Confirmations == nil {
		return result.Confirmation{}, fault.ConfirmationNotFound.New("Confirmation not found or expired.")
	}
	record, err := r.opts.Confirmations.Get(ctx, who, r.opts.Server, confirm.ID(id), executor{r})
	if err != nil {
		return result.Confirmation{}, fault.From(err).With("confirmationId", id)
	}
	return record.View(), nil
}

// Answer approves or denies a confirmation of the principal in the context; it is
// a server's /execute. digest is that of the preview that the person saw, or
// empty. An approval applies the change at most once; every later answer returns
// the same receipt, byte for byte.
func (r *Runner) Answer(ctx context.Context, id string, approved bool, digest string) result.Outcome {
	who, err := access.From(ctx)
	if err != nil {
		return result.Failed(err)
	}
	if r.opts.Confirmations == nil || !schema.IsUUID(id) {
		return result.Failed(fault.ConfirmationNotFound.New("Confirmation not found or expired.").With("confirmationId", id))
	}
	reply := confirm.Reply{ID: confirm.ID(id), Server: r.opts.Server, Approved: approved, Digest: digest}
	answered, err := r.opts.Confirmations.Answer(ctx, who, reply, executor{r})
	if err != nil {
		return result.Failed(fault.From(err).With("confirmationId", id))
	}
	return answered.Outcome(reply.ID, r.opts.Dialect.Decode)
}

// executor applies confirmed writes. Every check of Call runs again.
type executor struct{ runner *Runner }

// Apply runs a confirmed write: role, input, preview and precondition again, then
// the change and its receipt in one transaction.
func (e executor) Apply(ctx context.Context, record confirm.Record) (json.RawMessage, error) {
	answer, err := e.apply(ctx, record)
	if err == nil {
		return answer, nil
	}
	o := result.Failed(fault.From(operationFailed(endedOr(ctx, err))).WithDeclared("confirmationId", string(record.ID)))
	e.runner.complete(ctx, o.Fault(), record.Action, record.Input)
	e.runner.logFailure(ctx, record.Action, o.Fault())
	return e.runner.Encode(o), o.Fault()
}

// operationFailed is the answer of an apply that failed for an internal reason:
// OPERATION_FAILED with a reference, under which the log has the cause.
func operationFailed(err error) error {
	f := fault.From(err)
	switch {
	case f.Kind() != fault.Internal:
		return f
	case f.Code == fault.OperationFailed:
		return f.Referenced(f.ID)
	}
	return fault.OperationFailed.New("The change could not be completed. Nothing was changed.").Referenced(f.ID).Because(cmp.Or(errors.Unwrap(f), error(f)))
}

func (e executor) apply(ctx context.Context, record confirm.Record) (answer json.RawMessage, err error) {
	who, err := access.From(ctx)
	if err != nil {
		return nil, err
	}
	c, err := e.runner.admit(ctx, who, record.Action, record.Input)
	if err != nil {
		return nil, err
	}
	if c.tool.kind != result.Write || confirm.Digest(c.input) != record.Digest {
		return nil, fault.ConfirmationStale.New("The tool has changed since this was confirmed. Nothing was changed.")
	}
	defer func() {
		if p := recover(); p != nil {
			err = fault.Panic("applying "+record.Action, p)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, c.tool.timeout())
	defer cancel()
	store, found, err := e.runner.opts.Receipts.Of(ctx, record.ID)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, fault.ConfirmationNotFound.New("Confirmation not found or expired.")
	}
	err = store.Change(ctx, func(ctx context.Context) error {
		if answer, err = e.change(ctx, c, record); err != nil {
			return err
		}
		return store.Keep(ctx, confirm.Receipt{ID: record.ID, Owner: record.Owner, Tool: record.Action, Answer: answer})
	})
	return answer, err
}

// change previews again and applies, inside the transaction, and returns the
// receipt.
func (e executor) change(ctx context.Context, c *admitted, record confirm.Record) (json.RawMessage, error) {
	p, err := c.tool.preview(ctx, &c.call)
	if err != nil {
		return nil, err
	}
	precondition, err := preconditionDigest(p.precondition)
	if err != nil {
		return nil, err
	}
	if precondition != record.Precondition {
		return nil, confirm.Stale()
	}
	out, err := c.tool.apply(ctx, &c.call, p)
	if err != nil {
		return nil, err
	}
	data, err := c.encode(out)
	if err != nil {
		return nil, err
	}
	return e.runner.Encode(result.Success(data, nil, c.tool.messageOf(out))), nil
}

// Find returns the receipt that is stored beside the change.
func (e executor) Find(ctx context.Context, owner access.Owner, id confirm.ID) (json.RawMessage, bool, error) {
	store, found, err := e.runner.opts.Receipts.Of(ctx, id)
	if err != nil || !found {
		return nil, false, err
	}
	return store.Find(ctx, owner, id)
}
