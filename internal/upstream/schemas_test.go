package upstream

import (
	"encoding/json"
	"testing"

	"countersign.dev/internal/result"
)

// silent makes a server one of our own.
type silent struct{ answerer }

func TestToolsAreOfferedWithACheckOfTheirArguments(t *testing.T) {
	tools := []result.ToolInfo{
		{Name: "plain", InputSchema: json.RawMessage(`{"type":"object","properties":{"id":{"format":"uuid"}}}`)},
		{Name: "refers", InputSchema: json.RawMessage(`{"$defs":{"a":{}},"properties":{"id":{"$ref":"#/$defs/a"}}}`)},
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
		{own: false, name: "refers", args: `{}`},
		{own: true, name: "broken", args: `{}`},
	} {
		s := &server{Server: Server{Name: "x"}}
		if c.own {
			s.answers = silent{}
		}
		offered := route{server: s, tool: result.ToolInfo{Name: c.name}, schema: schemasOf(s, tools)[c.name]}.offered()
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
