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
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
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
	Opened       Kind = "log"          // a process opened the log, or continues it in a new file
	Anchored     Kind = "anchor"       // the newest head of another process's log
)

// The steps of the log itself.
const (
	stepOpened    = "opened"    // by a process that started
	stepRotated   = "rotated"   // the file before was full or old, and was renamed
	stepMoved     = "moved"     // the file before was renamed or deleted by others
	stepTorn      = "torn"      // the last line was not whole
	stepLost      = "lost"      // lines are missing at the end
	stepHead      = "head"      // the head does not fit
	stepUnwritten = "unwritten" // events could not be written
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
	Row          string      `json:"row,omitempty"`    // ids of the rows that the arguments name, separated by spaces: see [RowsIn]
	Rows         int         `json:"rows"`
	Shown        string      `json:"shown,omitempty"`     // fingerprints of the ids that the answer held: see [ShownIn]
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

const longestID = 64

// RowsIn lists the ids of rows that the arguments of a call name, separated by spaces: what
// is called an id and looks like one. They lead an auditor from a row to what was done
// with it; other arguments are kept as a digest alone.
func RowsIn(arguments map[string]any) string {
	var ids []string
	for name, value := range arguments {
		if id, ok := idOf(value); ok && NamesRow(name) {
			ids = append(ids, id)
		}
	}
	return Rows(ids)
}

// NamesRow reports whether an argument of that name is called an id.
func NamesRow(name string) bool {
	return name == "id" || strings.HasSuffix(name, "_id") || strings.HasSuffix(name, "Id")
}

// IsID reports whether a text looks like an id.
func IsID(text string) bool {
	return text != "" && len(text) <= longestID && strings.IndexFunc(text, notInID) < 0
}

// Rows writes ids as an event has them.
func Rows(ids []string) string {
	slices.Sort(ids)
	return strings.Join(ids, " ")
}

// RowsOf is RowsIn of encoded arguments. What is no object names no row.
func RowsOf(arguments json.RawMessage) string {
	var values map[string]any
	_ = json.Unmarshal(arguments, &values)
	return RowsIn(values)
}

func idOf(value any) (string, bool) {
	switch id := value.(type) {
	case json.Number:
		return id.String(), len(id) <= longestID
	case float64:
		return strconv.FormatFloat(id, 'f', -1, 64), true
	case string:
		return id, IsID(id)
	}
	return "", false
}

// Bounds of the fingerprints of one answer.
const (
	mostShown = 1024
	printSize = 5       // characters of 6 bits
	unkept    = "+"     // at the end: the answer held more ids
	shortData = 1 << 10 // has less than 256 ids
)

const sixBits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// ShownIn is the fingerprints of the ids that encoded data holds, one after the other:
// what a list showed is found by its id, at five bytes for each where the ids themselves
// take forty. An id is the value of a field whose name [RowsIn] takes for one's, at any
// depth. One that was not shown has the fingerprint of one that was with a probability of
// 1 in 2^30 for each. After 1,024 ids the others are left out, and a plus says so.
func ShownIn(data []byte) string {
	if len(data) < shortData { // most answers are, and less is cleared for them
		var seen [512]uint32
		var out [256 * printSize]byte
		return shownIn(data, seen[:], out[:0])
	}
	var seen [2 * mostShown]uint32
	var out [mostShown*printSize + len(unkept)]byte
	return shownIn(data, seen[:], out[:0])
}

// shownIn uses seen as a table of the fingerprints in out, each with one added.
func shownIn(data []byte, seen []uint32, out []byte) string {
	for id := nextID(&data); id != nil; id = nextID(&data) {
		print := printOf(id)
		at := print % uint32(len(seen))
		for seen[at] != 0 && seen[at] != print+1 {
			at = (at + 1) % uint32(len(seen))
		}
		if seen[at] != 0 {
			continue
		}
		if len(out) == mostShown*printSize {
			return string(append(out, unkept...))
		}
		seen[at] = print + 1
		out = appendPrint(out, print)
	}
	return string(out)
}

// Shows reports whether the answer held an id, by its fingerprint. sure is false where it
// held more ids than were kept, and this one is not among those.
func (e Event) Shows(id string) (shown, sure bool) {
	var text [printSize]byte
	want := string(appendPrint(text[:0], printOf([]byte(id))))
	kept, cut := strings.CutSuffix(e.Shown, unkept)
	for ; len(kept) >= printSize; kept = kept[printSize:] {
		if kept[:printSize] == want {
			return true, true
		}
	}
	return false, !cut
}

// nextID is the next id in JSON, and moves past it; nil at the end. A quote inside of a
// text is escaped, so that what ends a name ends one everywhere.
func nextID(data *[]byte) []byte {
	rest := *data
	for {
		at := bytes.IndexByte(rest, ':')
		if at < 0 {
			return nil
		}
		name := rest[:at]
		rest = rest[at+1:]
		if !namesID(name) {
			continue
		}
		if id := leadingID(rest); id != nil {
			*data = rest
			return id
		}
	}
}

// namesID reports whether text ends with the name of an id, in its quotes.
func namesID(text []byte) bool {
	n := len(text)
	if n < 4 || text[n-1] != '"' || text[n-2] != 'd' {
		return false
	}
	return text[n-3] == 'I' || text[n-3] == 'i' && (text[n-4] == '"' || text[n-4] == '_')
}

// leadingID is the id with which JSON begins, a text or a number; nil when it is none.
func leadingID(text []byte) []byte {
	text = bytes.TrimLeft(text, " ")
	if len(text) == 0 {
		return nil
	}
	window := text[:min(len(text), longestID+2)]
	if text[0] == '"' {
		if n := bytes.IndexByte(window[1:], '"'); n > 0 {
			return window[1 : 1+n]
		}
		return nil
	}
	for n, c := range window {
		if c >= '0' && c <= '9' {
			continue
		}
		if n > 0 {
			return window[:n]
		}
		break
	}
	return nil
}

// printOf mixes an id, whose letters count as small ones, to 30 bits.
func printOf(id []byte) uint32 {
	const small, mix = 0x2020202020202020, 0x9e3779b97f4a7c15
	h := uint64(len(id))
	for len(id) > 0 {
		var word [8]byte
		n := copy(word[:], id)
		h = (h ^ (binary.LittleEndian.Uint64(word[:]) | small)) * mix
		h ^= h >> 32
		id = id[n:]
	}
	return uint32(h * mix >> 34)
}

func appendPrint(out []byte, print uint32) []byte {
	return append(out, sixBits[print>>24&63], sixBits[print>>18&63], sixBits[print>>12&63], sixBits[print>>6&63], sixBits[print&63])
}

func notInID(c rune) bool {
	return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("-_.:", c))
}
