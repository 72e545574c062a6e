package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	reflector "github.com/invopop/jsonschema"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/strictjson"
)

// object is a JSON Schema, or any JSON object, as plain data.
type object = map[string]any

// inputSchema derives the schema of a tool's input from its type, and adds the
// page inputs of lists.
func inputSchema(t Tool) (object, error) {
	schema, err := reflectSchema(t.input, false)
	if err != nil {
		return nil, err
	}
	properties, _ := schema["properties"].(object)
	if properties == nil {
		properties = object{}
		schema["properties"] = properties
	}
	for name, property := range pageInputs(t.pager) {
		if _, taken := properties[name]; taken {
			return nil, fmt.Errorf("input field %q belongs to the kernel", name)
		}
		properties[name] = property
	}
	schema["additionalProperties"] = false
	return schema, nil
}

// pageInputs are the input fields that every list of a kind has.
func pageInputs(p pager) object {
	switch p {
	case keyset:
		return object{
			"limit":  object{"type": "integer", "minimum": 1, "maximum": MaxPage, "default": MaxPage, "description": "Maximum records to return (50 at most)."},
			"cursor": object{"type": "string", "description": "Base64-encoded cursor for pagination: nextCursor of the page before, with the same filters."},
		}
	case offset:
		return object{
			"limit":  object{"type": "integer", "minimum": 1, "maximum": MaxOffsetPage, "default": DefaultOffset, "description": "Maximum items to return (1,000 at most)."},
			"offset": object{"type": "integer", "minimum": 0, "default": 0, "description": "Items to skip."},
		}
	}
	return nil
}

// dataSchema derives the schema of a tool's data. Definitions that it refers to
// are returned separately, because they belong to the root of the whole answer.
func dataSchema(t Tool) (data, definitions object, err error) {
	data, err = reflectSchema(t.output, recursive(t.output, nil))
	if err != nil {
		return nil, nil, err
	}
	if err := refine(t.output, data); err != nil {
		return nil, nil, err
	}
	definitions, _ = data["$defs"].(object)
	delete(data, "$defs")
	if t.pager != noPages {
		data = object{"type": "array", "items": data}
	}
	return data, definitions, nil
}

func reflectSchema(t reflect.Type, refer bool) (object, error) {
	r := &reflector.Reflector{Anonymous: true, DoNotReference: !refer, ExpandedStruct: !refer, Mapper: guardedSchema}
	encoded, err := json.Marshal(r.ReflectFromType(t))
	if err != nil {
		return nil, err
	}
	var schema object
	if err := json.Unmarshal(encoded, &schema); err != nil {
		return nil, err
	}
	delete(schema, "$schema")
	delete(schema, "$id")
	return schema, nil
}

// guardedSchema describes a guarded value: itself, or the text that replaces it.
func guardedSchema(t reflect.Type) *reflector.Schema {
	guarded, ok := reflect.New(t).Interface().(access.Maskable)
	if !ok {
		return nil
	}
	value := (&reflector.Reflector{Anonymous: true, DoNotReference: true}).Reflect(guarded.GuardedValue())
	value.Version = ""
	return &reflector.Schema{OneOf: []*reflector.Schema{value, {Type: "string", Const: access.Hidden}}}
}

// recursive reports whether a type contains itself, and so needs references.
func recursive(t reflect.Type, above []reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return recursive(t.Elem(), above)
	case reflect.Struct:
		if slices.Contains(above, t) {
			return true
		}
		above = append(slices.Clip(above), t)
		for i := range t.NumField() {
			if recursive(t.Field(i).Type, above) {
				return true
			}
		}
	}
	return false
}

// validator checks inputs against a tool's schema.
type validator struct {
	schema   *jsonschema.Schema
	defaults object            // by property name
	advice   map[string]string // by property name: the `suggest` tag of the input field, for models
	people   map[string]string // by property name: its `tell` tag, what a person reads instead
	lines    map[string]bool   // by property name: a text of several lines
}

// dates is the format `date` for the years in which something can have happened
// or will: stores and clients disagree on what the years 0 and 1 are.
var dates = &jsonschema.Format{Name: "date", Validate: func(v any) error {
	text, ok := v.(string)
	if !ok {
		return nil
	}
	if day, err := time.Parse(time.DateOnly, text); err != nil || day.Year() < firstYear || day.Year() > lastYear {
		return errors.New("not a date")
	}
	return nil
}}

// The years of a date.
const (
	firstYear = 1900
	lastYear  = 2199
)

var uuidShape = regexp.MustCompile(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`)

// anyUUID is the format `uuid` in any version: companies have ids that are older
// than RFC 4122's variants.
var anyUUID = &jsonschema.Format{Name: "uuid", Validate: func(v any) error {
	if text, ok := v.(string); ok && !uuidShape.MatchString(text) {
		return errors.New("not a uuid")
	}
	return nil
}}

func newValidator(schema object, input reflect.Type) (*validator, error) {
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.RegisterFormat(anyUUID)
	compiler.RegisterFormat(dates)
	compiler.AssertFormat()
	encoded, err := json.Marshal(schema)
	if err != nil {
		return nil, err
	}
	plain, err := jsonschema.UnmarshalJSON(strings.NewReader(string(encoded)))
	if err != nil {
		return nil, err
	}
	if err := compiler.AddResource("input.json", plain); err != nil {
		return nil, err
	}
	compiled, err := compiler.Compile("input.json")
	if err != nil {
		return nil, err
	}
	v := &validator{schema: compiled, defaults: object{}, advice: map[string]string{}, people: map[string]string{}, lines: map[string]bool{}}
	for name, property := range schema["properties"].(object) {
		if value, ok := property.(object)["default"]; ok {
			v.defaults[name] = value
		}
	}
	for field := range fields(input) {
		if advice := field.Tag.Get("suggest"); advice != "" {
			v.advice[jsonName(field)] = advice
		}
		if told := field.Tag.Get("tell"); told != "" {
			v.people[jsonName(field)] = told
		}
		v.lines[jsonName(field)] = field.Tag.Get("text") == "lines"
	}
	return v, nil
}

// check validates an input and fills in the defaults. It returns the values by
// name, or VALIDATION_ERROR with one remark per field.
func (v *validator) check(raw json.RawMessage) (object, error) {
	values, err := readObject(raw)
	if err != nil {
		return nil, fault.ValidationError.New("Invalid input parameters").Suggest("input: %s", err)
	}
	if remarks := normalize(values); len(remarks) > 0 {
		return nil, fault.ValidationError.New("Invalid input parameters").Suggest("%s", fault.List(remarks, "; "))
	}
	if err := v.schema.Validate(values); err != nil {
		var invalid *jsonschema.ValidationError
		if !errors.As(err, &invalid) {
			return nil, err
		}
		return nil, v.refuse(invalid)
	}
	for name, value := range v.defaults {
		if _, given := values[name]; !given {
			values[name] = value
		}
	}
	return values, nil
}

// readObject reads one object of strict JSON. An absent input is an empty one.
func readObject(raw json.RawMessage) (object, error) {
	values := object{}
	if trimmed := bytes.TrimSpace(raw); len(trimmed) == 0 || string(trimmed) == "null" {
		return values, nil
	}
	return values, strictjson.Unmarshal(raw, &values)
}

// refuse words the faults of an input twice: the suggested action is for models, a
// remark per field ("limit: must be at most 50; …"); the message is for people, who
// know no fields, where each of these has a sentence for them.
func (v *validator) refuse(invalid *jsonschema.ValidationError) error {
	said := map[string]bool{}
	v.collect(invalid, said)
	remarks := slices.Sorted(maps.Keys(said))
	message := "Invalid input parameters"
	var told []string
	for _, remark := range remarks {
		field, _, _ := strings.Cut(remark, ":")
		if sentence := v.people[field]; sentence != "" && !slices.Contains(told, sentence) {
			told = append(told, sentence)
		} else if sentence == "" {
			return fault.ValidationError.New("%s", message).Suggest("%s", fault.List(remarks, "; "))
		}
	}
	if len(told) > 0 {
		message = strings.Join(told, " ")
	}
	return fault.ValidationError.New("%s", message).Suggest("%s", fault.List(remarks, "; "))
}

func (v *validator) collect(e *jsonschema.ValidationError, said map[string]bool) {
	for _, cause := range e.Causes {
		v.collect(cause, said)
	}
	if len(e.Causes) > 0 {
		return
	}
	where := clip(strings.Join(e.InstanceLocation, "."))
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		for _, name := range k.Missing {
			v.add(said, join(where, name), "is required")
		}
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			v.add(said, join(where, clip(name)), "is not a field of this tool")
		}
	default:
		v.add(said, where, remark(e.ErrorKind))
	}
}

func (v *validator) add(said map[string]bool, where, what string) {
	if advice := v.advice[where]; advice != "" {
		what += ". " + advice
	}
	if where == "" {
		where = "input"
	}
	said[where+": "+what] = true
}

// remark describes a violation without repeating the value, which may be long or
// secret.
func remark(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Format:
		if k.Want == dates.Name {
			return fmt.Sprintf("is not a valid date (YYYY-MM-DD, of the years %d to %d)", firstYear, lastYear)
		}
		return "is not a valid " + k.Want
	case *kind.Type:
		return fmt.Sprintf("must be %s, not %s", strings.Join(k.Want, " or "), k.Got)
	case *kind.Enum:
		return fmt.Sprintf("must be one of %s", quoted(k.Want))
	case *kind.Pattern:
		return "does not match " + k.Want
	case *kind.Minimum:
		f, _ := k.Want.Float64()
		return fmt.Sprintf("must be at least %v", f)
	case *kind.Maximum:
		f, _ := k.Want.Float64()
		return fmt.Sprintf("must be at most %s", plainNumber(f))
	case *kind.MinLength:
		return fmt.Sprintf("must have at least %d characters", k.Want)
	case *kind.MaxLength:
		return fmt.Sprintf("must have at most %d characters", k.Want)
	}
	return clip(k.LocalizedString(message.NewPrinter(language.English)))
}

func plainNumber(f float64) string { return strings.TrimSuffix(fmt.Sprintf("%.2f", f), ".00") }

func quoted(values []any) string {
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = fmt.Sprint(v)
	}
	return strings.Join(words, ", ")
}

func join(where, name string) string {
	if where == "" {
		return name
	}
	return where + "." + name
}

// maxShown bounds a text that the caller chose, in an error or a record.
const maxShown = 80

func clip(text string) string { return fault.Clip(text, maxShown) }
