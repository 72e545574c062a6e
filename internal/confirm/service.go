package confirm

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/audit"
	"countersign.dev/internal/audit/rowid"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/quota"
	"countersign.dev/internal/result"
)

// Service opens and answers confirmations. It has no state: any number of
// services, in any number of processes, can share a store.
type Service struct {
	store Store
	audit audit.Sink
	o     Options
}

// Options configure a Service. The zero value is good.
type Options struct {
	Notifier Notifier          // nil: none
	Observe  func(step string) // called for each step that was recorded: opened, withdrawn, approved, denied, applied, failed, reopened, settled, unknown, refused
	Quotas   *quota.Quotas     // limit the confirmations that wait for one person, on all servers; nil: no limit
	Now      func() time.Time  // nil: time.Now

	// ThroughGateway takes answers from the gateway only: a person's own token answers
	// nothing here.
	ThroughGateway bool
}

// Notifier receives the confirmations that began to wait or were answered, after
// that was stored. A notification can be lost in a crash; the store decides.
type Notifier interface {
	Changed(ctx context.Context, r Record)
}

// Limits of an answer.
const (
	settleLimit = 5 * time.Second // for the steps after an apply, also when the caller disconnected
)

// NewService returns a service over a store. Nil options are the zero value.
func NewService(store Store, sink audit.Sink, o *Options) *Service {
	s := &Service{store: store, audit: sink}
	if o != nil {
		s.o = *o
	}
	if s.o.Now == nil {
		s.o.Now = time.Now
	}
	if s.o.Observe == nil {
		s.o.Observe = func(string) {}
	}
	return s
}

// notify also notifies when the caller disconnected: the change is stored.
func (s *Service) notify(ctx context.Context, r Record, state State) {
	ctx, cancel := lasting(ctx)
	defer cancel()
	if state != Pending {
		s.o.Quotas.Answered(ctx, r.Owner, string(r.ID))
	}
	if s.o.Notifier == nil {
		return
	}
	r.State = state
	s.o.Notifier.Changed(ctx, r)
}

// Request is a change that needs its person's approval.
type Request struct {
	ID           ID              // empty: a new one
	Action       string          // the tool's name
	Server       string          // the server that applies it
	Input        json.RawMessage // validated, canonical
	Digest       string          // SHA-256 of Input, hex
	Precondition string          // digest of what the person is shown
	Summary      string
	Data         map[string]any
	Note         string // the reason that the person gave

	// Unrepeatable marks a change whose server keeps no receipt. Once it may have
	// been sent, it is not sent again: without an answer it ends as OutcomeUnknown.
	// Only the store of confirmations knows that it was sent, so a store that is
	// restored from an older copy does not.
	Unrepeatable bool
	// Patience is how long its server may take for it; applyLimit at least.
	Patience time.Duration
}

// The steps of a confirmation, as the audit names them.
const (
	stepOpened   = "opened"
	stepApproved = "approved" // acquired, and about to be applied
	stepDenied   = "denied"
	stepApplied  = "applied"
	stepFailed   = "failed"   // final; nothing was changed
	stepReopened = "reopened" // not applied; may be answered again
	stepSettled  = "settled"  // found applied, after a crash or a lost answer
	stepUnknown  = "unknown"  // sent, and the answer was lost
	stepRefused  = "refused"  // an answer that had no effect

	stepWithdrawn = "withdrawn" // its asker cancelled the call before it was answered
)

// Open stores a change of p until p answers or TTL is over. It is audited before
// it is stored: when the audit cannot be written or the store cannot be reached,
// it returns SERVICE_UNAVAILABLE and stores nothing. A change whose caller has cancelled
// it by the end of that is withdrawn, and CANCELLED.
func (s *Service) Open(ctx context.Context, p *access.Principal, r Request) (Record, error) {
	now := s.o.Now().UTC()
	if r.ID == "" {
		r.ID = NewID()
	}
	if err := checkCard(r.Summary, r.Data); err != nil {
		return Record{}, err
	}
	data, err := dataOf(r, p.Provenance())
	if err != nil {
		return Record{}, err
	}
	record := Record{
		ID: r.ID, State: Pending, Action: r.Action, Server: r.Server,
		Input: r.Input, Digest: r.Digest, Precondition: r.Precondition, Owner: p.Owner(), Username: p.Username(),
		Provenance: p.Provenance(), Summary: r.Summary, Data: data, Unrepeatable: r.Unrepeatable, Patience: r.Patience, Note: r.Note, Created: now, Expires: now.Add(TTL),
	}
	if err := s.o.Quotas.Wait(ctx, p.Owner(), string(record.ID), TTL); err != nil {
		return Record{}, err
	}
	recorded := s.record(ctx, p, record, stepOpened, "pending_confirmation")
	if err = recorded; err == nil {
		err = s.store.Create(ctx, record)
	}
	switch cancelled := errors.Is(ctx.Err(), context.Canceled); {
	case cancelled && s.withdraw(ctx, p, record):
		err = ctx.Err()
	case !cancelled && err != nil && recorded == nil: // it may be stored all the same, and its caller asks again
		s.withdraw(ctx, p, record)
	}
	if err != nil {
		s.o.Quotas.Answered(context.WithoutCancel(ctx), p.Owner(), string(record.ID))
		return Record{}, err
	}
	s.notify(ctx, record, Pending)
	return record, nil
}

// withdraw takes back a change that may have been stored, also when the caller's connection
// to the store has ended. It reports whether it waits no more: its person may have answered.
func (s *Service) withdraw(ctx context.Context, p *access.Principal, r Record) bool {
	ctx, cancel := lasting(ctx)
	defer cancel()
	_, acquired, err := s.store.Acquire(ctx, Reply{ID: r.ID, Server: r.Server}, p.Owner(), s.o.Now())
	if err != nil || acquired != Acquired && acquired != Unknown {
		return false
	}
	s.recordPast(ctx, p, r, stepWithdrawn, fault.Cancelled.Name) // of one that was not stored, too: it was recorded as opened
	return true
}

// dataOf returns the data of the preview with its provenance, and then with the digest
// of all that.
func dataOf(r Request, from access.Provenance) (result.PreviewData, error) {
	data := result.PreviewData{}
	maps.Copy(data, r.Data)
	data[result.KeyProvenance] = provenanceOf(from)
	digest, err := result.Pending{Message: r.Summary, Data: data}.Digest()
	if err != nil {
		return nil, fmt.Errorf("the preview of %s: %w", r.Action, err)
	}
	data[result.KeyDigest] = digest
	return data, nil
}

// provenanceOf is where a change was asked for, as a card shows it.
func provenanceOf(from access.Provenance) map[string]any {
	provenance := map[string]any{"surface": string(from.Surface)}
	if len(from.TaintedBy) > 0 {
		provenance["tainted_by"] = from.TaintedBy
	}
	return provenance
}

// stored returns a confirmation of p as the store has it.
func (s *Service) stored(ctx context.Context, p *access.Principal, server string, id ID) (Record, error) {
	if !idShape.MatchString(string(id)) {
		return Record{}, notFound()
	}
	r, ok, err := s.store.Get(ctx, server, id)
	if r.State == Pending && !s.o.Now().Before(r.Expires) {
		r.State = Expired
	}
	switch {
	case fault.Is(err, fault.ConfirmationAltered):
		return Record{}, s.refuse(ctx, p, id, fault.From(err))
	case err != nil:
		return Record{}, err
	case !ok || r.State == Expired && r.Owner != p.Owner():
		return Record{}, notFound()
	case r.Owner != p.Owner():
		return Record{}, s.refuse(ctx, p, id, fault.UserMismatch.New("You can only see your own confirmations"))
	}
	return r, nil
}

// record audits a step before it is taken. On an error the step must not be
// taken.
func (s *Service) record(ctx context.Context, p *access.Principal, r Record, step, outcome string) error {
	e := event(p, audit.Confirmation, r.ID, step, outcome)
	e.Server, e.Tool, e.Digest, e.Row = r.Server, r.Action, r.Digest, rowid.InJSON(r.Input)
	e.Note, e.TaintedBy = r.Note, r.Provenance.Read()
	if err := s.audit.Append(ctx, e); err != nil {
		return fault.ServiceDown.New("The step was not taken because it could not be recorded.").Because(err)
	}
	s.o.Observe(step)
	return nil
}

// recordPast audits a step that was taken already. An error does not change the
// answer: an approval was audited before, and the receipt beside the change
// holds its result; a denial and a withdrawal change nothing.
func (s *Service) recordPast(ctx context.Context, p *access.Principal, r Record, step, outcome string) {
	ctx, cancel := lasting(ctx)
	defer cancel()
	_ = s.record(ctx, p, r, step, outcome)
}

// refuse audits a refused answer and returns the refusal, whether or not the
// audit could be written.
func (s *Service) refuse(ctx context.Context, p *access.Principal, id ID, why *fault.Error) error {
	_ = s.audit.Append(ctx, event(p, audit.Denial, id, stepRefused, why.Code.Name))
	s.o.Observe(stepRefused)
	return why
}

func event(p *access.Principal, kind audit.Kind, id ID, step, outcome string) audit.Event {
	owner := p.Owner()
	return audit.Event{
		Kind: kind, Issuer: owner.Issuer, Subject: owner.Subject, Username: p.Username(),
		Step: step, Confirmation: string(id), Outcome: outcome,
	}
}

func notFound() *fault.Error {
	return fault.ConfirmationNotFound.New("Confirmation not found or expired")
}

var idShape = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// NewID makes a random UUID (version 4).
func NewID() ID {
	var b [16]byte
	_, _ = rand.Read(b[:]) // crypto/rand.Read never fails since Go 1.24
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return ID(fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]))
}

// lasting returns a context that is not cancelled with the caller's, and ends
// after settleLimit.
func lasting(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), settleLimit)
}
