// Package flat reads JSON objects of texts, whole numbers and truth values, which most
// arguments of tools are, in one walk over their bytes: their values are checked, written
// in canonical form, and set on a Go struct, without a tree of values in between.
//
// What it does not understand is not wrong. Its callers have another reader, which knows
// all of JSON and says what is wrong; what is read here, that one must accept, with the
// same values. Start with [Object].
package flat

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// Kind is what a field holds.
type Kind uint8

// The kinds.
const (
	Text Kind = iota
	Whole
	Truth
)

// Field is one field of an object.
type Field struct {
	Name     string
	Kind     Kind
	Required bool
	Accepts  func(v Value) bool // nil: every value of the kind

	key string // the name as the canonical form has it, with its colon
}

// Value is the value of one field.
type Value struct {
	Given bool
	Text  string
	Int   int64 // of a truth value, 1 is true
}

// Object is what objects with certain fields are read by. It is safe for concurrent use.
type Object struct {
	fields []Field // sorted by name
	byName map[string]int
}

// New makes an object of fields with different names.
func New(fields []Field) *Object {
	o := &Object{slices.SortedFunc(slices.Values(fields), func(a, b Field) int { return cmp.Compare(a.Name, b.Name) }), make(map[string]int, len(fields))}
	for i, f := range o.fields {
		key, _ := json.Marshal(f.Name) // a text is always encoded
		o.fields[i].key = string(key) + ":"
		o.byName[f.Name] = i
	}
	return o
}

// Fields are those of the object, sorted by name. Values have the same order.
func (o *Object) Fields() []Field { return o.fields }

// Read reads an object that has all required fields, and no others than its own, each
// once. values is as long as Fields. The texts in it may be parts of text.
func (o *Object) Read(text string, values []Value) bool {
	clear(values)
	w := walk{text: text}
	if !w.take('{') {
		return false
	}
	empty := w.take('}')
	for more := !empty; more; more = w.take(',') {
		if !o.readMember(&w, values) {
			return false
		}
	}
	for i, f := range o.fields {
		if f.Required && !values[i].Given {
			return false
		}
	}
	return (empty || w.take('}')) && w.ended()
}

func (o *Object) readMember(w *walk, values []Value) (ok bool) {
	name, escaped, ok := w.quoted()
	at, known := o.byName[name]
	if !ok || escaped || !known || values[at].Given || !w.take(':') {
		return false
	}
	f, v := &o.fields[at], &values[at]
	v.Given = true
	switch f.Kind {
	case Text:
		v.Text, ok = w.string()
	case Whole:
		v.Int, ok = w.whole()
	case Truth:
		v.Int, ok = w.truth()
	}
	return ok && (f.Accepts == nil || f.Accepts(*v))
}

// Append writes the canonical form of values: sorted by name, as encoding/json writes a
// map of them.
func (o *Object) Append(b []byte, values []Value) []byte {
	b = append(b, '{')
	separate := false
	for i := range o.fields {
		f, v := &o.fields[i], &values[i]
		if !v.Given {
			continue
		}
		if separate {
			b = append(b, ',')
		}
		separate = true
		b = append(b, f.key...)
		switch f.Kind {
		case Text:
			b = AppendText(b, v.Text)
		case Whole:
			b = strconv.AppendInt(b, v.Int, 10)
		case Truth:
			b = strconv.AppendBool(b, v.Int == 1)
		}
	}
	return append(b, '}')
}

// AppendText quotes a text as encoding/json does.
func AppendText(b []byte, text string) []byte {
	for i := range len(text) {
		if !asItIs[text[i]] {
			quoted, _ := json.Marshal(text) // a text is always encoded
			return append(b, quoted...)
		}
	}
	return append(append(append(b, '"'), text...), '"')
}

// asItIs are the bytes that a text has between its quotes as they are, whatever follows.
var asItIs = func() (plain [256]bool) {
	for c := ' '; c <= '~'; c++ {
		plain[c] = !strings.ContainsRune(`"\<>&`, c)
	}
	return plain
}()
