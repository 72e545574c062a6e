package tool

import (
	"iter"
	"reflect"
	"slices"
	"strings"
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
