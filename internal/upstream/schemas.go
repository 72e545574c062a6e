package upstream

import (
	"countersign.dev/internal/agent"
	"countersign.dev/internal/result"
	"countersign.dev/internal/schema"
)

// offered is the tool as a model gets it.
func (r route) offered() agent.Tool {
	t := agent.Tool{ToolInfo: r.info(), Server: r.server.Name}
	if r.schema != nil {
		t.Arguments = r.schema
	}
	return t
}

// SchemaOf compiles the input schema of a tool of our own servers, with the words
// that the server itself would use.
func SchemaOf(t result.ToolInfo) (*schema.Schema, error) {
	words := map[string]schema.Words{}
	if t.Fields != nil {
		for name, f := range t.Fields.Input {
			words[name] = schema.Words{Suggest: f.Suggest, Tell: f.Tell}
		}
	}
	return schema.Compile(t.InputSchema, schema.Options{Formats: true, Words: words})
}

// foreignSchema compiles a schema of a foreign server, which alone knows what its
// formats mean and how long its texts may be. One that can be made to take long
// is an error, and its arguments are left to the server.
func foreignSchema(t result.ToolInfo) (*schema.Schema, error) {
	return schema.Compile(t.InputSchema, schema.Options{Bounded: true, LongTexts: true})
}

// schemasOf compiles the schemas of a list of tools, once for each fetch. What
// does not compile is left to its server.
func schemasOf(s *server, tools []result.ToolInfo) map[string]*schema.Schema {
	compiled := make(map[string]*schema.Schema, len(tools))
	for _, t := range tools {
		compile := SchemaOf
		if s.foreign() {
			compile = foreignSchema
		}
		if one, err := compile(t); err == nil {
			compiled[t.Name] = one
		}
	}
	return compiled
}
