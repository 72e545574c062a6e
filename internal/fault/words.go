package fault

import "cmp"

// Words are what people read of a failure, who see no tools, inputs and requests, in
// place of what programs and models read.
type Words struct {
	Message string  `json:"message,omitempty"` // empty: the message of the failure
	Advice  string  `json:"advice,omitempty"`  // what to do next; empty: nothing
	Inputs  []Input `json:"inputs,omitempty"`  // what is wrong, for those who typed the inputs
}

// Input is what is wrong with one input of a call: limit "must be at most 50".
type Input struct {
	Field string `json:"field"`
	Wrong string `json:"wrong"`

	Detail string `json:"-"` // for programs, in place of Wrong: with patterns and formats
	Advice string `json:"-"` // for programs: sentences
	Via    string `json:"-"` // the tool that Advice sends programs to; empty: none
}

func (i Input) remark() string {
	text := i.Field + ": " + cmp.Or(i.Detail, i.Wrong)
	if i.Advice != "" {
		text += ". " + i.Advice
	}
	return text
}

// Unfit is what people read of an input of which nothing can be said without naming it.
const Unfit = "That could not be done the way it was asked: something in it does not fit."
