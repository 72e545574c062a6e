// Package audit keeps the record of who asked, saw and changed what: one JSON
// line per event, append-only, each line bound to the one before by its hash.
// It can prove the record whole, and names the first broken line when it is not.
//
// It stores digests of arguments, never the values of fields. It is not a log
// for operators: that is slog's. Nor can a chain without a key stop somebody who
// may rewrite both files from the first line on: keep a copy of PATH.head, or of
// the last hash that was verified, where they cannot.
//
// Start with [Log], then [Verify].
package audit

import (
	"context"
	"time"
)

// Kind says what sort of thing an event records.
type Kind string

// The kinds of events.
const (
	Intent       Kind = "intent"       // a change is about to be previewed or applied
	Outcome      Kind = "outcome"      // what a call came to
	Denial       Kind = "denial"       // a call was refused: no role, foreign row, foreign confirmation
	Confirmation Kind = "confirmation" // a step of a confirmation's life
	Turn         Kind = "turn"         // a question was asked and answered
	Session      Kind = "session"      // a person signed in or out with a browser
	Recovery     Kind = "recovery"     // the record itself: what was found damaged when it was opened
)

// The steps of a session.
const (
	SignedIn  = "signed in"
	SignedOut = "signed out"
)

// Event is one line of the record. Append fills Seq, Time, RequestID, TraceID,
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
	Step         string    `json:"step,omitempty"`         // of a confirmation: opened, approved, denied, applied, failed, reopened, settled, unknown, refused; of a session: signed in, signed out
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

// Sink takes events. Append returns only after the event is kept: on an error
// nothing that needed the record may happen. An event of kind Intent or
// Confirmation is on disk when Append returns; the others are with the
// operating system.
type Sink interface {
	Append(ctx context.Context, e Event) error
}
