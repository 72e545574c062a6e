package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/audit"
	"countersign.dev/internal/audit/rowid"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/mcpfile"
	"countersign.dev/internal/plaintext"
	"countersign.dev/internal/result"
	"countersign.dev/internal/strictjson"
	"countersign.dev/internal/upstream/mcpsession"
)

// callForeign enforces what an own server would enforce by itself: the role,
// the confirmation of a write, and the record.
func (u *Upstream) callForeign(ctx context.Context, who *access.Principal, r route, args json.RawMessage) result.Outcome {
	input, err := canonical(args)
	if err != nil {
		return r.recorded(ctx, input, result.Failed(err), false)
	}
	o, intended := r.run(ctx, who, input)
	if o.Pending() != nil { // its opening is recorded
		return o
	}
	return r.recorded(ctx, input, o, intended)
}

// run checks a call and sends it, or opens its confirmation. intended: the intent of a change was recorded.
func (r route) run(ctx context.Context, who *access.Principal, input json.RawMessage) (o result.Outcome, intended bool) {
	err := r.checked(ctx, who, input)
	switch {
	case err != nil:
		return result.Failed(err), false
	case r.tool.Kind == result.Write && !r.unapproved(who):
		return r.server.up.open(ctx, who, r, input), false
	case r.tool.Kind == result.Write:
		return r.change(ctx, input)
	}
	o, err = r.server.call(ctx, r, input)
	if err != nil {
		return result.Failed(r.server.fault(err)), false
	}
	return ended(ctx, o), false
}

// ended decides whether what a foreign tool read is answered or was cancelled: that is
// audited next. A cancellation that comes later crosses the answer.
func ended(ctx context.Context, o result.Outcome) result.Outcome {
	if errors.Is(ctx.Err(), context.Canceled) && o.Data() != nil {
		return result.Failed(ctx.Err())
	}
	return o
}

// checked applies the rules that need no server: role, schema, what a card would
// hide, and how often the person may call the tool.
func (r route) checked(ctx context.Context, who *access.Principal, input json.RawMessage) error {
	if err := allowed(who, r); err != nil {
		return err
	}
	if err := r.checkInput(input); err != nil {
		return err
	}
	if r.tool.Kind == result.Write {
		if err := readable(input); err != nil {
			return err
		}
	}
	limit := r.server.up.o.Limit
	if limit == nil {
		return nil
	}
	return limit(ctx, who.Owner(), r.String())
}

// canonical is the form in which arguments are shown, stored and sent.
func canonical(args json.RawMessage) (json.RawMessage, error) {
	if len(args) == 0 || string(args) == "null" {
		return json.RawMessage("{}"), nil
	}
	input, err := strictjson.Canonical(args)
	if err != nil || input[0] != '{' {
		return nil, fault.WrongInputs().Instruct("Send one JSON object with the tool's arguments.").Because(err)
	}
	return input, nil
}

// checkInput rejects arguments that the tool's schema forbids, before anything is
// sent or shown.
func (r route) checkInput(input json.RawMessage) error {
	if r.schema == nil {
		return nil
	}
	_, err := r.schema.Wrong(input)
	return err
}

// readable rejects arguments whose texts show less than they hold: a card shows
// all of them.
func readable(input json.RawMessage) error {
	var value any
	if err := json.Unmarshal(input, &value); err != nil {
		return fault.WrongInputs().Because(err)
	}
	if err := plaintext.CheckValue("input", value, true); err != nil {
		return fault.WrongInputs(fault.Input{Field: "input", Wrong: "has characters that cannot be seen"}).Tell("A text has characters that cannot be seen. Leave them out.").Instruct("%s", err)
	}
	return nil
}

func allowed(who *access.Principal, r route) error {
	if mayCall(who, r.tool) {
		return nil
	}
	f := fault.Insufficient.New("None of your roles may use %s.", r).With("tool", r.String())
	if len(r.tool.Roles) == 0 {
		return f.Instruct("No role may: an administrator names the roles in the file of connected servers.")
	}
	return who.Lacks(f.Suggest("Ask someone who has one of these roles (%s), or your administrator if you need it yourself.", strings.Join(r.tool.Roles, ", ")), r.tool.Roles...)
}

// open keeps a write until its person answers. The card shows the arguments
// exactly as they will be sent, also in a browser.
func (u *Upstream) open(ctx context.Context, who *access.Principal, r route, input json.RawMessage) result.Outcome {
	if u.o.Confirm == nil {
		return result.Failed(fault.ServiceDown.New("Changes on the %s service cannot be confirmed here.", r.server.Name))
	}
	message := fmt.Sprintf("Run %s of the connected server %s with the arguments shown?", r.tool.Name, r.server.Name)
	shown := confirm.Head(r.tool.Name, r.server.Name, who, u.o.Now())
	legible, err := strictjson.Legible(input)
	if err != nil {
		return result.Failed(err)
	}
	shown["arguments"] = json.RawMessage(legible)
	record, err := u.o.Confirm.Open(ctx, who, confirm.Request{
		Action: r.tool.Name, Server: r.server.Name, Input: input, Digest: confirm.Digest(input),
		Precondition: definition(r), Summary: message, Data: shown, Unrepeatable: true, Patience: r.server.deadline(r),
	})
	switch {
	case fault.Is(err, fault.Cancelled) || errors.Is(err, context.Canceled):
		return result.Failed(ctx.Err())
	case err != nil:
		return result.Failed(err)
	}
	return result.Waiting(record.Pending())
}

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
func (r route) change(ctx context.Context, input json.RawMessage) (o result.Outcome, intended bool) {
	intent := audit.Event{Kind: audit.Intent, Server: r.server.Name, Tool: r.tool.Name, Digest: confirm.Digest(input), Row: rowid.InJSON(input)}
	sink := r.server.up.o.Audit
	if sink == nil {
		return result.Failed(fault.ServiceDown.New("Changes on the %s service cannot be recorded here.", r.server.Name)), false
	}
	if err := sink.Append(ctx, intent); err != nil {
		return result.Failed(fault.ServiceDown.New("The change was not made because it could not be recorded.").Because(err)), false
	}
	o, err := r.server.call(ctx, r, input)
	switch {
	case err == nil:
		return o, true
	case errors.Is(err, mcpsession.ErrNotSent):
		return result.Failed(r.server.fault(err)), true
	}
	return result.Failed(r.server.unknown().Because(err)), true
}

// answerForeign approves or denies a confirmation that is kept here.
func (u *Upstream) answerForeign(ctx context.Context, who *access.Principal, s *server, reply confirm.Reply) result.Outcome {
	if u.o.Confirm == nil {
		return result.Failed(errNoConfirmation(string(reply.ID)))
	}
	v, err := u.o.Confirm.Answer(ctx, who, reply, executor{u, s})
	switch {
	case err != nil:
		return result.Failed(fault.From(err).WithDeclared("confirmationId", string(reply.ID)))
	case v.State == confirm.OutcomeUnknown:
		return result.Failed(s.unknown())
	}
	return v.Outcome(reply.ID, result.DecodeEnvelope)
}

// executor carries out confirmed calls of one foreign server.
type executor struct {
	u *Upstream
	s *server
}

// Apply sends the call once, after every check of its opening.
func (e executor) Apply(ctx context.Context, record confirm.Record) (json.RawMessage, error) {
	r, err := e.admit(ctx, record)
	if err != nil {
		return refusal(err)
	}
	if !e.u.sent.add(record.ID, e.u.o.Now()) { // an older record was put back into the store
		return nil, fault.ServiceDown.New("The call was sent before, and is not sent again.")
	}
	r.repeats = false // a lost answer is final, whatever the server says of the tool
	o, err := e.s.send(ctx, r, record.Input, false)
	switch {
	case errors.Is(err, mcpsession.ErrNotSent):
		e.u.sent.remove(record.ID)
		return refusal(e.s.fault(err))
	case err != nil:
		return nil, fault.ServiceDown.New("The answer was lost.").Because(err) // sent: no other kind of fault may end it without a receipt
	}
	if f := o.Fault(); f != nil {
		return result.EncodeEnvelope(o), f
	}
	return result.EncodeEnvelope(o), nil
}

// add reports whether a call was not sent before, and remembers it.
func (s *sentCalls) add(id confirm.ID, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.at, func(_ confirm.ID, at time.Time) bool { return now.Sub(at) > confirm.TTL })
	if _, before := s.at[id]; before {
		return false
	}
	if s.at == nil {
		s.at = make(map[confirm.ID]time.Time)
	}
	s.at[id] = now
	return true
}

func (s *sentCalls) remove(id confirm.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.at, id)
}

// refusal is the error of a call that was not sent.
func refusal(err error) (json.RawMessage, error) {
	return result.EncodeEnvelope(result.Failed(err)), errors.Join(confirm.ErrNotSent, err)
}

// admit finds the tool again and checks what may have changed since the person
// saw the card.
func (e executor) admit(ctx context.Context, record confirm.Record) (route, error) {
	who, err := access.From(ctx)
	if err != nil {
		return route{}, err
	}
	name, _ := e.s.Rules.Offered(record.Action)
	r, err := e.u.find(ctx, e.s.Name+"."+name)
	if err != nil {
		return route{}, err
	}
	if r.server != e.s || confirm.Digest(record.Input) != record.Digest || definition(r) != record.Precondition {
		return route{}, confirm.Stale().With("confirmationId", string(record.ID))
	}
	return r, allowed(who, r)
}

// Find implements confirm.Executor: a foreign server keeps no receipts.
func (executor) Find(context.Context, access.Owner, confirm.ID) (json.RawMessage, bool, error) {
	return nil, false, nil
}

// definition is the digest of the tool as its server defines it, and of how that server is
// reached: another one may have the name later.
func definition(r route) string {
	encoded, err := json.Marshal(r.tool)
	if err != nil { // schemas were encoded by us
		return ""
	}
	return confirm.Digest(append(encoded, r.server.Key...))
}
