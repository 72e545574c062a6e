package tool

import (
	"encoding/json"

	"countersign.dev/internal/access"
	"countersign.dev/internal/result"
	"countersign.dev/internal/schema/envelope"
)

// Dialect encodes and decodes the outcomes of a server, and describes them by a
// schema.
type Dialect interface {
	// Encode writes an outcome. A decoded outcome is written as it was read.
	Encode(o result.Outcome) json.RawMessage
	// Decode reads what Encode wrote. The outcome keeps the bytes.
	Decode(raw json.RawMessage) (result.Outcome, error)
	// Schema describes the whole answer of a tool. The root is an object.
	Schema(d envelope.Described) map[string]any
}

// Envelope is the dialect of documents 000 and 003: success, error,
// pending_confirmation, or cancelled.
type Envelope struct{}

// Encode writes the envelope.
func (Envelope) Encode(o result.Outcome) json.RawMessage { return result.EncodeEnvelope(o) }

// Decode reads the envelope.
func (Envelope) Decode(raw json.RawMessage) (result.Outcome, error) {
	return result.DecodeEnvelope(raw)
}

// Schema describes the envelope with the tool's data inside.
func (Envelope) Schema(d envelope.Described) map[string]any { return envelope.Schema(d) }

// annotations are the hints of a tool. A write is not destructive: it only asks a person to
// approve its change, and a host that asked for its own approval before that would ask twice.
// An edit is made at once, and its hint is what the protocol says of it: one that does more
// than add is destructive, also where its caller can undo it.
func annotations(t Tool) result.Annotations {
	if t.kind == result.Read || t.kind == result.List {
		return result.Annotations{ReadOnly: true, Idempotent: true}
	}
	return result.Annotations{Destructive: t.kind == result.Edit && t.spec.Replaces}
}

func roleNames(roles []access.Role) []string {
	names := make([]string, len(roles))
	for i, r := range roles {
		names[i] = string(r)
	}
	return names
}
