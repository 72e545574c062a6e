package tool

import (
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"

	reflector "github.com/invopop/jsonschema"

	"countersign.dev/internal/access"
)

// refine adds to a schema what the reflector leaves out: the shape of a hidden
// field's value beside the text that replaces it, and the format and the length of
// a text that may be null.
func refine(t reflect.Type, schema object) error {
	if items, ok := schema["items"].(object); ok {
		return refine(t, items)
	}
	properties, _ := schema["properties"].(object)
	for field := range fields(structIn(t)) {
		property, ok := properties[jsonName(field)].(object)
		if !ok {
			continue
		}
		if err := refineField(field, property); err != nil {
			return err
		}
		if err := refine(field.Type, property); err != nil {
			return err
		}
	}
	return nil
}

var (
	nullable  = regexp.MustCompile(`\boneof_type=`)
	formatOf  = regexp.MustCompile(`\bformat=([a-z-]+)`)
	longestOf = regexp.MustCompile(`\bmaxLength=(\d+)`)
)

// refineNullable adds what the reflector leaves out of a text that may be null.
func refineNullable(field reflect.StructField, property object) {
	tag := field.Tag.Get("jsonschema")
	if !nullable.MatchString(tag) {
		return
	}
	if found := formatOf.FindStringSubmatch(tag); found != nil {
		property["format"] = found[1]
	}
	if found := longestOf.FindStringSubmatch(tag); found != nil {
		property["maxLength"] = json.Number(found[1])
	}
}

func refineField(field reflect.StructField, property object) error {
	refineNullable(field, property)
	value := field.Type
	if sensitive, ok := reflect.New(value).Interface().(access.Maskable); ok {
		value = reflect.TypeOf(sensitive.SensitiveValue())
	} else if _, style, _ := strings.Cut(field.Tag.Get("mask"), ","); property["pattern"] == nil || style != string(access.Hide) {
		return nil
	}
	alone := reflect.StructOf([]reflect.StructField{{Name: field.Name, Type: value, Tag: field.Tag}})
	schema, err := reflectSchema(alone, false)
	if err != nil {
		return err
	}
	shown := schema["properties"].(object)[jsonName(field)].(object)
	delete(shown, "description")
	delete(property, "pattern")
	delete(property, "type")
	property["oneOf"] = []any{shown, object{"type": "string", "const": access.Hidden}}
	return nil
}

// object is a JSON Schema, or any JSON object, as plain data.
type object = map[string]any

func reflectSchema(t reflect.Type, refer bool) (object, error) {
	r := &reflector.Reflector{Anonymous: true, DoNotReference: !refer, ExpandedStruct: !refer, Mapper: sensitiveSchema}
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
	optional(t, schema)
	definitions, _ := schema["$defs"].(object)
	for _, inner := range structsIn(t, nil) {
		if definition, ok := definitions[inner.Name()].(object); ok {
			optional(inner, definition)
		}
	}
	return schema, nil
}

// structsIn lists the struct types of a type, itself first.
func structsIn(t reflect.Type, known []reflect.Type) []reflect.Type {
	t = structIn(t)
	if t == nil || slices.Contains(known, t) {
		return known
	}
	known = append(known, t)
	for field := range fields(t) {
		known = structsIn(field.Type, known)
	}
	return known
}

// optional takes the fields of embedded pointers out of the required ones: they are
// there together, or not at all.
func optional(t reflect.Type, schema object) {
	if items, ok := schema["items"].(object); ok {
		optional(t, items)
	}
	properties, _ := schema["properties"].(object)
	for field := range fields(structIn(t)) {
		name := jsonName(field)
		if required, ok := schema["required"].([]any); ok && throughPointer(structIn(t), field.Index) {
			schema["required"] = slices.DeleteFunc(required, func(r any) bool { return r == name })
		}
		if property, ok := properties[name].(object); ok {
			optional(field.Type, property)
		}
	}
}

// sensitiveSchema describes a sensitive value: itself, or the text that replaces it.
func sensitiveSchema(t reflect.Type) *reflector.Schema {
	sensitive, ok := reflect.New(t).Interface().(access.Maskable)
	if !ok {
		return nil
	}
	value := (&reflector.Reflector{Anonymous: true, DoNotReference: true}).Reflect(sensitive.SensitiveValue())
	value.Version = ""
	return &reflector.Schema{OneOf: []*reflector.Schema{value, {Type: "string", Const: access.Hidden}}}
}

// throughPointer reports whether a promoted field is of an embedded pointer.
func throughPointer(t reflect.Type, index []int) bool {
	for _, i := range index[:len(index)-1] {
		if t = t.Field(i).Type; t.Kind() == reflect.Pointer {
			return true
		}
	}
	return false
}
