package result

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"countersign.dev/internal/english"
	"countersign.dev/internal/fault"
)

// Outcome is the result of one call: exactly one of data (with or without a
// page), a pending confirmation, a denial, or a fault. [Success], [Waiting],
// [Cancelled] and [Failed] make one, and every surface is an encoder of it. The
// zero value is INTERNAL_ERROR, so that a forgotten result is no success.
type Outcome struct {
	is  any             // succeeded, *Pending, *Denied or *fault.Error; nil in the zero value
	of  success         // when it succeeded
	raw json.RawMessage // the encoded answer that the outcome was decoded from
}

// succeeded marks an outcome of data, which the outcome itself has.
type succeeded struct{}

type success struct {
	data    json.RawMessage
	page    *Page
	message string
}

// Success makes an outcome of masked and encoded data. Lists have a page, whose
// hint is written here if it has none; an applied write has a message, the
// sentence that people read about its effect.
func Success(data json.RawMessage, page *Page, message string) Outcome {
	if page != nil && page.More && page.Hint == "" {
		page.Hint = page.hint()
	}
	return Outcome{is: succeeded{}, of: success{data, page, message}}
}

// Waiting makes an outcome of a change that waits for its person.
func Waiting(p Pending) Outcome { return Outcome{is: &p} }

// Cancelled makes the outcome of a denied confirmation. message is the sentence
// that people read.
func Cancelled(message string) Outcome { return Outcome{is: &Denied{message}} }

// Failed makes an outcome of an error.
func Failed(err error) Outcome {
	f := fault.From(err)
	if f == nil {
		return Outcome{}
	}
	return Outcome{is: f}
}

// Data is the encoded data of a success, else nil.
func (o Outcome) Data() json.RawMessage {
	return o.of.data
}

// Page says which part of a list the data is; nil unless the outcome is a list.
func (o Outcome) Page() *Page {
	return o.of.page
}

// Message is the sentence that people read about an applied write or a denial.
// It is empty for any other outcome.
func (o Outcome) Message() string {
	switch v := o.is.(type) {
	case succeeded:
		if o.of.message == "" && o.raw != nil {
			return messageIn(o.of.data)
		}
		return o.of.message
	case *Denied:
		return v.Message
	}
	return ""
}

// Pending is the change that waits for its person, else nil.
func (o Outcome) Pending() *Pending {
	p, _ := o.is.(*Pending)
	return p
}

// Denied is the denial, else nil.
func (o Outcome) Denied() *Denied {
	d, _ := o.is.(*Denied)
	return d
}

// Fault is the failure, else nil.
func (o Outcome) Fault() *fault.Error {
	if o.is == nil {
		return fault.From(errNoOutcome)
	}
	f, _ := o.is.(*fault.Error)
	return f
}

var errNoOutcome = errors.New("a call returned no outcome")

// Raw is the encoded answer that the outcome was decoded from, nil when it was
// made here. Encoding a decoded outcome returns these bytes unchanged.
func (o Outcome) Raw() json.RawMessage { return o.raw }

// WithRaw returns the outcome as decoded from raw, or with the one encoding that it
// has in every dialect.
func (o Outcome) WithRaw(raw json.RawMessage) Outcome {
	o.raw = raw
	return o
}

// Rows counts the rows that an outcome hands out, for the audit.
func (o Outcome) Rows() int {
	switch {
	case o.of.page != nil:
		return o.of.page.Returned
	case o.of.data != nil:
		return 1
	}
	return 0
}

// Code is the outcome in one word for audit and metrics: success,
// pending_confirmation, cancelled, or the fault's code.
func (o Outcome) Code() string {
	switch v := o.is.(type) {
	case succeeded:
		return StatusSuccess
	case *Pending:
		return StatusPending
	case *Denied:
		return StatusCancelled
	case *fault.Error:
		return v.Code.Name
	}
	return fault.InternalError.Name
}

// Page says which part of a list an outcome holds. Keyset pages set Next when
// there is more; offset pages set Total and Offset.
type Page struct {
	Limit    int    // rows asked for
	Returned int    // rows given
	More     bool   // more rows follow
	Later    bool   // rows came before: another page than the first
	Before   int    // how many; 0 where that is not known
	Next     string // sealed cursor of the next keyset page; empty on the last one
	Noun     string // what the rows are, for hints: "employees"
	Narrow   string // which filters make the list shorter: "department or name"
	Offset   int    // offset pages only
	Total    int    // offset pages only: rows in all
	Counted  bool   // Total is known: the page is an offset page
	Remark   string // what a reader must know of the rows: "Nothing has all of these words …"; empty mostly
	Hint     string // the sentence that says the list is incomplete; empty when it is complete
}

// Following is the input that asks for the page after this one, and its value; empty
// when there is none.
func (p *Page) Following() (input string, value any) {
	switch {
	case p.Next != "":
		return "cursor", p.Next
	case p.Counted && p.More:
		return "offset", p.Offset + p.Returned
	}
	return "", nil
}

func (p *Page) hint() string {
	if p.Noun == "" {
		return fmt.Sprintf("Showing %d results. Results are incomplete.", p.Returned)
	}
	of := fmt.Sprintf("of %d+", p.Limit)
	switch {
	case p.Counted:
		of = fmt.Sprintf("of %d", p.Total)
	case p.Later:
		of = "more"
	}
	noun := p.Noun
	if p.Later && !p.Counted && p.Returned == 1 {
		noun = english.Singular(noun)
	}
	hint := fmt.Sprintf("Showing %d %s %s. Results are incomplete.", p.Returned, of, noun)
	if p.Narrow != "" {
		hint += " Narrow by " + p.Narrow + "."
	}
	return hint
}

// ending is the sentence about the last page of several.
func (p *Page) ending() string {
	noun := cmp.Or(p.Noun, "results")
	switch p.Returned {
	case 0:
		return "There are no more " + noun + "."
	case 1:
		return "The last one of the " + strings.TrimPrefix(fmt.Sprint(p.Before+1, " "), "1 ") + noun + "."
	}
	if p.Before > 0 {
		return fmt.Sprintf("%d more %s, the last ones of %d.", p.Returned, noun, p.Before+p.Returned)
	}
	return fmt.Sprintf("%d more %s, the last ones.", p.Returned, noun)
}

// Pending is a change that waits for its person.
type Pending struct {
	ID      string         `json:"confirmationId"`
	Message string         `json:"message"`          // one or two lines: what will change, for whom, from what to what
	Data    map[string]any `json:"confirmationData"` // camelCase; what an approval card shows
	Expires time.Time      `json:"-"`
}

// Within says in how many minutes it ends, for people: "5 minutes".
func (p Pending) Within() string {
	if minutes := math.Round(time.Until(p.Expires).Minutes()); minutes > 1 {
		return fmt.Sprintf("%.0f minutes", minutes)
	}
	return "1 minute"
}

// Denied is a confirmation that its owner answered with no. Nothing was changed.
type Denied struct{ Message string }

// The values of an envelope's status.
const (
	StatusSuccess   = "success"
	StatusError     = "error"
	StatusPending   = "pending_confirmation"
	StatusCancelled = "cancelled" // only as the answer to a denial
)

// messageIn returns the sentence of an applied write for people.
func messageIn(data json.RawMessage) string {
	var d struct {
		Message string `json:"message"`
	}
	if len(data) == 0 || data[0] != '{' || json.Unmarshal(data, &d) != nil {
		return ""
	}
	return d.Message
}
