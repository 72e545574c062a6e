// Package speak writes answers: names, values, rows and figures in sentences. It
// draws no tables, because the page and the terminal draw the rows themselves;
// alone, its text names up to ten rows and the figures that were asked for.
package speak

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"countersign.dev/internal/agent"
	"countersign.dev/internal/english"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/llm/rehearsal/match"
	"countersign.dev/internal/result"
	"countersign.dev/internal/schema"
)

// Row is an object of an answer.
type Row result.Row

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

// holds reports whether a field holds other rows, or nothing to be written.
func (r Row) holds(key string) bool {
	list, isList := r.Values[key].([]any)
	_, isRow := r.Values[key].(result.Row)
	return isRow || isList && (len(list) == 0 || len(rowsIn(list)) > 0)
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
	own, names := append(english.Words(r.ownID()), "")[0], make([]string, len(r.Keys))
	for i, k := range r.Keys {
		names[i] = strings.Join(english.Words(k), "_")
	}
	for _, pattern := range strings.Fields(own + "_name " + own + "_title " + own + "_number name title subject label *name *title *number *code *") {
		for i, k := range r.Keys {
			fits, _ := path.Match(pattern, names[i])
			others := own == "id" && r.Values[strings.TrimSuffix(k, "name")+"id"] != nil // of something that has an id of its own
			if fits && !others && r.Text(k) != "" && (pattern != "*" || r.short(k)) {
				return k
			}
		}
	}
	return ""
}

func isNamePart(key string) bool {
	return slices.Contains([]string{"first name", "last name"}, strings.Join(english.Words(key), " "))
}

// Name is what people call a row.
func (r Row) Name() string {
	name := ""
	for _, k := range r.Keys {
		if isNamePart(k) {
			name += " " + r.Text(k)
		}
	}
	return strings.TrimSpace(cmp.Or(name, r.Text(r.nameKey())))
}

// Title is a row's name, with its year, behind an id that people use.
func (r Row) Title() string {
	id, name := r.Text(r.ownID()), r.Name()
	if schema.IsUUID(id) || len(id) > 20 || id == name {
		id = ""
	}
	if i := slices.IndexFunc(r.Keys, func(k string) bool { return english.LastWord(k) == "year" }); i >= 0 {
		name += fmt.Sprintf(" %v", r.Values[r.Keys[i]])
	}
	return strings.TrimSpace(Clean(id) + " " + Clean(name))
}

// Described puts up to two short texts of a row in brackets.
func (r Row) Described() string {
	parts, name := []string(nil), r.nameKey()
	for _, k := range r.Keys {
		if len(parts) < 2 && k != name && !isNamePart(k) && r.short(k) {
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
	return t != "" && len(t) <= 40 && key != "currency" && !match.IsID(key) && !r.Masked(key) && !strings.Contains(t, "@") && !strings.ContainsAny(t[:1], "0123456789")
}

// Answer is the outcome of a call, or of the calls for the pages of a list.
type Answer struct {
	result.Page // of a list
	Tool        string
	Args        map[string]any
	Fault       *fault.Error // of a failed call
	Pending     bool
	Data        any // as result.ParseMarked reads it
	Rows        []Row
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
	a := &Answer{Tool: call.Tool, Args: map[string]any{}}
	_ = json.Unmarshal(call.Args, &a.Args) // the planner wrote them
	o, err := result.DecodeEnvelope(res.Answer)
	data := o.Data()
	if a.Fault = o.Fault(); err != nil {
		data = res.Answer
	}
	if res.Failed && a.Fault == nil {
		a.Fault = &fault.Error{Message: string(res.Answer)}
	}
	a.Pending = o.Pending() != nil
	if p := o.Page(); p != nil {
		a.Page = *p
	}
	if a.Data, err = result.ParseMarked(data); err != nil && len(data) > 0 {
		a.Data = string(data)
	}
	a.Rows = rowsIn(a.Data)
	return a
}

// rowsIn are the rows of an answer: its data, or the first array of objects in it.
func rowsIn(data any) (rows []Row) {
	if one, isRow := data.(result.Row); isRow {
		for _, k := range one.Keys {
			if list, isList := one.Values[k].([]any); isList && rows == nil {
				rows = rowsIn(list)
			}
		}
	}
	list, _ := data.([]any)
	for _, v := range list {
		if one, isRow := v.(result.Row); isRow {
			rows = append(rows, Row(one))
		}
	}
	return rows
}

// Clean makes 300 characters of a text safe in markdown: no layout, link or picture.
func Clean(t string) string {
	const most = 300
	t = strings.Join(strings.Fields(t), " ")
	if r := []rune(t); len(r) > most {
		t = string(r[:most]) + "…"
	}
	return markdown.Replace(t)
}

var markdown = strings.NewReplacer(`\`, `\\`, "|", `\|`, "`", "\\`", "[", `\[`, "<", "&lt;", "![", `!\[`)
