package schema

import (
	"encoding/json"
	"slices"
	"testing"
)

// TestRestOfASchemaIsCheckedWithoutPatternsOfAnotherLanguage, unless the rest would reject
// more without them.
func TestRestOfASchemaIsCheckedWithoutPatternsOfAnotherLanguage(t *testing.T) {
	const ahead = `^(?!\.).+@.+$`
	quoted, err := json.Marshal(ahead)
	if err != nil {
		t.Fatal(err)
	}
	field := `{"type":"string","pattern":` + string(quoted) + `}`
	for name, c := range map[string]struct {
		schema, right, wrong string // no arguments: it does not compile
		left                 []string
	}{
		"a field":         {`{"type":"object","properties":{"to":` + field + `,"amount":{"type":"integer"}},"required":["to"]}`, `{"to":".x","amount":1}`, `{"to":"x@y","amount":"1"}`, []string{ahead}},
		"a list":          {`{"properties":{"to":{"type":"array","items":` + field + `}}}`, `{"to":["x"]}`, `{"to":[1]}`, []string{ahead}},
		"a choice":        {`{"properties":{"to":{"anyOf":[` + field + `,{"type":"null"}]}}}`, `{"to":null}`, `{"to":1}`, []string{ahead}},
		"one of ours":     {`{"properties":{"to":{"type":"string","pattern":"^a"}}}`, `{"to":"ab"}`, `{"to":"b"}`, nil},
		"a field's name":  {`{"properties":{"pattern":{"type":"string"}}}`, `{"pattern":"(?=x)"}`, `{"pattern":1}`, nil},
		"a value":         {`{"properties":{"to":{"enum":[{"pattern":"(?=x)"}]}}}`, `{"to":{"pattern":"(?=x)"}}`, `{"to":{}}`, nil},
		"what is not":     {schema: `{"properties":{"to":{"not":` + field + `}}}`},
		"one of many":     {schema: `{"properties":{"to":{"oneOf":[` + field + `,{"type":"string"}]}}}`},
		"names of fields": {schema: `{"patternProperties":{"(?=x)":{"type":"integer"}}}`},
	} {
		s, err := Compile([]byte(c.schema), Options{Bounded: true, LongTexts: true})
		if c.right == "" {
			if err == nil {
				t.Errorf("%s: it is checked", name)
			}
			continue
		}
		if err != nil || !slices.Equal(s.Left(), c.left) {
			t.Errorf("%s: left %q (%v), want %q", name, s.Left(), err, c.left)
			continue
		}
		if _, err := s.Wrong([]byte(c.right)); err != nil {
			t.Errorf("%s: %s: got %v", name, c.right, err)
		}
		if _, err := s.Wrong([]byte(c.wrong)); err == nil {
			t.Errorf("%s: %s is accepted", name, c.wrong)
		}
	}
	if _, err := Compile([]byte(`{"properties":{"to":`+field+`}}`), Options{}); err == nil {
		t.Error("a schema of our own compiles with a pattern that is not checked")
	}
}
