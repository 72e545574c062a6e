// Package confirm runs the life of confirmations: a change waits with exactly
// what will be done, is answered once by its owner, applied at most once, and
// every later request for its result returns the same receipt.
//
// It does not know what a change is. The owner of a tool (package tool for our
// own, upstream for third-party ones) supplies an [Executor]. Start with
// [Service].
package confirm

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
)

// ID names a confirmation: a random UUID.
type ID string

// State is a confirmation's state.
type State string

// The states: pending → applying → applied, failed, or back to pending; or
// denied; or expired, of which nothing but what was asked is kept. A change without
// receipts can also end in the state unknown.
const (
	Pending  State = "pending"
	Applying State = "applying"
	Applied  State = "applied"
	Failed   State = "failed"
	Denied   State = "denied"
	Expired  State = "expired" // unanswered

	OutcomeUnknown State = "unknown" // it was sent, its answer was lost, and it is not sent again
)

// Times of a confirmation.
const (
	TTL            = 300 * time.Second // a pending record expires after this
	Memory         = 24 * time.Hour    // how long an answered record is kept, and a copy of what was asked
	AbandonedAfter = 30 * time.Second  // an applying record older than this was abandoned by a crash, unless it has more patience

	settleMargin = 5 * time.Second // between the end of an apply and that of its acquisition
)

// Record is a confirmation as data, stored as JSON under its server's seal. Any
// replica of the server can read it, also after a restart.
type Record struct {
	ID           ID                 `json:"id"`
	State        State              `json:"state"`
	Action       string             `json:"action"`       // the tool's name
	Server       string             `json:"mcpServer"`    // the server that applies it
	Input        json.RawMessage    `json:"input"`        // validated, canonical
	Digest       string             `json:"digest"`       // SHA-256 of Input, hex
	Precondition string             `json:"precondition"` // digest of what the person was shown
	Owner        access.Owner       `json:"owner"`
	Username     string             `json:"username"`
	Provenance   access.Provenance  `json:"origin,omitzero"` // where it was asked for
	Summary      string             `json:"summary"`
	Data         result.PreviewData `json:"confirmationData"`       // with its digest, see result.Pending.Digest
	Unrepeatable bool               `json:"unrepeatable,omitempty"` // see Request
	Patience     time.Duration      `json:"patience,omitempty"`
	Note         string             `json:"note,omitempty"` // the reason that the person gave, for the audit
	Created      time.Time          `json:"created"`
	Expires      time.Time          `json:"expires"`
	Acquired     time.Time          `json:"acquired,omitzero"` // when it was approved or denied
	Answer       json.RawMessage    `json:"answer,omitempty"`  // the receipt of an applied one, the error of a failed one
}

// Entry is what of a record is readable in the store without its server's keys:
// enough to find the server and to list what waits. It decides nothing, because
// it can be written by anyone who can write to the store.
type Entry struct {
	ID      ID           `json:"id"`
	State   State        `json:"state"`
	Server  string       `json:"mcpServer"`
	Owner   access.Owner `json:"owner"`
	Expires time.Time    `json:"expires"`
}

// Entry returns what of the record is stored in the clear.
func (r Record) Entry() Entry { return Entry{r.ID, r.State, r.Server, r.Owner, r.Expires} }

// Pending returns the record as the tool's answer.
func (r Record) Pending() result.Pending {
	data := maps.Clone(map[string]any(r.Data))
	data["expiresAt"] = r.Expires.UnixMilli()
	return result.Pending{ID: string(r.ID), Message: r.Summary, Data: data, Expires: r.Expires}
}

// applyLimit is how long after its acquisition the change may end. That is before the
// acquisition counts as abandoned.
func (r Record) applyLimit() time.Duration { return max(AbandonedAfter-settleMargin, r.Patience) }

// abandoned reports whether the record is applying and nothing applies it any more.
func (r Record) abandoned(now time.Time) bool {
	return r.State == Applying && now.Sub(r.Acquired) > r.applyLimit()+settleMargin
}

// Acquire decides what an answer of owner means, and moves the record to applying (or
// denied) when it is theirs to carry out. It is the one rule of every [Store].
func (r *Record) Acquire(reply Reply, owner access.Owner, now time.Time) Acquisition {
	switch {
	case r.State == Pending && !now.Before(r.Expires):
		return Unknown
	case r.Owner != owner:
		return Foreign
	case reply.Digest != "" && reply.Digest != r.Data[result.KeyDigest]:
		return Other
	case r.State == Pending && !reply.Approved && !r.Acquired.Equal(reply.tried):
		return Tried
	case r.State == Pending:
		r.State, r.Acquired = Denied, now
		if reply.Approved {
			r.State = Applying
		}
		return Acquired
	case r.abandoned(now):
		return Abandoned
	case r.State == Applying:
		return Busy
	}
	return Ended
}

// Settle moves an applying record to a terminal state, or back to pending, and
// reports whether it did. Only its receipt ends it for another attempt
// than the one that acquired it. A pending one was reopened while its apply succeeded
// after all.
func (r *Record) Settle(acquired time.Time, to State, answer json.RawMessage) (moved bool) {
	applied := r.State == Pending && to == Applied
	ended := r.State == Applying && (to == Applied || r.Acquired.Equal(acquired))
	if !applied && !ended {
		return false
	}
	r.State, r.Answer = to, answer
	return true
}

// View returns the record as its owner may see it.
func (r Record) View() result.Confirmation {
	p := r.Pending()
	answered := r.Acquired
	if r.State == Pending || r.State == Expired {
		answered = time.Time{} // it was reopened
	}
	return result.Confirmation{
		ID: p.ID, State: string(r.State), Action: r.Action, Server: r.Server, Message: p.Message, Data: p.Data,
		Created: r.Created, Expires: r.Expires, Answered: answered, Receipt: r.Answer,
	}
}

// Reply is a person's answer to a confirmation.
type Reply struct {
	ID       ID
	Server   string // the server that was asked; a confirmation of another is unknown to it
	Approved bool
	Digest   string // of the preview that the person saw (result.Pending.Digest); empty: not compared

	tried time.Time // of a denial: the acquisition of the last attempt whose receipt was looked for
}

// Acquisition is the result of acquiring a record in order to apply or deny it.
type Acquisition uint8

// The results of an acquisition. The caller of an Acquired record applies it (or has
// denied it); the caller of an Abandoned record settles it.
const (
	Unknown   Acquisition = iota // no such record, or it expired, or it is another server's
	Foreign                      // another owner's; unchanged
	Other                        // the person was shown another preview; unchanged
	Acquired                     // pending → applying (or denied), by this caller alone
	Abandoned                    // applying for longer than AbandonedAfter; unchanged
	Busy                         // another caller is applying it
	Tried                        // there was another attempt since its receipt was looked for; unchanged
	Ended                        // applied, failed or denied before
)

// Store keeps records. Its three changes are atomic. A record that was altered,
// or that another server sealed, is CONFIRMATION_ALTERED. Package state keeps
// records in Redis.
type Store interface {
	// Create stores a pending record until it expires. A store may keep a copy for
	// Memory, which only Get returns.
	Create(ctx context.Context, r Record) error
	// Get returns a record of that server, or the copy of one that is gone, in the
	// state Expired. ok is false when there is none.
	Get(ctx context.Context, server string, id ID) (r Record, ok bool, err error)
	// Acquire moves a pending record of that owner to applying (or, when the reply
	// denies it, to denied) and keeps it for Memory, or returns why not. The
	// record is the one after that.
	Acquire(ctx context.Context, reply Reply, owner access.Owner, now time.Time) (Record, Acquisition, error)
	// Settle moves an applying record to a terminal state (Applied, Failed or
	// OutcomeUnknown) or back to Pending, and keeps it for Memory: also a reopened one, which
	// keeps the time of its answer, so that its receipt is looked for after it expired. Unless it becomes Applied, r.Acquired
	// must be its last acquisition: another attempt is not ended. A pending record can still
	// become Applied: it was reopened while its apply succeeded after all.
	// Terminal states are final, and a deleted record is not created again. moved
	// reports whether this call changed the state.
	Settle(ctx context.Context, r Record, to State, answer json.RawMessage) (moved bool, err error)
}

// Executor carries out a confirmed change and keeps its receipt.
type Executor interface {
	// Apply makes the change and keeps the answer beside it, in one atomic step.
	// On success it returns the encoded answer (the receipt). On a fault it
	// returns the encoded error and the fault. Nothing was changed then, unless
	// the fault's kind is Unavailable or Internal: then Find decides. The error of
	// an unrepeatable change wraps ErrNotSent when nothing was sent.
	Apply(ctx context.Context, r Record) (answer json.RawMessage, err error)
	// Find returns the receipt that is kept beside the owner's change.
	Find(ctx context.Context, owner access.Owner, id ID) (answer json.RawMessage, found bool, err error)
}

// ErrNotSent marks the error of an apply that sent nothing: an unrepeatable change
// can then be tried again.
var ErrNotSent = errors.New("nothing was sent")

// Receipt is what is kept beside a change, in the same transaction or document.
type Receipt struct {
	ID     ID
	Owner  access.Owner
	Tool   string
	Answer json.RawMessage
}

// Stale is the fault of a change whose precondition no longer holds.
func Stale() *fault.Error {
	return fault.ConfirmationStale.New("What you were shown has changed since. Nothing was changed.")
}

// Altered is the fault of a record that does not open, or that says something
// else in the clear than under its seal.
func Altered(cause error) *fault.Error {
	return fault.ConfirmationAltered.New("The stored confirmation was altered, or sealed with a key that this server does not have. Nothing was changed.").Because(cause)
}
