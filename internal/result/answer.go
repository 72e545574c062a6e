package result

import (
	"cmp"
	"encoding/json"

	"countersign.dev/internal/fault"
)

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
