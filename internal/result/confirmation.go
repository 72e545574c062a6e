package result

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Confirmation is one confirmation as its owner sees it, in whatever state. The
// server that owns it makes it; the gateway passes it on.
type Confirmation struct {
	ID       string          `json:"confirmationId"`
	State    string          `json:"state"`
	Action   string          `json:"action"`
	Server   string          `json:"mcpServer"`
	Message  string          `json:"message"`
	Data     PreviewData     `json:"confirmationData"`
	Created  time.Time       `json:"created"`
	Expires  time.Time       `json:"expires"`
	Answered time.Time       `json:"answered,omitzero"` // when its person approved or denied it
	Receipt  json.RawMessage `json:"receipt,omitempty"` // the answer, once it was given
}

// Outcome returns the answer that was given; ok is false when there is none.
func (c Confirmation) Outcome() (o Outcome, ok bool) {
	if len(c.Receipt) == 0 {
		return o, false
	}
	o, err := DecodeEnvelope(c.Receipt)
	return o, err == nil
}

// Unshown is a pending confirmation that its server did not show: it is down, or
// does not open it.
type Unshown struct {
	ID      string    `json:"confirmationId"`
	Server  string    `json:"mcpServer"`
	Expires time.Time `json:"expires"`
	Message string    `json:"message"` // why
}

// KeyDigest is the key of the digest in a confirmation's data.
const KeyDigest = "digest"

// KeyProvenance is the key of {"surface", "tainted_by"} in a confirmation's data: where
// it was asked for, as access.Provenance has it.
const KeyProvenance = "origin"

// notDrawn are the keys of a confirmation's data that its digest does not cover:
// itself, and what is added on the way.
var notDrawn = []string{KeyDigest, "expiresAt", "approvalUrl"}

// Digest is the digest of what a person is shown: the SHA-256, in hex, of the
// canonical JSON (RFC 8785) of {message, confirmationData}. A client that draws
// the preview computes it and names it in the answer.
func (p Pending) Digest() (string, error) {
	drawn := make(map[string]any, len(p.Data))
	for key, value := range p.Data {
		drawn[key] = value
	}
	for _, key := range notDrawn {
		delete(drawn, key)
	}
	encoded, err := json.Marshal(map[string]any{"message": p.Message, "confirmationData": drawn})
	if err != nil {
		return "", err
	}
	canonical := jsontext.Value(encoded)
	if err := canonical.Canonicalize(); err != nil {
		return "", err
	}
	sum := sha256.Sum256(canonical)
	return hex.EncodeToString(sum[:]), nil
}
