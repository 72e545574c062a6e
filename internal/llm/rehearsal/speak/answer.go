// Package speak writes answers: names, values, rows and figures in sentences. It
// draws no tables, because the page and the terminal draw the rows themselves;
// alone, its text names up to ten rows and the figures that were asked for.
package speak

import (
	"encoding/json"
	"strings"

	"countersign.dev/internal/agent"
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
	Data    any // as result.ParseMarked reads it
	Rows    []Row
	More    bool // the list goes on
	Next    string
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
		a.More, a.Next = p.More, p.Next
	}
	if a.Data, err = result.ParseMarked(data); err != nil && len(data) > 0 {
		a.Data = string(data)
	}
	a.Rows = rowsIn(a.Data)
	return a
}

// Object is the data when it is one object; an empty row of any other data.
func (a *Answer) Object() Row {
	r, _ := a.Data.(result.Row)
	return Row(r)
}

// rowsIn are the rows of an answer: its data, or the first array of objects in it.
func rowsIn(data any) (rows []Row) {
	switch d := data.(type) {
	case []any:
		for _, v := range d {
			if r, ok := v.(result.Row); ok {
				rows = append(rows, Row(r))
			}
		}
	case result.Row:
		for _, k := range d.Keys {
			if rows == nil {
				rows = Row(d).rows(k)
			}
		}
	}
	return rows
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
func Clean(t string) string {
	const most = 300
	t = strings.Join(strings.Fields(t), " ")
	if r := []rune(t); len(r) > most {
		t = string(r[:most]) + "…"
	}
	return markdown.Replace(t)
}

var markdown = strings.NewReplacer(`\`, `\\`, "|", `\|`, "`", "\\`", "[", `\[`, "<", "&lt;", "![", `!\[`)
