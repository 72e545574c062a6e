// Package audit keeps the audit log of who asked for, read and changed what: one
// JSON line per event, append-only, each line linked to the one before by its
// hash. It verifies that the log is complete, and reports the first broken line.
//
// It stores digests of arguments, never the values of fields. It is not a log
// for operators: that is slog's. A chain without a key cannot detect an attacker
// who rewrites both files from the first line on: keep a copy of PATH.head, or of
// the last verified hash, on another system.
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
	Intent       Kind = "intent"       // a change is about to be previewed or applied
	Outcome      Kind = "outcome"      // the result of a call
	Denial       Kind = "denial"       // a call was refused: no role, foreign row, foreign confirmation
	Confirmation Kind = "confirmation" // a step of a confirmation
	Turn         Kind = "turn"         // a question was asked and answered
	LoginSession Kind = "session"      // a person signed in or out with a browser
	Recovery     Kind = "recovery"     // damage of the log that was found when it was opened
)

// The steps of a login session.
const (
	SignedIn  = "signed in"
	SignedOut = "signed out"
)

// Event is one line of the log. Append fills Seq, Time, RequestID, TraceID,
// the person's fields (from the principal in the context, where they are empty),
// Prev and Hash.
type Event struct {
	Seq          uint64    `json:"seq"`
	Time         time.Time `json:"time"`
	Kind         Kind      `json:"kind"`
	Issuer       string    `json:"iss,omitempty"`
	Subject      string    `json:"sub,omitempty"`
	Username     string    `json:"username,omitempty"`
	Server       string    `json:"server,omitempty"`
	Tool         string    `json:"tool,omitempty"`
	Step         string    `json:"step,omitempty"`         // of a confirmation: opened, approved, denied, applied, failed, reopened, settled, unknown, refused; of a login session: signed in, signed out
	Confirmation string    `json:"confirmation,omitempty"` // its id
	Conversation string    `json:"conversation,omitempty"`
	Digest       string    `json:"digest,omitempty"` // SHA-256 of the canonical arguments, hex
	Rows         int       `json:"rows"`
	Outcome      string    `json:"outcome,omitempty"` // success, pending_confirmation, or a fault's code
	Note         string    `json:"note,omitempty"`    // the reason that a person gave for a change
	DurationMS   int64     `json:"durationMs,omitempty"`
	RequestID    string    `json:"requestId,omitempty"`
	TraceID      string    `json:"traceId,omitempty"`
	Prev         string    `json:"prev"`
	Hash         string    `json:"hash"`
}

// Sink receives events. Append returns after the event was written: on an error,
// the step that needed the event must not be taken. An event of kind Intent or
// Confirmation has been synced to disk when Append returns; others may still be
// in the operating system's buffers.
type Sink interface {
	Append(ctx context.Context, e Event) error
}
