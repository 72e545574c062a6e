// Package envelope describes the answers of tools by schemas, for clients that compare them:
// the envelope that package result encodes, around the data that a tool of our own declares,
// or that a connected server says. Start with [Schema] and [Around].
package envelope

import "countersign.dev/internal/result"

// Described is what the schema of a tool's answers is made of.
type Described struct {
	Tool, Server      string
	Kind              result.Kind
	Partial           bool           // an answer that is no list can be a part of what there is, too, and says so
	Data, Definitions map[string]any // the schema of its data, and what that refers to
	Codes             []string       // the codes of its errors; nil: any
}

type object = map[string]any

// Schema describes the envelope of a tool's answers with its data inside.
func Schema(d Described) map[string]any {
	success := object{"status": object{"const": result.StatusSuccess}, "data": d.Data}
	required := []string{"status", "data"}
	if d.Kind == result.List || d.Partial {
		success["metadata"] = pageSchema()
	}
	if d.Kind == result.List {
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
