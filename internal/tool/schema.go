package tool

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/schema"
)

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
	for field := range fields(t.input) {
		if property, ok := properties[jsonName(field)].(object); ok {
			refineNullable(field, property)
		}
	}
	for name, property := range pageInputs(t) {
		if _, taken := properties[name]; taken {
			return nil, fmt.Errorf("input field %q belongs to the kernel", name)
		}
		properties[name] = property
	}
	schema["additionalProperties"] = false
	return schema, nil
}

// pageInputs are the input fields that every list of a kind has.
func pageInputs(t Tool) object {
	switch t.pager {
	case keyset:
		most := cmp.Or(t.spec.Page, MaxPage)
		return object{
			"limit":  object{"type": "integer", "minimum": 1, "maximum": most, "default": t.usual(), "description": fmt.Sprintf("Maximum records to return (%d at most).", most)},
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
	schema   *schema.Schema
	defaults object          // by property name
	lines    map[string]bool // by property name: a text of several lines
}

func newValidator(input object, t reflect.Type) (*validator, error) {
	encoded, err := json.Marshal(input)
	if err != nil {
		return nil, err
	}
	v := &validator{defaults: object{}, lines: map[string]bool{}}
	words := map[string]schema.Words{}
	for name, property := range input["properties"].(object) {
		if value, ok := property.(object)["default"]; ok {
			v.defaults[name] = value
		}
	}
	for field := range fields(t) {
		words[jsonName(field)] = schema.Words{Suggest: field.Tag.Get("suggest"), Via: field.Tag.Get("via"), Tell: field.Tag.Get("tell")}
		v.lines[jsonName(field)] = field.Tag.Get("text") == "lines"
	}
	v.schema, err = schema.Compile(encoded, schema.Options{Formats: true, Words: words})
	return v, err
}

// check validates an input and fills in the defaults. It returns the values by
// name, or VALIDATION_ERROR with one remark per field.
func (v *validator) check(raw json.RawMessage) (object, error) {
	values, _, err := v.schema.Check(raw)
	if err != nil {
		return nil, err
	}
	for name, value := range v.defaults {
		if _, given := values[name]; !given {
			values[name] = value
		}
	}
	return values, nil
}

// maxShown bounds a text that the caller chose, in an error or a record.
const maxShown = 80

func clip(text string) string { return fault.Clip(text, maxShown) }
