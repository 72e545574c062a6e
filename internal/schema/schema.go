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
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"countersign.dev/internal/fault"
)

// Words are what a declaration says about a wrong value of one field.
type Words struct {
	Suggest string // to a model: the next step
	Tell    string // to a person, instead of a remark that names the field
}

// Options are what a schema itself does not say.
type Options struct {
	Formats   bool             // dates and UUIDs are checked too
	Bounded   bool             // a schema that can be made to take long is refused
	LongTexts bool             // a text has the schema's own limit, or none
	Words     map[string]Words // by field
}

// Schema is a compiled schema. It is safe for concurrent use.
type Schema struct {
	compiled  *jsonschema.Schema
	words     map[string]Words
	longTexts bool
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
	if o.Bounded {
		if err := bounded(plain); err != nil {
			return nil, err
		}
	}
	if err := compiler.AddResource("input.json", plain); err != nil {
		return nil, err
	}
	compiled, err := compiler.Compile("input.json")
	if err != nil {
		return nil, err
	}
	return &Schema{compiled, o.Words, o.LongTexts, textLimits(compiled)}, nil
}

// nothing is where references to other documents lead.
type nothing struct{}

func (nothing) Load(string) (any, error) {
	return nil, errors.New("a schema must not refer to other documents")
}

// Check validates arguments. It returns their values in normal form, or
// VALIDATION_ERROR with one remark per field, and the fields that are wrong.
func (s *Schema) Check(raw json.RawMessage) (values map[string]any, wrong []string, err error) {
	if values, err = readObject(raw); err != nil {
		return nil, nil, fault.ValidationError.New("Invalid input parameters").Suggest("input: %s", err)
	}
	if remarks := s.normalize(values); len(remarks) > 0 {
		return nil, nil, fault.ValidationError.New("Invalid input parameters").Suggest("%s", fault.List(remarks, "; ")).Fields(fieldsOf(remarks)...)
	}
	err = s.compiled.Validate(values)
	if err == nil {
		return values, nil, nil
	}
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return nil, nil, err
	}
	said := remarks{s, map[string]string{}, map[string]bool{}}
	said.collect(invalid)
	return nil, said.fields(), said.refuse()
}

// fieldsOf are the fields that remarks begin with.
func fieldsOf(remarks []string) []string {
	names := make([]string, len(remarks))
	for i, remark := range remarks {
		names[i], _, _ = strings.Cut(remark, ":")
	}
	return names
}

// Wrong is Check for callers that need no values.
func (s *Schema) Wrong(args json.RawMessage) (fields []string, err error) {
	_, fields, err = s.Check(args)
	return fields, err
}

// remarks are what is wrong with an input: the field of each remark.
type remarks struct {
	schema  *Schema
	said    map[string]string
	missing map[string]bool // fields that are required
}

// refuse words the faults of an input twice: the suggested action is for models, a
// remark per field ("limit: must be at most 50; …"); the message is for people, who
// know no fields, where each of these has a sentence for them.
func (r remarks) refuse() error {
	message := "Invalid input parameters"
	all := slices.Sorted(maps.Keys(r.said))
	var sentences []string
	for _, remark := range all {
		field, _, _ := strings.Cut(remark, ":")
		if sentence := r.tell(field); sentence != "" && !slices.Contains(sentences, sentence) {
			sentences = append(sentences, sentence)
		} else if sentence == "" {
			return fault.ValidationError.New("%s", message).Suggest("%s", fault.List(all, "; ")).Fields(r.fields()...)
		}
	}
	if len(sentences) > 0 {
		message = strings.Join(sentences, " ")
	}
	return fault.ValidationError.New("%s", message).Suggest("%s", fault.List(all, "; ")).Fields(r.fields()...)
}

// tell is the sentence about a field for people. What is said of a wrong id ("I find no
// employee with that id.") is not true of one that is missing.
func (r remarks) tell(field string) string {
	sentence := r.schema.words[field].Tell
	if noun, isID := strings.CutSuffix(field, "_id"); isID && sentence != "" && r.missing[field] {
		return "Which " + strings.ReplaceAll(noun, "_", " ") + " is meant?"
	}
	return sentence
}

// fields are the top-level fields with a remark.
func (r remarks) fields() []string {
	all := slices.Sorted(maps.Values(r.said))
	return slices.DeleteFunc(slices.Compact(all), func(name string) bool { return name == "" })
}

func (r remarks) collect(e *jsonschema.ValidationError) {
	for _, cause := range e.Causes {
		r.collect(cause)
	}
	if len(e.Causes) > 0 {
		return
	}
	where := clip(strings.Join(e.InstanceLocation, "."))
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		for _, name := range k.Missing {
			r.missing[join(where, name)] = true
			r.add(join(where, name), "is required")
		}
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			r.add(join(where, clip(name)), "is not a field of this tool")
		}
	default:
		r.add(where, remark(e.ErrorKind))
	}
}

func (r remarks) add(where, what string) {
	if advice := r.schema.words[where].Suggest; advice != "" {
		what += ". " + advice
	}
	field, _, _ := strings.Cut(where, ".")
	if where == "" {
		where = "input"
	}
	r.said[where+": "+what] = field
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
