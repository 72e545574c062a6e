package audit

import (
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
	noID        = "----------------"
	signatureOf = 86 // characters of a signature
)

// headShape is seq, hash, and since logs have ids: id, unwritten, signature.
var headShape = regexp.MustCompile(`^(\d{20}) ([0-9a-f]{64})(?: ([0-9a-f-]{16}) (\d{10}) ([A-Za-z0-9_-]{86}))?\n$`)

// headPath is the file of the head of the log at path.
func headPath(path string) string { return path + ".head" }

func (h SignedHead) encode() []byte {
	id, signature := h.Log, h.Signature
	if id == "" {
		id = noID
	}
	if signature == "" {
		signature = strings.Repeat("-", signatureOf)
	}
	return fmt.Appendf(nil, "%020d %s %s %010d %s\n", h.Seq, h.Hash, id, min(h.Unwritten, 9_999_999_999), signature)
}

func parseHead(b []byte) (h SignedHead, err error) {
	parts := headShape.FindSubmatch(b)
	if parts == nil {
		return SignedHead{}, errNoHead
	}
	h.Hash = string(parts[2])
	if h.Seq, err = strconv.ParseUint(string(parts[1]), 10, 64); err != nil {
		return SignedHead{}, errNoHead
	}
	if id := string(parts[3]); id != noID {
		h.Log = id
	}
	h.Unwritten, _ = strconv.ParseUint(string(parts[4]), 10, 64) // digits, or absent
	if signature := string(parts[5]); strings.Trim(signature, "-") != "" {
		h.Signature = signature
	}
	return h, nil
}

// readHead returns errNoHead when the file is missing or is no head.
func readHead(path string) (SignedHead, error) {
	b, err := os.ReadFile(headPath(path))
	if errors.Is(err, os.ErrNotExist) {
		return SignedHead{}, errNoHead
	}
	if err != nil {
		return SignedHead{}, err
	}
	return parseHead(b)
}
