package upstream

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"countersign.dev/internal/result"
)

// silent makes a server one of our own.
type silent struct{ answerer }

func TestToolsAreOfferedWithACheckOfTheirArguments(t *testing.T) {
	tools := []result.ToolInfo{
		{Name: "plain", InputSchema: json.RawMessage(`{"type":"object","properties":{"id":{"format":"uuid"}}}`)},
		{Name: "refers", InputSchema: json.RawMessage(`{"$defs":{"a":{"type":"string"}},"properties":{"id":{"$ref":"#/$defs/a"}}}`)},
		{Name: "recurs", InputSchema: json.RawMessage(`{"$defs":{"a":{"properties":{"x":{"$ref":"#/$defs/a"}}}},"properties":{"id":{"$ref":"#/$defs/a"}}}`)},
		{Name: "explodes", InputSchema: exploding(40)},
		{Name: "named", InputSchema: json.RawMessage(`{"properties":{"$ref":{"type":"string"},"id":{"type":"integer"}}}`)},
		{Name: "ahead", InputSchema: json.RawMessage(`{"properties":{"id":{"type":"string","pattern":"(?=x)"}}}`)},
		{Name: "broken", InputSchema: json.RawMessage(`{"type":7}`)},
	}
	for _, c := range []struct {
		own                    bool
		name, args             string
		checked, wrong, broken bool
	}{
		{own: true, name: "plain", args: `{"id":"x"}`, checked: true, wrong: true},
		{own: false, name: "plain", args: `{"id":"x"}`, checked: true},
		{own: false, name: "plain", args: `[]`, checked: true, wrong: true},
		{own: true, name: "refers", args: `{}`, checked: true},
		{own: false, name: "refers", args: `{"id":1}`, checked: true, wrong: true},
		{own: false, name: "recurs", args: `{}`},
		{own: false, name: "explodes", args: `{}`},
		{own: false, name: "named", args: `{"$ref":"x","id":"y"}`, checked: true, wrong: true},
		{own: false, name: "plain", args: `{"id":"` + strings.Repeat("x", 5000) + `"}`, checked: true},
		{own: true, name: "plain", args: `{"other":"` + strings.Repeat("x", 5000) + `"}`, checked: true, wrong: true},
		{own: true, name: "broken", args: `{}`},
		{own: false, name: "ahead", args: `{"id":1}`, checked: true, wrong: true},
		{own: false, name: "ahead", args: `{"id":"y"}`, checked: true},
	} {
		s := &server{Server: Server{Name: "x"}}
		if c.own {
			s.answers = silent{}
		}
		checked, _ := schemasOf(s, tools)
		offered := route{server: s, tool: result.ToolInfo{Name: c.name}, schema: checked[c.name]}.offered()
		if (offered.Arguments != nil) != c.checked {
			t.Errorf("%+v: checked is %v", c, offered.Arguments != nil)
			continue
		}
		if offered.Arguments == nil {
			continue
		}
		if _, err := offered.Arguments.Wrong(json.RawMessage(c.args)); (err != nil) != c.wrong {
			t.Errorf("%+v: got %v", c, err)
		}
	}
}

// TestToolsWhoseArgumentsAreLeftToTheirServerAreLoggedOnce with the reason, however often
// their list is read.
func TestToolsWhoseArgumentsAreLeftToTheirServerAreLoggedOnce(t *testing.T) {
	var out strings.Builder
	u := New([]Server{{Name: "notes", Foreign: func(func()) Adapter { return fixedTools{} }}}, Options{Log: slog.New(slog.NewTextHandler(&out, nil))})
	s := u.registry().servers[0]
	defer u.Close()
	values := strings.Repeat("1,", 20_000)
	tools := map[string]struct{ schema, why string }{
		"checked":   {schema: `{"type":"object","properties":{"a":{"type":"integer"}}}`},
		"lookahead": {`{"properties":{"a":{"pattern":"(?=x)y"}}}`, "patterns alone"},
		"unknown":   {`{"properties":{"a":{"type":"wat"}}}`, "/properties/a/type"},
		"large":     {`{"properties":{"a":{"enum":[` + values + `2]}}}`, "larger than is evaluated"},
		"remote":    {`{"properties":{"a":{"$ref":"http://localhost/x.json"}}}`, "another document"},
	}
	var list []result.ToolInfo
	for name, tool := range tools {
		list = append(list, result.ToolInfo{Name: name, InputSchema: json.RawMessage(tool.schema)})
	}
	for range 3 {
		u.keep(s, u.registry().lists["notes"].version, list, nil)
	}
	for name, tool := range tools {
		lines := slices.DeleteFunc(strings.Split(out.String(), "\n"), func(line string) bool { return !strings.Contains(line, "tool="+name+" ") })
		if tool.why == "" && len(lines) != 0 || tool.why != "" && (len(lines) != 1 || !strings.Contains(lines[0], "server=notes") || !strings.Contains(lines[0], tool.why)) {
			t.Errorf("%s: got %.500q, want %q once", name, lines, tool.why)
		}
	}
}

// exploding is a small schema without a circle that takes 2^n steps: each of its
// n definitions has the next one twice.
func exploding(n int) json.RawMessage {
	var b strings.Builder
	b.WriteString(`{"allOf":[{"$ref":"#/$defs/d0"}],"$defs":{`)
	for i := range n {
		fmt.Fprintf(&b, `"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]},`, i, i+1, i+1)
	}
	fmt.Fprintf(&b, `"d%d":{}}}`, n)
	return json.RawMessage(b.String())
}
