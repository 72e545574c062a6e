package audit

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// Head is the end of a log: the last event's number and hash. It is stored in
// PATH.head, which always has the same size, so that a truncated log differs from
// one that ends there.
type Head struct {
	Seq  uint64
	Hash string
}

// String writes the head as `audit verify --expect-head` reads it: HASH/COUNT.
func (h Head) String() string { return fmt.Sprintf("%s/%d", h.Hash, h.Seq) }

var expectedShape = regexp.MustCompile(`^([0-9a-f]{64})/(\d{1,19})$`)

// ParseHead reads HASH/COUNT.
func ParseHead(text string) (Head, error) {
	parts := expectedShape.FindStringSubmatch(text)
	if parts == nil {
		return Head{}, errors.New("a head is written as HASH/COUNT: 64 hex digits, a slash and the number of the event")
	}
	seq, err := strconv.ParseUint(parts[2], 10, 64)
	return Head{Seq: seq, Hash: parts[1]}, err
}

// SignedHead is a head that its log's process signed. It is what other processes
// write into their own logs.
type SignedHead struct {
	Log       string `json:"log"`                 // the log's id
	Name      string `json:"name,omitempty"`      // the process: "gateway", "hr"
	Seq       uint64 `json:"seq"`                 // number of its last event
	Hash      string `json:"hash"`                // and the hash
	Unwritten uint64 `json:"unwritten,omitempty"` // events since then that could not be written
	Key       string `json:"key,omitempty"`       // public key, base64url
	Signature string `json:"signature,omitempty"` // Ed25519, base64url
}

// Head is the signed position.
func (h SignedHead) Head() Head { return Head{h.Seq, h.Hash} }

// statement is what a signature is of.
func (h SignedHead) statement() []byte {
	return fmt.Appendf(nil, "countersign audit head\n%s %d %s %d", h.Log, h.Seq, h.Hash, h.Unwritten)
}

var errNoHead = errors.New("the head is missing or unreadable")

const (
	noID         = "----------------"
	maxUnwritten = 9_999_999_999
)

var noSignature = strings.Repeat("-", 86)

// genesis is the Prev of the first event.
var genesis = strings.Repeat("0", 2*sha256.Size)

// headShape is seq, hash; since logs have ids: id, unwritten, signature; since the
// signature may be of an earlier end: that end's seq, hash and unwritten.
var headShape = regexp.MustCompile(`^(\d{20}) ([0-9a-f]{64})(?: ([0-9a-f-]{16}) (\d{10}) ([A-Za-z0-9_-]{86})(?: (\d{20}) ([0-9a-f]{64}) (\d{10}))?)?\n$`)

// headPath is the file of the head of the log at path.
func headPath(path string) string { return path + ".head" }

// storedHead is what PATH.head has: the end of the log, and the newest end that was
// signed, which is the same or a little older.
type storedHead struct {
	SignedHead
	signed SignedHead
}

// append writes the head, always in the same size.
func (h storedHead) append(b []byte) []byte {
	b = h.appendPosition(b)
	b = append(append(b, ' '), cmp.Or(h.Log, noID)...)
	b = appendPadded(append(b, ' '), min(h.Unwritten, maxUnwritten), 10)
	b = append(append(b, ' '), cmp.Or(h.signed.Signature, noSignature)...)
	b = h.signed.appendPosition(append(b, ' '))
	b = appendPadded(append(b, ' '), min(h.signed.Unwritten, maxUnwritten), 10)
	return append(b, '\n')
}

func (h SignedHead) appendPosition(b []byte) []byte {
	return append(append(appendPadded(b, h.Seq, 20), ' '), cmp.Or(h.Hash, genesis)...)
}

// appendPadded writes a number with zeros before it.
func appendPadded(b []byte, n uint64, width int) []byte {
	var digits [20]byte
	text := strconv.AppendUint(digits[:0], n, 10)
	for range width - len(text) {
		b = append(b, '0')
	}
	return append(b, text...)
}

func parseHead(b []byte) (h storedHead, err error) {
	parts := headShape.FindStringSubmatch(string(b))
	if parts == nil {
		return storedHead{}, errNoHead
	}
	position := func(seq, hash, unwritten string) (at SignedHead) {
		if parts[3] != noID {
			at.Log = parts[3]
		}
		if at.Seq, err = strconv.ParseUint(seq, 10, 64); err != nil {
			err = errNoHead
		}
		at.Unwritten, _ = strconv.ParseUint(unwritten, 10, 64) // digits, or absent
		at.Hash = hash
		return at
	}
	h.SignedHead = position(parts[1], parts[2], parts[4])
	if parts[5] == "" || parts[5] == noSignature || err != nil {
		return h, err
	}
	h.signed = h.SignedHead
	if parts[6] != "" {
		h.signed = position(parts[6], parts[7], parts[8])
	}
	h.signed.Signature = parts[5]
	if h.signed.Head() == h.Head() { // what is signed counts
		h.Unwritten = h.signed.Unwritten
	}
	return h, err
}

// readHead returns errNoHead when the file is missing or is no head.
func readHead(path string) (storedHead, error) {
	b, err := os.ReadFile(headPath(path))
	if errors.Is(err, os.ErrNotExist) {
		return storedHead{}, errNoHead
	}
	if err != nil {
		return storedHead{}, err
	}
	return parseHead(b)
}
