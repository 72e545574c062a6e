package own

import (
	"encoding/json"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign.dev/internal/result"
)

// The _meta keys under which our servers describe a tool beyond what MCP does.
const (
	metaKind      = "countersign/kind"
	metaRoles     = "countersign/roles"
	metaUntrusted = "countersign/untrusted"
	metaFields    = "countersign/fields"
)

// infoOf reads a tool of ours. One without roles or kind is an error.
func infoOf(t *mcp.Tool) (result.ToolInfo, error) {
	kind, _ := t.Meta[metaKind].(string)
	info := result.ToolInfo{
		Name: t.Name, Title: t.Title, Description: t.Description, Kind: result.Kind(kind),
		Roles: texts(t.Meta[metaRoles]), Untrusted: texts(t.Meta[metaUntrusted]),
	}
	if kind == "" || len(info.Roles) == 0 {
		return info, errors.New("it has no kind or no roles")
	}
	if a := t.Annotations; a != nil {
		info.Annotations = result.Annotations{
			ReadOnly: a.ReadOnlyHint, Idempotent: a.IdempotentHint,
			Destructive: a.DestructiveHint == nil || *a.DestructiveHint,
			OpenWorld:   a.OpenWorldHint == nil || *a.OpenWorldHint,
		}
	}
	var err error
	if fields, given := t.Meta[metaFields]; given {
		if info.Fields, err = fieldsOf(fields); err != nil {
			return info, err
		}
	}
	if info.InputSchema, err = json.Marshal(t.InputSchema); err != nil {
		return info, err
	}
	if t.OutputSchema != nil {
		info.OutputSchema, err = json.Marshal(t.OutputSchema)
	}
	return info, err
}

// fieldsOf reads a tool's metadata, which the SDK decodes to plain values.
func fieldsOf(plain any) (*result.Fields, error) {
	raw, err := json.Marshal(plain)
	if err != nil {
		return nil, err
	}
	fields := &result.Fields{}
	return fields, json.Unmarshal(raw, fields)
}

func texts(v any) []string {
	list, _ := v.([]any)
	var out []string
	for _, item := range list {
		if text, ok := item.(string); ok {
			out = append(out, text)
		}
	}
	return out
}
