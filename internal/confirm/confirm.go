// Package confirm is the desk where changes wait for their human: opened with
// exactly what will be done, answered once by their owner, applied at most once,
// and answered with the same receipt whenever somebody asks again.
//
// It does not know what a change is. The owner of a tool (package tool for our
// own, upstream for third-party ones) hands it an [Effect]. Start with [Desk].
package confirm

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
)

// ID names a confirmation: a random UUID.
type ID string

// State is where a confirmation stands in its life.
type State string

// The life of a confirmation: pending → applying → applied, failed, or back to
// pending; or denied; or gone by time. A change without receipts can also end
// in the state unknown.
const (
	Pending  State = "pending"
	Applying State = "applying"
	Applied  State = "applied"
	Failed   State = "failed"
	Denied   State = "denied"

	OutcomeUnknown State = "unknown" // it was sent, its answer was lost, and it is not sent again
)

// The times of a confirmation's life.
const (
	TTL      = 300 * time.Second // how long a person may think
	Memory   = 24 * time.Hour    // how long an answered record is kept
	ClaimAge = 30 * time.Second  // an applying record older than this was left behind by a crash
)

// Record is a confirmation as data. It is stored as JSON and must survive
// restarts and be readable by another replica.
type Record struct {
	ID           ID              `json:"id"`
	State        State           `json:"state"`
	Action       string          `json:"action"`       // the tool's name
	Server       string          `json:"mcpServer"`    // who applies it
	Input        json.RawMessage `json:"input"`        // validated, canonical
	Digest       string          `json:"digest"`       // SHA-256 of Input, hex
	Precondition string          `json:"precondition"` // digest of what the person was shown
	Owner        access.Owner    `json:"owner"`
	Username     string          `json:"username"`
	Summary      string          `json:"summary"`
	Data         map[string]any  `json:"confirmationData"`
	Unrepeatable bool            `json:"unrepeatable,omitempty"` // see Request
	Note         string          `json:"note,omitempty"`         // the reason that the person gave, for the audit
	Created      time.Time       `json:"created"`
	Expires      time.Time       `json:"expires"`
	Claimed      time.Time       `json:"claimed,omitzero"`
	Answer       json.RawMessage `json:"answer,omitempty"` // the receipt of an applied one, the error of a failed one
}

// Claim is what asking for a record with the wish to apply or deny it came to.
type Claim uint8

// The claims. Won means that the record was pending and is now the caller's to
// apply (or is denied, for a denial); Left means that it was left applying for
// longer than ClaimAge and is the caller's to settle.
const (
	Unknown   Claim = iota // no such record, or it expired
	Foreign                // it belongs to someone else and was not touched
	Acquired               // pending → applying (or denied), by this caller alone
	Abandoned              // applying since more than ClaimAge; Claimed was renewed for this caller
	Busy                   // applying, by someone else, just now
	Ended                  // applied, failed or denied before
)

// Store keeps records. Its three changes are atomic. Package state keeps them
// in Redis.
type Store interface {
	// Create stores a pending record until it expires.
	Create(ctx context.Context, r Record) error
	// Get returns a record. ok is false when there is none.
	Get(ctx context.Context, id ID) (r Record, ok bool, err error)
	// Claim moves a pending record of that owner to applying and keeps it for
	// Memory, or says why it cannot. The record is as it is after the claim.
	Claim(ctx context.Context, id ID, owner access.Owner, now time.Time) (Record, Claim, error)
	// Deny moves a pending record of that owner to denied and keeps it for Memory.
	Deny(ctx context.Context, id ID, owner access.Owner, now time.Time) (Record, Claim, error)
	// Settle moves an applying record to its end (Applied or Failed, kept for
	// Memory) or back to Pending until it expires; a reopened one remembers when
	// it was claimed. A pending record can still become Applied: it was reopened
	// while its apply went through after all. A record in another state is left
	// as it is, because the first end stands, and one that is gone stays gone.
	// moved says whether the record is in that state by this call.
	Settle(ctx context.Context, id ID, to State, answer json.RawMessage, now time.Time) (moved bool, err error)
	// PendingOf lists an owner's pending records, oldest first.
	PendingOf(ctx context.Context, owner access.Owner) ([]Record, error)
}

// Effect carries out a confirmed change and remembers it.
type Executor interface {
	// Apply makes the change and keeps the answer beside it, in one atomic step.
	// On success it returns the encoded answer (the receipt). On a fault it
	// returns the encoded error and the fault; nothing was changed then, unless
	// the fault's kind is Unavailable or Internal: then only Find can tell. The
	// error of a change that cannot be repeated wraps ErrNotSent when it is
	// certain that nothing was sent.
	Apply(ctx context.Context, r Record) (answer json.RawMessage, err error)
	// Find returns the receipt that is kept beside the change, if it was made by
	// that owner.
	Find(ctx context.Context, owner access.Owner, id ID) (answer json.RawMessage, found bool, err error)
}

// ErrNotSent marks the error of an apply that sent nothing, so that it may be
// tried again though no receipts are kept.
var ErrNotSent = errors.New("nothing was sent")

// Receipt is what is kept beside a change, in the same transaction or document.
type Receipt struct {
	ID     ID
	Owner  access.Owner
	Tool   string
	Answer json.RawMessage
}

// Stale is the fault of a change whose facts are no longer what the person saw.
func Stale() *fault.Error {
	return fault.ConfirmationStale.New("What you were shown has changed since. Nothing was changed.")
}
