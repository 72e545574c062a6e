package result

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Row is a JSON object in its own order. Its values are those of [ParseData].
type Row struct {
	Keys   []string
	Values map[string]any
}

// Text is a field of the row that holds text; empty when it holds none.
func (r Row) Text(key string) string {
	text, _ := r.Values[key].(string)
	return text
}

// Number is a field of the row that holds a number.
func (r Row) Number(key string) (float64, bool) {
	n, ok := r.Values[key].(json.Number)
	f, err := n.Float64()
	return f, ok && err == nil
}

// Rows are the objects of a list. Any other data has none.
func Rows(data any) (rows []Row) {
	list, _ := data.([]any)
	for _, one := range list {
		if row, ok := one.(Row); ok {
			rows = append(rows, row)
		}
	}
	return rows
}

// RowsWithin are the rows of an answer: its data, or the first list of objects among its fields.
func RowsWithin(data any) []Row {
	rows := Rows(data)
	one, _ := data.(Row)
	for _, k := range one.Keys {
		if rows == nil {
			rows = Rows(one.Values[k])
		}
	}
	return rows
}

// Masked reports whether a field's value is hidden from the person.
func (r Row) Masked(key string) bool { return strings.HasPrefix(r.Text(key), "***") }

// ParseData reads the data of an answer: a Row, []any, string, json.Number, bool
// or nil, so that objects keep their order and numbers their spelling.
func ParseData(raw json.RawMessage) (any, error) {
	return parseWith(raw, func(text string) string { return text })
}

// ParseMarked is [ParseData] for an answer as a model gets it: it takes the marks
// around untrusted text off.
func ParseMarked(raw json.RawMessage) (any, error) { return parseWith(raw, Unmark) }

func parseWith(raw json.RawMessage, read func(text string) string) (any, error) {
	in := jsontext.NewDecoder(bytes.NewBuffer(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	p := parser{in: in, source: string(raw), read: read}
	return p.value()
}

// parser reads data. Its texts are parts of the source wherever they can be: a list has
// thousands of them.
type parser struct {
	in     *jsontext.Decoder
	source string
	read   func(text string) string
	width  int // fields of the last row: the next one has as many
}

func (p *parser) value() (any, error) {
	switch p.in.PeekKind() {
	case '{':
		return p.row()
	case '[':
		return p.list()
	case '"':
		text, err := p.text()
		return p.read(text), err
	case '0':
		number, err := p.next()
		return json.Number(number), err
	}
	token, err := p.in.ReadToken()
	if err != nil || token.Kind() == 'n' {
		return nil, err
	}
	return token.Bool(), nil
}

func (p *parser) row() (any, error) {
	_, _ = p.in.ReadToken() // the brace that was peeked at
	row := Row{Values: make(map[string]any, p.width)}
	for p.in.PeekKind() != '}' {
		key, err := p.text()
		if err != nil {
			return nil, err
		}
		if row.Values[key], err = p.value(); err != nil {
			return nil, err
		}
		if row.Keys == nil {
			row.Keys = make([]string, 0, p.width)
		}
		row.Keys = append(row.Keys, key)
	}
	p.width = len(row.Keys)
	_, err := p.in.ReadToken()
	return row, err
}

func (p *parser) list() (any, error) {
	_, _ = p.in.ReadToken() // the bracket that was peeked at
	list := []any{}
	for p.in.PeekKind() != ']' {
		item, err := p.value()
		if err != nil {
			return nil, err
		}
		list = append(list, item)
	}
	_, err := p.in.ReadToken()
	return list, err
}

// text reads a string. One that cannot be a part of the source is decoded.
func (p *parser) text() (string, error) {
	quoted, err := p.next()
	if err != nil {
		return "", err
	}
	if !strings.Contains(quoted, `\`) && utf8.ValidString(quoted) {
		return quoted[1 : len(quoted)-1], nil
	}
	decoded, _ := jsontext.AppendUnquote(nil, quoted) // what is no UTF-8 is replaced, as elsewhere
	return string(decoded), nil
}

// next is the next value as it is written.
func (p *parser) next() (string, error) {
	value, err := p.in.ReadValue()
	end := int(p.in.InputOffset())
	return p.source[end-len(value) : end], err
}
