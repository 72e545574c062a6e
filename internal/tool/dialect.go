package tool

import (
	"encoding/json"

	"countersign.dev/internal/access"
	"countersign.dev/internal/result"
)

// Dialect encodes and decodes the outcomes of a server, and describes them by a
// schema.
type Dialect interface {
	// Encode writes an outcome. A decoded outcome is written as it was read.
	Encode(o result.Outcome) json.RawMessage
	// Decode reads what Encode wrote. The outcome keeps the bytes.
	Decode(raw json.RawMessage) (result.Outcome, error)
	// Schema describes the whole answer of a tool. The root is an object.
	Schema(d Described) map[string]any
}

// Described is what a dialect's schema of a tool's answer is made of.
type Described struct {
	Tool, Server      string
	Kind              result.Kind
	Data, Definitions map[string]any // the schema of its data, and what that refers to
	Codes             []string       // the codes of its errors; nil: any
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
func (Envelope) Schema(d Described) map[string]any {
	success := object{"status": object{"const": result.StatusSuccess}, "data": d.Data}
	required := []string{"status", "data"}
	if d.Kind == result.List {
		success["metadata"] = pageSchema()
		required = append(required, "metadata")
	}
	branches := []any{
		object{"type": "object", "title": "SuccessResponse", "properties": success, "required": required},
		errorSchema(d.Codes),
	}
	if d.Kind == result.Write {
		branches = append(branches, pendingSchema(d), deniedSchema())
	}
	schema := object{"type": "object", "oneOf": branches}
	if len(d.Definitions) > 0 {
		schema["$defs"] = d.Definitions
	}
	return schema
}

func pageSchema() object {
	text, yes := object{"type": "string"}, object{"type": "boolean"}
	count := object{"type": "string", "pattern": `^\d+\+?$`}
	return object{
		"type": "object",
		"properties": object{
			"hasMore": yes, "truncated": yes, "returnedCount": object{"type": "integer", "minimum": 0},
			"nextCursor": text, "nextOffset": object{"type": "integer", "minimum": 1}, "hint": text, "warning": text, "totalEstimate": count, "totalCount": count,
		},
		"required": []string{"hasMore", "returnedCount", "truncated"},
	}
}

func errorSchema(codes []string) object {
	text, code := object{"type": "string"}, object{"type": "string"}
	if codes != nil {
		code["enum"] = codes
	}
	return object{
		"type": "object", "title": "ErrorResponse",
		"properties": object{
			"status": object{"const": result.StatusError}, "code": code, "message": text,
			"suggestedAction": text, "details": object{"type": "object"},
			"people": object{"type": "object", "description": "What people read, where it is something else", "properties": object{"message": text, "advice": text, "inputs": object{"type": "array"}}},
		},
		"required": []string{"status", "code", "message"},
	}
}

// pendingSchema describes a change that waits. The person is any text: a subject is
// what its issuer says.
func pendingSchema(d Described) object {
	text := object{"type": "string"}
	return object{
		"type": "object", "title": "PendingConfirmationResponse",
		"properties": object{
			"status":         object{"const": result.StatusPending},
			"confirmationId": object{"type": "string", "format": "uuid"},
			"message":        text,
			"confirmationData": object{
				"type": "object", "required": []string{"action", "userId"},
				"properties": object{
					"action": object{"type": "string", "enum": []string{d.Tool}}, "mcpServer": object{"type": "string", "enum": []string{d.Server}},
					"userId": text, "timestamp": object{"type": "integer", "minimum": 0}, "digest": object{"type": "string", "pattern": "^[0-9a-f]{64}$"},
				},
			},
		},
		"required": []string{"status", "confirmationId", "message", "confirmationData"},
	}
}

// deniedSchema describes what a server's /execute answers to a denial. A call has
// no such answer.
func deniedSchema() object {
	return object{
		"type": "object", "title": "CancelledResponse",
		"properties": object{"status": object{"const": result.StatusCancelled}, "message": object{"type": "string"}},
		"required":   []string{"status", "message"},
	}
}

// annotations are the hints of a kind. Nothing that a client can call is
// destructive: a write only asks a person to approve its change, and a host that
// asked for its own approval before that would ask twice. An edit can be undone by
// its caller.
func annotations(kind result.Kind) result.Annotations {
	if kind == result.Read || kind == result.List {
		return result.Annotations{ReadOnly: true, Idempotent: true}
	}
	return result.Annotations{}
}

func roleNames(roles []access.Role) []string {
	names := make([]string, len(roles))
	for i, r := range roles {
		names[i] = string(r)
	}
	return names
}
