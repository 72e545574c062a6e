// Package speak writes answers in sentences. It draws no tables, as the page and the terminal draw the
// rows themselves; alone, its text names up to ten rows and the figures that were asked for.
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
	"countersign.dev/internal/result"
	"countersign.dev/internal/schema"
)

// Masked reports whether a value is hidden from the person.
func Masked(r result.Row, key string) bool { return strings.HasPrefix(r.Text(key), "***") }

// holds reports whether a field holds other rows, or nothing to be written.
func holds(r result.Row, key string) bool {
	list, isList := r.Values[key].([]any)
	_, isRow := r.Values[key].(result.Row)
	return isRow || isList && (len(list) == 0 || len(result.Rows(list)) > 0)
}

// ownID is the field that identifies a row: its first, if that is an id.
func ownID(r result.Row) string {
	key := slices.Concat(r.Keys, []string{""})[0]
	return map[bool]string{true: key}[result.IsID(key)]
}

// nameKey is the field that names a row without a first and a last name. The
// row's own noun comes first: the number of an order, not the name of its buyer.
func nameKey(r result.Row) string {
	own := append(english.Words(ownID(r)), "")[0]
	for _, pattern := range strings.Fields(own + "_name " + own + "_title " + own + "_number name title subject label *name *title *number *code *") {
		for _, k := range r.Keys {
			fits, _ := path.Match(pattern, strings.Join(english.Words(k), "_"))
			others := own == "id" && r.Values[strings.TrimSuffix(k, "name")+"id"] != nil // of something that has an id of its own
			if fits && !others && r.Text(k) != "" && (pattern != "*" || short(r, k)) {
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
func Name(r result.Row) string {
	name := ""
	for _, k := range r.Keys {
		if isNamePart(k) {
			name += " " + r.Text(k)
		}
	}
	return strings.TrimSpace(cmp.Or(name, r.Text(nameKey(r))))
}

// Title is a row's name, with its year, behind an id that people use.
func Title(r result.Row) string {
	id, name := r.Text(ownID(r)), Name(r)
	if schema.IsUUID(id) || len(id) > 20 || id == name {
		id = ""
	}
	if i := slices.IndexFunc(r.Keys, func(k string) bool { return english.LastWord(k) == "year" }); i >= 0 {
		name += fmt.Sprintf(" %v", r.Values[r.Keys[i]])
	}
	return strings.TrimSpace(Clean(id) + " " + Clean(result.Field{}.Prose(nameKey(r), name)))
}

// Described puts up to two short texts of a row in brackets.
func Described(r result.Row) string {
	parts, name := []string(nil), nameKey(r)
	for _, k := range r.Keys {
		if len(parts) < 2 && k != name && !isNamePart(k) && short(r, k) {
			parts = append(parts, result.Field{}.Prose(k, r.Text(k)))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + Clean(strings.Join(parts, ", ")) + ")"
}

// short reports whether a field is a short text: no id, address or date.
func short(r result.Row, key string) bool {
	t := r.Text(key)
	return t != "" && len(t) <= 40 && key != "currency" && !result.IsID(key) && !Masked(r, key) && !strings.Contains(t, "@") && !strings.ContainsAny(t[:1], "0123456789")
}

// Answer is the outcome of a call, or of the calls for the pages of a list.
type Answer struct {
	result.Page // of a list
	Tool        string
	Args        map[string]any
	Fault       *fault.Error // of a failed call
	Pending     bool
	Data        any // as result.ParseMarked reads it
	Rows        []result.Row
}

// Thing is a thing that was looked up.
type Thing struct {
	ID   any
	Row  result.Row
	Name string
}

// NewAnswer reads the result of a call, without marks around untrusted text: it is only shown.
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
	a.Page = *cmp.Or(o.Page(), &result.Page{})
	if a.Data, err = result.ParseMarked(data); err != nil && len(data) > 0 {
		a.Data = string(data)
	}
	a.Rows = result.RowsWithin(a.Data)
	return a
}

// Clean makes 300 characters of a text safe in markdown: no layout, link or picture.
func Clean(t string) string {
	return markdown.Replace(fault.Clip(strings.Join(strings.Fields(t), " "), 300))
}

var markdown = strings.NewReplacer(`\`, `\\`, "|", `\|`, "`", "\\`", "[", `\[`, "<", `\<`, "![", `!\[`)
