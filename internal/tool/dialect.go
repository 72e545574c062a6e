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
	// Schema describes the whole answer of a tool, given the schema of its data
	// and the definitions that it refers to. The root is an object.
	Schema(kind result.Kind, data, definitions map[string]any) map[string]any
}

// Envelope is the dialect of documents 000 and 003: success, error, or
// pending_confirmation.
type Envelope struct{}

// Encode writes the envelope.
func (Envelope) Encode(o result.Outcome) json.RawMessage { return result.EncodeEnvelope(o) }

// Decode reads the envelope.
func (Envelope) Decode(raw json.RawMessage) (result.Outcome, error) {
	return result.DecodeEnvelope(raw)
}

// Schema describes the envelope with the tool's data inside.
func (Envelope) Schema(kind result.Kind, data, definitions map[string]any) map[string]any {
	success := object{"status": object{"const": result.StatusSuccess}, "data": data}
	required := []string{"status", "data"}
	if kind == result.List {
		success["metadata"] = pageSchema()
		required = append(required, "metadata")
	}
	branches := []any{
		object{"type": "object", "title": "SuccessResponse", "properties": success, "required": required},
		errorSchema(),
	}
	if kind == result.Write {
		branches = append(branches, pendingSchema())
	}
	schema := object{"type": "object", "oneOf": branches}
	if len(definitions) > 0 {
		schema["$defs"] = definitions
	}
	return schema
}

func pageSchema() object {
	text, yes := object{"type": "string"}, object{"type": "boolean"}
	return object{
		"type": "object",
		"properties": object{
			"hasMore": yes, "truncated": yes, "returnedCount": object{"type": "integer", "minimum": 0},
			"nextCursor": text, "hint": text, "totalCount": text, "warning": text,
			"totalEstimate": object{"type": "string", "pattern": `^\d+\+?$`},
		},
		"required": []string{"hasMore", "returnedCount", "truncated"},
	}
}

func errorSchema() object {
	text := object{"type": "string"}
	return object{
		"type": "object", "title": "ErrorResponse",
		"properties": object{
			"status": object{"const": result.StatusError}, "code": text, "message": text,
			"suggestedAction": text, "details": object{"type": "object"},
		},
		"required": []string{"status", "code", "message"},
	}
}

func pendingSchema() object {
	return object{
		"type": "object", "title": "PendingConfirmationResponse",
		"properties": object{
			"status":         object{"const": result.StatusPending},
			"confirmationId": object{"type": "string", "format": "uuid"},
			"message":        object{"type": "string"},
			"confirmationData": object{
				"type": "object", "required": []string{"action", "userId"},
				"properties": object{
					"action": object{"type": "string"}, "userId": object{"type": "string"},
					"mcpServer": object{"type": "string"}, "timestamp": object{"type": "integer"}, "digest": object{"type": "string"},
				},
			},
		},
		"required": []string{"status", "confirmationId", "message", "confirmationData"},
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
