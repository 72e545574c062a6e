package schema

import (
	"encoding/json"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// simple accepts the usual arguments without an allocation. What it does not accept is
// not wrong: the validator decides, and says why.
type simple struct {
	required []string
	fields   map[string]*simpleField // nil: the validator decides
}

// simpleField is one text, number or truth value.
type simpleField struct {
	kind     string // string, integer, boolean
	shortest int
	longest  int // -1: any
	pattern  jsonschema.Regexp
	format   *jsonschema.Format
	least    *int64
	most     *int64
	oneOf    []any
}

// notes are the keywords that allow and forbid nothing.
var notes = []string{"DraftVersion", "Location", "ID", "Title", "Description", "Default", "Comment", "ReadOnly", "WriteOnly", "Examples", "Deprecated"}

// hasOnly reports whether a schema has no other keywords than these.
func hasOnly(s *jsonschema.Schema, keywords ...string) bool {
	v := reflect.ValueOf(s).Elem()
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if field.IsExported() && !v.Field(i).IsZero() && !slices.Contains(notes, field.Name) && !slices.Contains(keywords, field.Name) {
			return false
		}
	}
	return s.DraftVersion == 2020
}

// simpleOf is nil for a schema of other keywords than the usual ones.
func simpleOf(s *jsonschema.Schema) *simple {
	if !hasOnly(s, "Types", "Required", "Properties", "AdditionalProperties") || typeOf(s) != "object" {
		return nil
	}
	all := &simple{required: s.Required, fields: map[string]*simpleField{}}
	for name, property := range s.Properties {
		all.fields[name] = simpleFieldOf(property)
	}
	return all
}

// typeOf is the one type of a schema, or nothing.
func typeOf(s *jsonschema.Schema) string {
	if s.Types == nil || len(s.Types.ToStrings()) != 1 {
		return ""
	}
	return s.Types.ToStrings()[0]
}

func simpleFieldOf(s *jsonschema.Schema) *simpleField {
	f := &simpleField{kind: typeOf(s), longest: -1, pattern: s.Pattern, format: s.Format}
	switch {
	case f.kind == "boolean" && hasOnly(s, "Types"):
	case f.kind == "integer" && hasOnly(s, "Types", "Minimum", "Maximum") && whole(s.Minimum) && whole(s.Maximum):
		f.least, f.most = numberOf(s.Minimum), numberOf(s.Maximum)
	case f.kind == "string" && hasOnly(s, "Types", "MinLength", "MaxLength", "Pattern", "Format", "Enum"):
		if s.MinLength != nil {
			f.shortest = *s.MinLength
		}
		if s.MaxLength != nil {
			f.longest = *s.MaxLength
		}
		if s.Enum != nil {
			f.oneOf = s.Enum.Values
		}
	default:
		return nil
	}
	return f
}

func whole(bound *big.Rat) bool { return bound == nil || bound.IsInt() && bound.Num().IsInt64() }

func numberOf(bound *big.Rat) *int64 {
	if bound == nil {
		return nil
	}
	n := bound.Num().Int64()
	return &n
}

// accepts reports whether the validator would find nothing wrong with values in normal
// form. It is false, too, where only the validator knows.
func (s *simple) accepts(values object) bool {
	if s == nil {
		return false
	}
	for _, name := range s.required {
		if _, given := values[name]; !given {
			return false
		}
	}
	for name, value := range values {
		if f := s.fields[name]; f == nil || !f.accepts(value) {
			return false
		}
	}
	return true
}

func (f *simpleField) accepts(value any) bool {
	switch v := value.(type) {
	case bool:
		return f.kind == "boolean"
	case json.Number:
		n, err := strconv.ParseInt(v.String(), 10, 64)
		return f.kind == "integer" && err == nil && (f.least == nil || n >= *f.least) && (f.most == nil || n <= *f.most)
	case string:
		return f.kind == "string" && f.acceptsText(v, value)
	}
	return false
}

// acceptsText is given the text as it is in the values, too, for a format.
func (f *simpleField) acceptsText(text string, value any) bool {
	if f.shortest > 0 || f.longest >= 0 {
		if n := utf8.RuneCountInString(text); n < f.shortest || f.longest >= 0 && n > f.longest {
			return false
		}
	}
	return (f.pattern == nil || f.pattern.MatchString(text)) &&
		(f.format == nil || f.format.Validate(value) == nil) &&
		(f.oneOf == nil || slices.Contains(f.oneOf, value))
}
