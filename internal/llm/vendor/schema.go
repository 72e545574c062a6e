package vendor

import "encoding/json"

// notAtTheTop are keywords that some provider rejects at the top of a schema, and with
// it every request that offers the tool: Anthropic "does not support oneOf, allOf, or
// anyOf at the top level", and OpenAI takes neither enum nor not there.
var notAtTheTop = []string{"oneOf", "anyOf", "allOf", "enum", "not"}

// Schema is the input schema of a tool as every provider takes it: an object, with
// properties even when it has none (OpenAI wants them), and no alternatives at its
// top. Servers of others need not write theirs so. What the alternatives allow is
// offered; the arguments of a call are checked against the whole schema.
func Schema(raw json.RawMessage) json.RawMessage {
	var schema, properties map[string]json.RawMessage
	if json.Unmarshal(raw, &schema) != nil || schema == nil {
		schema = map[string]json.RawMessage{}
	}
	_ = json.Unmarshal(schema["properties"], &properties) // none is as good as a wrong one
	plain := properties != nil && string(schema["type"]) == `"object"`
	if properties == nil {
		properties = map[string]json.RawMessage{}
	}
	for _, keyword := range notAtTheTop {
		if part, there := schema[keyword]; there {
			addProperties(properties, part)
			delete(schema, keyword)
			plain = false
		}
	}
	if plain {
		return raw
	}
	schema["type"] = json.RawMessage(`"object"`)
	schema["properties"], _ = json.Marshal(properties) // they were JSON
	raw, _ = json.Marshal(schema)                      // so was this
	return raw
}

// addProperties adds what alternatives declare and the object itself does not.
func addProperties(properties map[string]json.RawMessage, alternatives json.RawMessage) {
	var list []struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	_ = json.Unmarshal(alternatives, &list) // enum and not declare none
	for _, alternative := range list {
		for name, property := range alternative.Properties {
			if _, known := properties[name]; !known {
				properties[name] = property
			}
		}
	}
}
