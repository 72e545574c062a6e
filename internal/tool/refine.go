package tool

import (
	"encoding/json"
	"reflect"
	"regexp"
	"strings"

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
	if guarded, ok := reflect.New(value).Interface().(access.Maskable); ok {
		value = reflect.TypeOf(guarded.GuardedValue())
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
