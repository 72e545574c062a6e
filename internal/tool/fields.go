package tool

import (
	"iter"
	"reflect"
	"strings"
)

// fields walks the fields of a struct that appear in its JSON, embedded ones
// included. A type that is no struct has none.
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
