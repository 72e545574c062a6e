// Package audit keeps the audit log of who asked for, read and changed what: one
// JSON line per event, append-only, each line linked to the one before by its
// hash. It verifies that the log is complete, and reports the first broken line.
//
// It stores digests of arguments, the ids of rows that they name and fingerprints of those that an answer showed, never
// the values of other fields. It is not a log for operators: that is slog's.
//
// The end of the chain is signed ([Signer]), and processes write each other's
// newest heads into their own logs ([Anchors]): a log that was rewritten from its
// first line on contradicts the logs of the others, also when its key was stolen.
//
// Start with [Log], then [Verify].
package audit

import (
	"context"
	"time"
)

// Kind is the kind of an event.
type Kind string

// The kinds of events.
const (
	Intent       Kind = "intent"       // a change is about to be previewed or applied, or a revocation to be made
	Outcome      Kind = "outcome"      // the result of a call
	Denial       Kind = "denial"       // a call was refused: no role, foreign row, foreign confirmation
	Confirmation Kind = "confirmation" // a step of a confirmation
	Turn         Kind = "turn"         // a question was asked and answered
	LoginSession Kind = "session"      // a person signed in or out with a browser
	Revocation   Kind = "revocation"   // an auditor revoked a token or a person's sign-ins, or that failed; Note names it
	Recovery     Kind = "recovery"     // damage of the log that was found, or events that could not be written
	Opened       Kind = "log"          // a process opened or closed the log, or continues it in a new file
	Anchored     Kind = "anchor"       // the newest head of another process's log
)

// durable reports whether an event is synced before Append returns.
func durable(k Kind) bool {
	return k == Intent || k == Confirmation || k == Revocation || k == Recovery
}

// The steps of the log itself.
const (
	stepOpened    = "opened"    // by a process that started
	stepClosed    = "closed"    // by a process that ended in order: nothing but a start follows
	stepRotated   = "rotated"   // the file before was full or old, and was renamed
	stepMoved     = "moved"     // the file before was renamed or deleted by others
	stepTorn      = "torn"      // the last line was not whole
	stepLost      = "lost"      // lines are missing at the end
	stepHead      = "head"      // the head does not fit
	stepUnwritten = "unwritten" // events could not be written
	stepUnsigned  = "unsigned"  // no signature shows that lines are those that were written
	stepAdded     = "added"     // lines followed the end of a process
	stepRewritten = "rewritten" // a signature is of other lines, or none is there
	stepWentBack  = "went back" // a head in Redis is older than one that was seen, or newer than our log
)

// The steps of a revocation.
const (
	RevokedToken  = "token"
	RevokedPerson = "person"

	RevocationsRestored = "restored" // Redis did not have what this process knows
)

// AddressTaken is the step of a denial: a caller's verified address is linked to
// another person.
const AddressTaken = "address taken"

// ClaimDropped is the step of a denial: an additional issuer gave a role, or
// verified an address, for which it may not speak.
const ClaimDropped = "claim dropped"

// The steps of a login session.
const (
	SignedIn     = "signed in"
	SignedOut    = "signed out"
	SignInFailed = "sign-in failed" // of a browser: Note says why
)

// Event is one line of the log. Append fills Seq, Time, RequestID, TraceID,
// the person's fields (from the principal in the context, where they are empty),
// Prev and Hash.
type Event struct {
	Seq          uint64      `json:"seq"`
	Time         time.Time   `json:"time"`
	Kind         Kind        `json:"kind"`
	Issuer       string      `json:"iss,omitempty"`
	Subject      string      `json:"sub,omitempty"`
	Username     string      `json:"username,omitempty"`
	Server       string      `json:"server,omitempty"`
	Tool         string      `json:"tool,omitempty"`
	Step         string      `json:"step,omitempty"`         // of a confirmation: opened, withdrawn, approved, denied, applied, failed, reopened, settled, unknown, refused; of a login session: signed in, signed out, sign-in failed; of a revocation: token, person, restored
	Confirmation string      `json:"confirmation,omitempty"` // its id
	Conversation string      `json:"conversation,omitempty"`
	Digest       string      `json:"digest,omitempty"` // SHA-256 of the canonical arguments, hex
	Row          string      `json:"row,omitempty"`    // ids of the rows that the arguments name, separated by spaces: see package rowid
	Rows         int         `json:"rows"`
	Shown        string      `json:"shown,omitempty"`     // fingerprints of the ids that the answer held: see package rowid
	Outcome      string      `json:"outcome,omitempty"`   // success, pending_confirmation, or a fault's code
	Note         string      `json:"note,omitempty"`      // the reason that a person gave for a change
	Roles        string      `json:"roles,omitempty"`     // of a person who signed in: access.WriteRoles
	TaintedBy    string      `json:"taintedBy,omitempty"` // untrusted texts that the model had read before it asked
	DurationMS   int64       `json:"durationMs,omitempty"`
	Count        int         `json:"count,omitempty"`  // events of which this line is the record; 0 counts as 1
	Log          *Identity   `json:"log,omitempty"`    // of kind Opened
	Anchor       *SignedHead `json:"anchor,omitempty"` // of kind Anchored
	RequestID    string      `json:"requestId,omitempty"`
	TraceID      string      `json:"traceId,omitempty"`
	Prev         string      `json:"prev"`
	Hash         string      `json:"hash"`
}

// Identity is whose log it is.
type Identity struct {
	ID   string `json:"id"`             // random, made with the log
	Name string `json:"name,omitempty"` // of the process
	Key  string `json:"key,omitempty"`  // public key of its heads
}

// Sink receives events. Append returns after the event was written: on an error,
// the step that needed the event must not be taken. An event of kind Intent,
// Confirmation or Revocation has been synced to disk when Append returns; others may still be
// in the operating system's buffers.
// Append does not end with its context: what happened is recorded for a caller who has left, too.
type Sink interface {
	Append(ctx context.Context, e Event) error
}
