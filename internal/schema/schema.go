// Package schema checks the arguments of a tool against its JSON Schema, and says
// what is wrong with them in words: to a model, which repairs them, and to a
// person, who knows no fields. Servers check what they are sent, and the gateway
// what a model wrote, with the same words. It knows no tool. Start with [Compile].
package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/flat"
)

// Options are what a schema itself does not say.
type Options struct {
	Formats   bool             // dates and UUIDs are checked too
	Bounded   bool             // it is from elsewhere: one that can be made to take long is refused, and patterns of another language are left out
	LongTexts bool             // a text has the schema's own limit, or none
	Words     map[string]Words // by field
}

// Schema is a compiled schema. It is safe for concurrent use.
type Schema struct {
	compiled  *jsonschema.Schema
	flat      *flat.Object // nil: the validator decides alone
	words     map[string]Words
	longTexts bool
	left      []string       // patterns that are not checked
	limits    map[string]int // the longest text of a field, in characters, where the schema says it
}

// Compile compiles a schema. One that refers to anything outside of itself is
// refused: nothing is read or fetched.
func Compile(encoded []byte, o Options) (*Schema, error) {
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.UseLoader(nothing{})
	if o.Formats {
		compiler.RegisterFormat(anyUUID)
		compiler.RegisterFormat(dates)
		compiler.AssertFormat()
	}
	plain, err := jsonschema.UnmarshalJSON(bytes.NewReader(encoded))
	if err != nil {
		return nil, err
	}
	var left []string
	if o.Bounded {
		if err := bounded(plain); err != nil {
			return nil, err
		}
		left = withoutForeignPatterns(plain)
	}
	if err := compiler.AddResource("input.json", plain); err != nil {
		return nil, err
	}
	compiled, err := compiler.Compile("input.json")
	if err != nil {
		return nil, err
	}
	return &Schema{compiled, flatOf(compiled, o.LongTexts), o.Words, o.LongTexts, left, textLimits(compiled)}, nil
}

// Left are the patterns of the schema that are not checked, because they are of another
// language than ours.
func (s *Schema) Left() []string { return s.left }

// nothing is where references to other documents lead.
type nothing struct{}

func (nothing) Load(string) (any, error) {
	return nil, errors.New("a schema must not refer to other documents")
}

// Flat reads and checks usual arguments in one walk: what it reads, Check accepts, with the
// same values. It is nil for a schema of other keywords than the usual ones.
func (s *Schema) Flat() *flat.Object { return s.flat }

// Check validates arguments. It returns their values in normal form, or
// VALIDATION_ERROR with one remark per field, and the fields that are wrong.
func (s *Schema) Check(raw json.RawMessage) (values map[string]any, wrong []string, err error) {
	if values, err = readObject(raw); err != nil {
		return nil, nil, fault.WrongInputs(fault.Input{Field: "input", Wrong: err.Error()})
	}
	if wrong := s.normalize(values); len(wrong) > 0 {
		return nil, nil, refusal(wrong).Fields(topOf(wrong)...)
	}
	err = s.compiled.Validate(values)
	if err == nil {
		return values, nil, nil
	}
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return nil, nil, err
	}
	said := remarks{words: s.words, declared: slices.Collect(maps.Keys(s.compiled.Properties))}
	said.collect(invalid)
	wrong = topOf(said.all)
	return nil, wrong, refusal(said.all).Fields(wrong...)
}

// Wrong is Check for callers that need no values.
func (s *Schema) Wrong(args json.RawMessage) (fields []string, err error) {
	if s.flat != nil && s.flat.Read(string(args), make([]flat.Value, len(s.flat.Fields()))) {
		return nil, nil
	}
	_, fields, err = s.Check(args)
	return fields, err
}

// textLimits are the lengths that texts of fields may have where they are larger
// than what any text may have.
func textLimits(s *jsonschema.Schema) map[string]int {
	limits := map[string]int{}
	for name, property := range s.Properties {
		if property.MaxLength != nil && *property.MaxLength > maxText {
			limits[name] = *property.MaxLength
		}
	}
	return limits
}
