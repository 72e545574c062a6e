package confirm

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
)

// MaxCard bounds what a person is shown of a change before they decide, in bytes
// of JSON. Nothing of it is left out, so a larger change cannot be confirmed.
const (
	MaxCard   = 16 << 10
	cardExtra = 1 << 10 // of it, for what is added later: digest, expiry, address
)

// Head is what every card begins with: the change, the server that makes it, the person
// and the time.
func Head(action, server string, who *access.Principal, now time.Time) map[string]any {
	return map[string]any{"action": action, "mcpServer": server, "userId": who.Subject(), "timestamp": now.UnixMilli()}
}

// checkCard refuses a change that is too large to be shown. The error names the
// field that takes most.
func checkCard(message string, data map[string]any) error {
	encoded, err := json.Marshal(data)
	if err != nil || len(encoded)+len(message) <= MaxCard-cardExtra {
		return err
	}
	field, size := largest(encoded)
	if len(message) > size {
		field, size = "message", len(message)
	}
	return fault.ValidationError.New("The change is too large to be shown to you whole, so it cannot be confirmed.").
		Instruct("Shorten %s: it has %d bytes, and all that is shown of a change has %d at most.", field, size, MaxCard-cardExtra).
		With("field", field)
}

// largest finds the member of an object that takes most bytes, however deep.
func largest(object []byte) (path string, size int) {
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil {
		return "", len(object)
	}
	var name string
	for n, value := range members {
		if took := len(n) + len(value); took > size || took == size && n < name {
			name, size = n, took
		}
	}
	below, inner := largest(members[name])
	if below == "" {
		return fault.Clip(name, 60), size
	}
	return fault.Clip(fault.Clip(name, 60)+"."+below, 200), inner
}

// Digest is the SHA-256 of canonical bytes, in hex, as requests and events have it of arguments.
func Digest(canonical []byte) string {
	sum := sha256.Sum256(canonical)
	var text [2 * sha256.Size]byte
	return string(hex.AppendEncode(text[:0], sum[:]))
}
