package tool

import (
	"iter"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"countersign.dev/internal/access"
)

// fields walks the fields of a struct that appear in its JSON, embedded ones
// included. Other types have none.
func fields(t reflect.Type) iter.Seq[reflect.StructField] {
	return func(yield func(reflect.StructField) bool) {
		if t == nil || t.Kind() != reflect.Struct {
			return
		}
		for _, field := range reflect.VisibleFields(t) {
			if field.IsExported() && !field.Anonymous && !yield(field) {
				return
			}
		}
	}
}

// jsonName is a field's name on the wire; "-" when it has none.
func jsonName(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	if name == "" {
		return field.Name
	}
	return name
}

// shows reports whether the JSON of a type has a field of that name, however
// deep. above are the types that it is a part of.
func shows(t reflect.Type, name string, above ...reflect.Type) bool {
	if t == nil {
		return false
	}
	inside := structIn(t)
	if slices.Contains(above, inside) {
		return false
	}
	for field := range fields(inside) {
		if jsonName(field) == name || shows(field.Type, name, append(above, inside)...) {
			return true
		}
	}
	return false
}

// Texts lists the names of the fields of a tool's answers and cards that can hold
// any text: those whose schema has neither an enum nor a format or a pattern. What
// other people can write there belongs into Spec.Untrusted.
func (t Tool) Texts() []string {
	found := map[string]bool{}
	var walk func(t reflect.Type, above ...reflect.Type)
	walk = func(t reflect.Type, above ...reflect.Type) {
		if t == nil {
			return
		}
		inside := structIn(t)
		if slices.Contains(above, inside) {
			return
		}
		for field := range fields(inside) {
			if isText(field.Type) && !bounded.MatchString(field.Tag.Get("jsonschema")) {
				found[jsonName(field)] = true
			}
			walk(field.Type, append(above, inside)...)
		}
	}
	walk(t.output)
	walk(t.shown)
	delete(found, "-")
	return slices.Sorted(maps.Keys(found))
}

// bounded matches the schema of a text that cannot hold sentences.
var bounded = regexp.MustCompile(`\b(enum|format|pattern)=`)

// isText reports whether values of a type can hold any text.
func isText(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.String, reflect.Interface:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return isText(t.Elem())
	case reflect.Struct: // a sensitive value
		value, found := t.FieldByName("Value")
		return found && reflect.PointerTo(t).Implements(maskableType) && isText(value.Type)
	}
	return false
}

var maskableType = reflect.TypeFor[access.Maskable]()

// structIn finds the struct type behind pointers, slices and arrays. Sensitive
// values and types that encode themselves have no inner struct.
func structIn(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Array {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || t.PkgPath() == "time" || reflect.PointerTo(t).Implements(maskableType) {
		return nil
	}
	return t
}
