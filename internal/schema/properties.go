package schema

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/google/jsonschema-go/jsonschema"
)

// Property is what a schema says of one property, in its own keywords or in those of
// its alternatives.
type Property struct {
	Name, Description string
	Type              string // the first that is not null
	Format            string
	Enum              []string
	MaxLength         int // 0: none
	Required          bool
}

// Properties lists those of an object by name. A schema that cannot be read has none.
func Properties(raw json.RawMessage) []Property { return propertiesOf(read(raw)) }

// maxDepth bounds how deep a schema is read: servers of others write what they like.
const maxDepth = 9

// Everywhere lists the properties at any depth, outer ones before inner ones. Of a
// schema that has a property of the name given, such as an envelope, only that is read.
func Everywhere(raw json.RawMessage, within string) []Property {
	s := read(raw)
	for _, one := range withAlternatives(s) {
		if inner := one.Properties[within]; inner != nil {
			return below(&jsonschema.Schema{Items: inner, Defs: s.Defs}, maxDepth)
		}
	}
	return below(s, maxDepth)
}

func read(raw json.RawMessage) *jsonschema.Schema {
	s := &jsonschema.Schema{}
	if json.Unmarshal(raw, s) != nil {
		return &jsonschema.Schema{}
	}
	return s
}

func withAlternatives(s *jsonschema.Schema) []*jsonschema.Schema {
	return slices.Concat([]*jsonschema.Schema{s}, s.AnyOf, s.OneOf)
}

func below(s *jsonschema.Schema, depth int) []Property {
	if s == nil || depth == 0 {
		return nil
	}
	found := propertiesOf(s)
	inner := append(slices.Concat(s.AnyOf, s.OneOf, slices.Collect(maps.Values(s.Defs))), s.Items)
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		inner = append(inner, s.Properties[name])
	}
	for _, one := range inner {
		found = append(found, below(one, depth-1)...)
	}
	return found
}

func propertiesOf(s *jsonschema.Schema) (found []Property) {
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		declared := s.Properties[name]
		p := Property{Name: name, Description: declared.Description, Required: slices.Contains(s.Required, name)}
		if declared.MaxLength != nil {
			p.MaxLength = *declared.MaxLength
		}
		for _, one := range withAlternatives(declared) {
			for _, t := range append(one.Types, one.Type) {
				if t != "null" {
					p.Type = cmp.Or(p.Type, t)
				}
			}
			p.Format = cmp.Or(p.Format, one.Format)
			for _, value := range one.Enum {
				if text, ok := value.(string); ok {
					p.Enum = append(p.Enum, text)
				}
			}
		}
		found = append(found, p)
	}
	return found
}
