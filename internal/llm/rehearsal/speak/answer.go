// Package speak writes answers: names, values, rows and figures in sentences. It
// draws no tables, because the page and the terminal draw the rows themselves;
// alone, its text names up to ten rows and the figures that were asked for.
package speak

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"countersign.dev/internal/agent"
	"countersign.dev/internal/llm/rehearsal/language"
	"countersign.dev/internal/llm/rehearsal/match"
	"countersign.dev/internal/result"
)

// Answer is the outcome of a call, or of the calls for the pages of a list.
type Answer struct {
	Tool    string
	Args    map[string]any
	Failed  bool
	Pending bool
	Code    string
	Message string
	Advice  string
	Data    any // Row, []any, string, json.Number, bool or nil
	Rows    []Row
	More    bool // the list goes on
	Next    string
	Hint    string
}

// Thing is a thing that was looked up.
type Thing struct {
	ID   any
	Row  Row
	Name string
	Self bool // it is the person who asks
}

// NewAnswer reads the result of a call. Marks around untrusted text are taken
// off: here it is only shown. An answer in another dialect is all data.
func NewAnswer(call agent.Call, res agent.CallResult) *Answer {
	a := &Answer{Tool: call.Tool, Args: map[string]any{}, Failed: res.Failed}
	_ = json.Unmarshal(call.Args, &a.Args) // the planner wrote them
	o, err := result.DecodeEnvelope(res.Answer)
	data := o.Data()
	if err != nil {
		data, a.Message = res.Answer, string(res.Answer)
	} else if f := o.Fault(); f != nil {
		a.Failed, a.Code, a.Message, a.Advice = true, f.Code.Name, result.Unmark(f.Message), result.Unmark(f.SuggestedAction)
	}
	a.Pending = o.Pending() != nil
	if p := o.Page(); p != nil {
		a.More, a.Next, a.Hint = p.More, p.Next, p.Hint
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if a.Data, err = decode(dec); err != nil && len(data) > 0 {
		a.Data = string(data)
	}
	a.Rows = rowsIn(a.Data)
	return a
}

// rowsIn are the rows of an answer: its data, or the first array of objects in it.
func rowsIn(data any) (rows []Row) {
	switch d := data.(type) {
	case []any:
		for _, v := range d {
			if r, ok := v.(Row); ok {
				rows = append(rows, r)
			}
		}
	case Row:
		for _, k := range d.Keys {
			if rows == nil {
				rows = d.rows(k)
			}
		}
	}
	return rows
}

// decode reads JSON and keeps its numbers and the order of its objects.
func decode(dec *json.Decoder) (any, error) {
	tok, err := dec.Token()
	if text, ok := tok.(string); ok {
		return result.Unmark(text), err
	}
	open, isDelim := tok.(json.Delim)
	if !isDelim || err != nil {
		return tok, err
	}
	list, r := []any{}, Row{Values: map[string]any{}}
	for dec.More() {
		if open == '{' {
			tok, _ = dec.Token() // a failure repeats when the value is read
			r.Keys = append(r.Keys, fmt.Sprint(tok))
		}
		v, problem := decode(dec)
		if problem != nil {
			return nil, problem
		}
		if list = append(list, v); open == '{' {
			r.Values[fmt.Sprint(tok)] = v
		}
	}
	if _, err = dec.Token(); open == '{' {
		return r, err
	}
	return list, err
}

// Row is a JSON object in its own order.
type Row struct {
	Keys   []string
	Values map[string]any
}

// Text is a field of a row that holds text; empty when it holds none.
func (r Row) Text(key string) string {
	t, _ := r.Values[key].(string)
	return t
}

// Number is a field of a row that holds a number.
func (r Row) Number(key string) (float64, bool) {
	n, ok := r.Values[key].(json.Number)
	f, err := n.Float64()
	return f, ok && err == nil
}

// Masked reports whether a value is hidden from the person.
func (r Row) Masked(key string) bool { return strings.HasPrefix(r.Text(key), "***") }

// rows are the rows inside a field.
func (r Row) rows(key string) []Row {
	list, _ := r.Values[key].([]any)
	return rowsIn(list)
}

// holds reports whether a field holds other rows, and no value to be written.
func (r Row) holds(key string) bool {
	_, one := r.Values[key].(Row)
	return one || len(r.rows(key)) > 0
}

// ownID is the field that identifies a row: its first, if that is an id.
func (r Row) ownID() string {
	if len(r.Keys) > 0 && match.IsID(r.Keys[0]) {
		return r.Keys[0]
	}
	return ""
}

// nameKey is the field that names a row without a first and a last name. The
// row's own noun comes first: the number of an order, not the name of its buyer.
func (r Row) nameKey() string {
	own := append(language.Identifier(r.ownID()), "")[0]
	last := func(w []string, names ...string) bool { return len(w) > 0 && slices.Contains(names, w[len(w)-1]) }
	for _, fits := range []func(k string, w []string) bool{
		func(_ string, w []string) bool {
			return len(w) == 2 && w[0] == own && last(w, "name", "title", "number")
		},
		func(_ string, w []string) bool { return len(w) == 1 && last(w, "name", "title", "subject", "label") },
		func(k string, w []string) bool { // beside a bare id: no name of something that has an id of its own
			return own == "id" && last(w, "name") && r.Values[strings.TrimSuffix(k, "name")+"id"] == nil
		},
		func(_ string, w []string) bool { return last(w, "name") },
		func(_ string, w []string) bool { return last(w, "title", "number", "code") },
		func(k string, _ []string) bool { return r.short(k) },
	} {
		for _, k := range r.Keys {
			if r.Text(k) != "" && fits(k, language.Identifier(k)) {
				return k
			}
		}
	}
	return ""
}

func isNamePart(key string) bool {
	return slices.Contains([]string{"first name", "last name"}, strings.Join(language.Identifier(key), " "))
}

// Name is what people call a row.
func (r Row) Name() string {
	var parts []string
	for _, k := range r.Keys {
		if isNamePart(k) {
			parts = append(parts, r.Text(k))
		}
	}
	if len(parts) == 0 {
		return r.Text(r.nameKey())
	}
	return strings.Join(parts, " ")
}

// CalledAs is what a row calls a thing of the sort: the row itself, or another
// thing that it carries with its name ("customer_name" beside "customer_id").
func (r Row) CalledAs(noun string) string {
	if t := r.Text(noun + "_name"); noun != "" && t != "" {
		return t
	}
	return r.Name()
}

// title is a row's name, behind its id when that is one that people use.
func (r Row) title() string {
	id, name := r.Text(r.ownID()), r.Name()
	if match.IsUUID(id) || len(id) > 20 || id == name {
		id = ""
	}
	return strings.TrimSpace(Clean(id) + " " + Clean(name))
}

// Described puts up to two short texts of a row in brackets.
func (r Row) Described() string {
	var parts []string
	for _, k := range r.Keys {
		if len(parts) < 2 && k != r.nameKey() && !isNamePart(k) && r.short(k) {
			parts = append(parts, r.Text(k))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + Clean(strings.Join(parts, ", ")) + ")"
}

// short reports whether a field is a short text: no id, address or date.
func (r Row) short(key string) bool {
	t := r.Text(key)
	return t != "" && len(t) <= 40 && !match.IsID(key) && !r.Masked(key) && !strings.Contains(t, "@") && !strings.ContainsAny(t[:1], "0123456789")
}

// Join writes names as people list them.
func Join(names []string, last string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	n := len(names) - 1
	return strings.Join(names[:n], ", ") + " " + last + " " + names[n]
}

// Clean makes a text safe within a line of markdown, with 300 characters at
// most: it is shown as text and never as layout, link or picture.
func Clean(t string) string { return cleanTo(t, 300) }

func cleanTo(t string, most int) string {
	t = strings.Join(strings.Fields(t), " ")
	if r := []rune(t); len(r) > most {
		t = string(r[:most]) + "…"
	}
	return markdown.Replace(t)
}

var markdown = strings.NewReplacer(`\`, `\\`, "|", `\|`, "`", "\\`", "[", `\[`, "<", "&lt;", "![", `!\[`)
