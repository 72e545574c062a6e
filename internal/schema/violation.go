package schema

import (
	"encoding/json"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// Violation is one thing that is wrong with an input, for a server whose errors
// are more than words.
type Violation struct {
	Field   string // the top-level field
	Keyword string // of the schema: "enum", "minimum", "type", "required", "additionalProperties" …
	Value   any    // as it was given; nil when the field is missing
	Allowed []any  // of an enum
}

// Violations returns what is wrong with an input, and the input's values. Both are
// empty for an input that is no object.
func (s *Schema) Violations(raw json.RawMessage) (values map[string]any, all []Violation) {
	values, err := readObject(raw)
	if err != nil {
		return nil, nil
	}
	s.normalize(values)
	invalid, _ := s.compiled.Validate(values).(*jsonschema.ValidationError)
	if invalid != nil {
		all = violations(invalid, values, nil)
	}
	return values, all
}

func violations(e *jsonschema.ValidationError, values object, all []Violation) []Violation {
	for _, cause := range e.Causes {
		all = violations(cause, values, all)
	}
	if len(e.Causes) > 0 {
		return all
	}
	keyword := e.ErrorKind.KeywordPath()
	one := Violation{Keyword: keyword[len(keyword)-1]}
	if len(e.InstanceLocation) > 0 {
		one.Field = e.InstanceLocation[0]
		one.Value = values[one.Field]
	}
	switch k := e.ErrorKind.(type) {
	case *kind.Enum:
		one.Allowed = k.Want
	case *kind.Required:
		one.Field = k.Missing[0]
	case *kind.AdditionalProperties:
		one.Field = clip(k.Properties[0])
	}
	return append(all, one)
}
