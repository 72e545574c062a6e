package tool

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"countersign.dev/internal/audit/rowid"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/flat"
	"countersign.dev/internal/plaintext"
	"countersign.dev/internal/result"
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

// reader reads the usual inputs of a tool in one walk over their bytes. Those that it does
// not understand, and all that are wrong, are read by [validator.check].
type reader struct {
	of       *flat.Object
	typed    *flat.Binding // nil: its Go type is decoded from the canonical form
	fields   []readField   // as those of the object
	visible  bool          // texts must show all that they hold
	standard windowInput   // of an input that says nothing of its page
}

// readField is what the kernel knows of one field.
type readField struct {
	flat.Field
	standard flat.Value // of an input without it; not given: none
	lines    bool       // a text of several lines
	ofPage   bool       // a page input, which is no filter
}

// maxRead bounds the fields of an input that is read in one walk.
const maxRead = 24

// newReader is nil for a tool whose inputs only the validator can read.
func newReader(t Tool, v *validator) *reader {
	r := &reader{of: v.schema.Flat(), visible: t.kind == result.Write || t.kind == result.Edit}
	if r.of == nil || len(r.of.Fields()) > maxRead {
		return nil
	}
	page, defaults := pageInputs(t), 0
	for _, f := range r.of.Fields() {
		standard, has := standardOf(f, v.defaults[f.Name])
		if has {
			defaults++
		}
		r.fields = append(r.fields, readField{f, standard, v.lines[f.Name], page[f.Name] != nil})
	}
	if defaults < len(v.defaults) {
		return nil
	}
	if t.pager != noPages {
		r.standard = windowInput{Limit: t.usual(), unlimited: true}
	}
	r.typed = r.of.Bind(t.input)
	return r
}

// standardOf is the default of a field, of a schema that was read as JSON.
func standardOf(f flat.Field, value any) (v flat.Value, ok bool) {
	switch value := value.(type) {
	case string:
		return flat.Value{Given: true, Text: value}, f.Kind == flat.Text
	case float64:
		v = flat.Value{Given: true, Int: int64(value)}
		return v, f.Kind == flat.Whole && float64(v.Int) == value
	case bool:
		if v.Given = true; value {
			v.Int = 1
		}
		return v, f.Kind == flat.Truth
	}
	return v, false
}

// read is false for an input that is not usual.
func (r *reader) read(input json.RawMessage) (g given, ok bool) {
	if r == nil {
		return g, false
	}
	var most [maxRead]flat.Value
	values := most[:len(r.fields)]
	if !r.of.Read(string(input), values) || r.visible && !r.shown(values) {
		return g, false
	}
	g.window, g.rows = r.cut(values), r.rows(values)
	var room [512]byte
	if canonical := r.of.Append(room[:0], values); bytes.Equal(canonical, input) {
		g.input = input
	} else {
		g.input = append(g.input, canonical...)
	}
	if r.typed != nil {
		g.typed = r.typed.Set(values)
	}
	return g, true
}

// shown reports whether all texts show what they hold.
func (r *reader) shown(values []flat.Value) bool {
	for i, f := range r.fields {
		if plaintext.Check(values[i].Text, f.lines) != nil {
			return false
		}
	}
	return true
}

// cut fills in the defaults, and takes the page inputs out of the values.
func (r *reader) cut(values []flat.Value) windowInput {
	w := r.standard
	for i, f := range r.fields {
		v := &values[i]
		switch {
		case !v.Given:
			*v = f.standard
			continue
		case !f.ofPage:
			continue
		case f.Name == "limit":
			w.Limit, w.unlimited = int(v.Int), false
		case f.Name == "cursor":
			w.Cursor = v.Text
		case f.Name == "offset":
			w.Offset = int(v.Int)
		}
		v.Given = false
	}
	return w
}

// rows lists the ids that an input names, as [rowid.In] does.
func (r *reader) rows(values []flat.Value) string {
	var room [4]string
	ids := room[:0]
	for i, f := range r.fields {
		switch v := values[i]; {
		case !v.Given || !rowid.IsName(f.Name):
		case f.Kind == flat.Whole:
			ids = append(ids, strconv.FormatInt(v.Int, 10))
		case f.Kind == flat.Text && rowid.Is(v.Text):
			ids = append(ids, v.Text)
		}
	}
	return rowid.Join(ids)
}

// maxShown bounds a text that the caller chose, in an error or a record.
const maxShown = 80

func clip(text string) string { return fault.Clip(text, maxShown) }
