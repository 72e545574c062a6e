package vendor

import (
	"encoding/json"
	"testing"

	"countersign.dev/internal/agent"
	"countersign.dev/internal/result"
)

func TestSchemasBecomeObjectsWithoutAlternativesAtTheTop(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		`{"type":"object","properties":{"b":{"anyOf":[{"type":"string"},{"type":"null"}]},"a":{}},"required":["b"]}`: `{"type":"object","properties":{"b":{"anyOf":[{"type":"string"},{"type":"null"}]},"a":{}},"required":["b"]}`,
		`{"type":"object"}`: `{"properties":{},"type":"object"}`,
		`{}`:                `{"properties":{},"type":"object"}`,
		``:                  `{"properties":{},"type":"object"}`,
		`null`:              `{"properties":{},"type":"object"}`,
		`{"type":"object","properties":{"a":{"type":"string"},"b":{}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`:                                               `{"properties":{"a":{"type":"string"},"b":{}},"type":"object"}`,
		`{"type":"object","properties":{"a":{"type":"string"}},"oneOf":[{"properties":{"a":{"const":"x"},"file":{"type":"string"}}},{"properties":{"url":{}}},true]}`: `{"properties":{"a":{"type":"string"},"file":{"type":"string"},"url":{}},"type":"object"}`,
		`{"anyOf":[{"type":"object","properties":{"content":{}},"required":["content"]},{"type":"object","properties":{"url":{}}}]}`:                                  `{"properties":{"content":{},"url":{}},"type":"object"}`,
		`{"type":"object","properties":{},"allOf":[{"properties":{"x":{}}}],"not":{"required":["y"]},"enum":[{}]}`:                                                    `{"properties":{"x":{}},"type":"object"}`,
	} {
		if got := string(Schema(json.RawMessage(given))); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", given, got, want)
		}
	}
}

// Every provider takes the names that are sent, and each is one tool's.
func TestNamesAreAcceptedAndDiffer(t *testing.T) {
	t.Parallel()
	var tools []agent.Tool
	for _, name := range []string{"list_employees", "1password.get-item", "a.b", "a_b", "-x.y", "_1password_get-item"} {
		tools = append(tools, agent.Tool{ToolInfo: result.ToolInfo{Name: name}})
	}
	names, want := NewNames(tools), []string{"list_employees", "_1password_get-item", "a_b", "a_b_2", "_-x_y", "_1password_get-item_2"}
	for i, tool := range tools {
		if sent := names.Sent(tool.Name); sent != want[i] || names.Ours(sent) != tool.Name {
			t.Errorf("%s: sent as %s, which is %s", tool.Name, sent, names.Ours(sent))
		}
	}
	if sent := NewNames(nil).Sent("7zip.pack"); sent != "_7zip_pack" {
		t.Errorf("a tool of an older turn is sent as %s", sent)
	}
}
