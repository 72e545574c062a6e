package flat

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
)

// Binding sets values on a struct type, as encoding/json decodes their canonical form
// into it. It is safe for concurrent use.
type Binding struct {
	of    reflect.Type
	index [][]int // of the Go field of each field; nil: the type has none, and the value is left out
}

// Bind returns nil for a type that encoding/json reads in another way than by setting
// fields that hold every value of their kind.
func (o *Object) Bind(t reflect.Type) *Binding {
	b := &Binding{t, make([][]int, len(o.fields))}
	if t.Kind() != reflect.Struct || readsItself(t) {
		return nil
	}
	for _, field := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Anonymous && (name+options != "" || field.Type.Kind() == reflect.Pointer):
			return nil // its fields are not those of the object, or not always
		case field.Anonymous, !field.IsExported(), name == "-":
			continue
		case name == "":
			name = field.Name
		}
		for at, f := range o.fields {
			if !strings.EqualFold(f.Name, name) {
				continue
			}
			if f.Name != name || b.index[at] != nil || strings.Contains(options, "string") || readsItself(field.Type) || !holds(field.Type.Kind(), f.Kind) {
				return nil
			}
			b.index[at] = field.Index
		}
	}
	return b
}

// holds reports whether every value of a kind can be set on a Go field.
func holds(field reflect.Kind, k Kind) bool {
	switch k {
	case Text:
		return field == reflect.String
	case Truth:
		return field == reflect.Bool
	default:
		return field == reflect.Int64 || field == reflect.Float64 || field == reflect.Int && reflect.TypeFor[int]().Size() == 8
	}
}

var (
	readsJSON = reflect.TypeFor[json.Unmarshaler]()
	readsText = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// readsItself reports whether a type decides how it is read.
func readsItself(t reflect.Type) bool {
	t = reflect.PointerTo(t)
	return t.Implements(readsJSON) || t.Implements(readsText)
}

// Set returns a pointer to a new value of the type.
func (b *Binding) Set(values []Value) any {
	made := reflect.New(b.of)
	for i, v := range values {
		if !v.Given || b.index[i] == nil {
			continue
		}
		switch to := made.Elem().FieldByIndex(b.index[i]); to.Kind() {
		case reflect.String:
			to.SetString(v.Text)
		case reflect.Bool:
			to.SetBool(v.Int == 1)
		case reflect.Float64:
			to.SetFloat(float64(v.Int))
		default:
			to.SetInt(v.Int)
		}
	}
	return made.Interface()
}
