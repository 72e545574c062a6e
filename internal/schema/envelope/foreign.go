package envelope

import (
	"encoding/json"
	"maps"
	"strings"

	"countersign.dev/internal/result"
	"countersign.dev/internal/schema"
)

// Foreign is what the host says of the answers of a tool of a connected server: its
// envelope, around what that server says of the data. The server's own schema fits no
// answer of the host's. Nil: nothing is said. It is safe for concurrent use.
type Foreign struct {
	read, write json.RawMessage // the schemas of a tool that reads, and of one that waits for its person
	answers     schema.Answer
}

// Of is the schema for a kind of tool; nil: none.
func (p *Foreign) Of(kind result.Kind) json.RawMessage {
	switch {
	case p == nil:
		return nil
	case kind == result.Write:
		return p.write
	}
	return p.read
}

// Fitting returns the outcome as readers of the schema accept it. Data that its own server's
// schema does not describe becomes text.
func (p *Foreign) Fitting(o result.Outcome) result.Outcome {
	if p == nil || o.Data() == nil || p.answers.Accepts(result.EncodeEnvelope(o)) {
		return o
	}
	data, err := json.Marshal(map[string]string{"text": string(o.Data())})
	if err != nil {
		return result.Failed(err)
	}
	return result.Success(data, o.Page(), o.Message())
}

// Where the server's own schema is in that of the envelope.
const (
	structured   = "structured"
	structuredAt = "#/$defs/" + structured
)

// Around makes the schemas of a server's tool that says what it answers. An error means that
// nothing can be said: its schema is no object, is not valid, refers to itself or to another
// document, or is larger than is evaluated.
func Around(server, tool string, encoded json.RawMessage) (p *Foreign, err error) {
	var own map[string]any
	if err := json.Unmarshal(encoded, &own); err != nil {
		return nil, err
	}
	embedded, _ := moved(own).(map[string]any)
	delete(embedded, "$schema") // that of the whole decides
	delete(embedded, "$id")     // what refers to it by its address is refused
	d := Described{
		Tool: tool, Server: server, Kind: result.Read, Partial: true, Definitions: map[string]any{structured: embedded},
		Data: map[string]any{"anyOf": []any{map[string]any{"$ref": structuredAt}, rowsOf(embedded), textSchema()}},
	}
	p = &Foreign{}
	if p.read, err = json.Marshal(Schema(d)); err != nil {
		return nil, err
	}
	d.Kind = result.Write
	if p.write, err = json.Marshal(Schema(d)); err != nil {
		return nil, err
	}
	p.answers, err = schema.CompileAnswer(p.write)
	return p, err
}

// rowsOf describes the rows that the host makes of a list of objects.
func rowsOf(own map[string]any) map[string]any {
	row := map[string]any{"type": "object"}
	if properties, _ := own["properties"].(map[string]any); len(properties) == 1 {
		for _, only := range properties {
			list, _ := only.(map[string]any)
			if items, ok := list["items"].(map[string]any); ok {
				row = items
			}
		}
	}
	return map[string]any{"type": "array", "title": "Rows", "items": row}
}

// textSchema describes an answer that is not structured, or too large to be given so.
func textSchema() map[string]any {
	return map[string]any{
		"type": "object", "title": "Text", "required": []string{"text"},
		"properties": map[string]any{"text": map[string]any{"type": "string"}, "parts": map[string]any{"type": "array", "items": map[string]any{"type": "object"}}},
	}
}

// moved is a schema whose references hold where it is embedded. Values that are no schemas
// stay as they are.
func moved(value any) any {
	switch v := value.(type) {
	case []any:
		list := make([]any, len(v))
		for i, child := range v {
			list[i] = moved(child)
		}
		return list
	case map[string]any:
		object := maps.Clone(v)
		for keyword, child := range v {
			switch pointer, text := child.(string); {
			case keyword == "const", keyword == "enum", keyword == "default", keyword == "examples":
			case namesSchemas[keyword]:
				object[keyword] = movedEach(child)
			case keyword == "$ref" && text && strings.HasPrefix(pointer, "#"):
				object[keyword] = structuredAt + pointer[1:]
			default:
				object[keyword] = moved(child)
			}
		}
		return object
	}
	return value
}

// namesSchemas are the keywords of objects whose members are schemas with names.
var namesSchemas = map[string]bool{"properties": true, "patternProperties": true, "$defs": true, "definitions": true, "dependentSchemas": true, "dependencies": true}

func movedEach(value any) any {
	schemas, ok := value.(map[string]any)
	if !ok {
		return value
	}
	object := make(map[string]any, len(schemas))
	for name, one := range schemas {
		object[name] = moved(one)
	}
	return object
}
