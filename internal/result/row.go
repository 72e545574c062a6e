package result

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"countersign.dev/internal/english"
	"countersign.dev/internal/fault"
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

// Sum adds up the numbers of a field.
func Sum(rows []Row, key string) (total float64) {
	for _, one := range rows {
		n, _ := one.Number(key)
		total += n
	}
	return total
}

// Share is the sum of a field over rows, divided by a number, in hundredths.
func Share(rows []Row, key string, by int) json.Number {
	return json.Number(strconv.FormatFloat(Cents(Sum(rows, key)/float64(by)), 'f', -1, 64))
}

// Shares is a row of the [Share] of each of some fields.
func Shares(rows []Row, keys []string, by int) Row {
	all := Row{Keys: keys, Values: map[string]any{}}
	for _, k := range keys {
		all.Values[k] = Share(rows, k, by)
	}
	return all
}

// Descend puts the rows with the largest numbers of a field first, or the last of its texts:
// in the order of degrees, and without these in that of the alphabet.
func Descend(rows []Row, key string, degrees []string) {
	slices.SortStableFunc(rows, func(a, b Row) int {
		x, _ := a.Number(key)
		y, _ := b.Number(key)
		degree := cmp.Compare(slices.Index(degrees, b.Text(key)), slices.Index(degrees, a.Text(key)))
		return cmp.Or(cmp.Compare(y, x), degree, cmp.Compare(b.Text(key), a.Text(key)))
	})
}

// Stepped is the number of the field whose name shares a word with that of an input, changed
// by a step or by so many per cent; nil where no field has one.
func (r Row) Stepped(input string, step float64, percent bool) (changed any) {
	for _, k := range r.Keys {
		now, isNumber := r.Number(k)
		if !isNumber || english.Shared(english.Words(input), english.Words(k)) == 0 {
			continue
		}
		if changed = Cents(now + step); percent {
			changed = Cents(now + step*now/100)
		}
	}
	return changed
}

// Holds reports whether a field has one of some values, or is what one of [Signs] says of it.
func (r Row) Holds(key string, values []any) bool {
	n, _ := r.Number(key)
	is := []any{r.Values[key], n, Signs[1+cmp.Compare(n, 0)]}
	if r.Values[key] == nil {
		is = []any{"none"}
	}
	return slices.ContainsFunc(is, func(v any) bool { return slices.Contains(values, v) })
}

// Grouped are the rows by the text of a field.
func Grouped(rows []Row, key string) map[string][]Row {
	groups := map[string][]Row{}
	for _, one := range rows {
		groups[one.Text(key)] = append(groups[one.Text(key)], one)
	}
	return groups
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

// Name is what people call the row: a first and a last name, or the text of the field that
// names it. It is empty where none does.
func (r Row) Name() string {
	name := ""
	for _, k := range r.Keys {
		if isNamePart(k) {
			name += " " + r.Text(k)
		}
	}
	return strings.TrimSpace(cmp.Or(name, r.Text(r.nameKey())))
}

// Names reports whether a field names the row, or is a part of its name.
func (r Row) Names(key string) bool { return isNamePart(key) || key == r.nameKey() }

// Title is the row's name, with its year, behind an id that people use: "TICK-004 Login refused".
func (r Row) Title() string {
	id, name := r.Text(r.ownID()), r.Name()
	if len(id) > 20 || id == name { // a UUID or an ObjectId, which are not for reading
		id = ""
	}
	if i := slices.IndexFunc(r.Keys, func(k string) bool { return english.LastWord(k) == "year" }); i >= 0 {
		name += fmt.Sprintf(" %v", r.Values[r.Keys[i]])
	}
	return strings.TrimSpace(id + " " + Field{}.Prose(r.nameKey(), name))
}

func isNamePart(key string) bool {
	return slices.Contains([]string{"first name", "last name"}, strings.Join(english.Words(key), " "))
}

// ownID is the field that identifies the row: its first, if that is an id.
func (r Row) ownID() string {
	if len(r.Keys) == 0 || !IsID(r.Keys[0]) {
		return ""
	}
	return r.Keys[0]
}

// nameKey is the field that names a row without a first and a last name. The row's own noun
// comes first: the number of an order, not the name of its buyer.
func (r Row) nameKey() string {
	own := append(english.Words(r.ownID()), "")[0]
	for _, pattern := range strings.Fields(own + "_name " + own + "_title " + own + "_number name title subject label *name *title *number *code *") {
		for _, k := range r.Keys {
			fits, _ := path.Match(pattern, strings.Join(english.Words(k), "_"))
			others := own == "id" && r.Values[strings.TrimSuffix(k, "name")+"id"] != nil // of something that has an id of its own
			if fits && !others && r.Text(k) != "" && (pattern != "*" || r.Says(k)) {
				return k
			}
		}
	}
	return ""
}

// Says reports whether a field is a short text that describes the row: no id, address, figure
// or date, no sentence, and not hidden.
func (r Row) Says(key string) bool {
	t := r.Text(key)
	return t != "" && len(t) <= 40 && !strings.HasSuffix(t, ".") && key != "currency" && !IsID(key) && !r.Masked(key) && !strings.Contains(t, "@") && !strings.ContainsAny(t[:1], "0123456789")
}

// Nests reports whether a field has other rows, or an empty list.
func (r Row) Nests(key string) bool {
	list, isList := r.Values[key].([]any)
	_, isRow := r.Values[key].(Row)
	return isRow || isList && (len(list) == 0 || len(Rows(list)) > 0)
}

// Described has up to two short texts of the row in brackets, after a space: " (Sales, VP of Sales)".
func (r Row) Described() string {
	var parts []string
	for _, k := range r.Keys {
		if len(parts) < 2 && !r.Names(k) && r.Says(k) {
			parts = append(parts, Field{}.Prose(k, r.Text(k)))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// Words are the words of the row's short texts in small letters, its whole values among them.
func (r Row) Words() (words []string) {
	const short = 200
	for _, k := range r.Keys {
		if text := strings.ToLower(r.Text(k)); len(text) < short {
			words = append(append(words, english.Prose(text)...), text)
		}
	}
	return words
}

// Having are the rows that have some of the words, those with more of them first.
func Having(rows []Row, words []string) (found []Row) {
	shares := func(one Row) int { return english.Shared(words, one.Words()) }
	for _, one := range rows {
		if shares(one) > 0 {
			found = append(found, one)
		}
	}
	slices.SortStableFunc(found, func(a, b Row) int { return shares(b) - shares(a) })
	return found
}

// Answer is what a tool answered, as rows: of a list those of one page, or of several.
type Answer struct {
	Page
	Fault   *fault.Error // of a failed call
	Pending bool         // it waits for an approval
	Data    any          // as ParseMarked reads it
	Rows    []Row
}

// One is the one thing that an answer is about; an empty row for none, or for several.
func (a Answer) One() Row {
	one, isRow := a.Data.(Row)
	if !isRow && len(a.Rows) == 1 {
		one = a.Rows[0]
	}
	return one
}

// ReadAnswer reads an answer in our envelope, or any other. Marks around untrusted text are left out.
func ReadAnswer(raw json.RawMessage, failed bool) Answer {
	o, err := DecodeEnvelope(raw)
	data := o.Data()
	if err != nil {
		data = raw
	}
	a := Answer{Page: *cmp.Or(o.Page(), &Page{}), Fault: o.Fault(), Pending: o.Pending() != nil}
	if failed && a.Fault == nil {
		a.Fault = &fault.Error{Message: string(raw)}
	}
	if a.Data, err = ParseMarked(data); err != nil && len(data) > 0 {
		a.Data = string(data)
	}
	a.Rows = RowsWithin(a.Data)
	return a
}

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

// Totals adds up a column over the rows that share a value of another one, or averages it: a row
// for each value, in their order, with its name, the figure, and the number of rows as counted.
// Rows without the value are left out, unless they are only counted. The kind is sum, count or
// average; of says what is declared of a field.
func Totals(rows []Row, by, column, counted string, of func(name string) Field, kind string) (out []Row) {
	shared := Grouped(rows, by)
	for _, value := range slices.Sorted(maps.Keys(shared)) {
		if value == "" && column != "" && kind != "count" {
			continue
		}
		divisor := 1
		if kind == "average" {
			divisor = len(shared[value])
		}
		figures := map[string]any{"name": cmp.Or(of(by).Prose(by, value), "none"), column: Share(shared[value], column, divisor), counted: json.Number(strconv.Itoa(len(shared[value])))}
		out = append(out, Row{Keys: []string{"name", column, counted}, Values: figures})
	}
	return out
}
