package fault

import (
	"cmp"
	"errors"
	"math"
	"strings"
	"time"
)

// WrongInputs is VALIDATION_ERROR about inputs of a call, with a remark for each. People
// read that something does not fit, until [Error.Tell] says more.
func WrongInputs(inputs ...Input) *Error {
	e := ValidationError.New("Invalid input parameters").Tell(Unfit).Instruct("%s", remarks(inputs))
	e.inputs = inputs
	size := 0
	for _, input := range inputs[:min(len(inputs), MaxNames)] {
		if size += len(input.Field) + len(input.Wrong); size < MaxMessage {
			e.People.Inputs = append(e.People.Inputs, input)
		}
	}
	return e
}

func remarks(inputs []Input) string {
	each := make([]string, len(inputs))
	for i, input := range inputs {
		each[i] = input.remark()
	}
	return List(each, "; ")
}

// ForPeople returns the message and the suggested action as people read them.
func (e *Error) ForPeople() (message, advice string) {
	if e.People == nil {
		return e.Message, e.SuggestedAction
	}
	return cmp.Or(e.People.Message, e.Message), e.People.Advice
}

// Instruct replaces the suggested action of programs, which may name tools, inputs and
// requests. What people are advised stays.
func (e *Error) Instruct(format string, args ...any) *Error {
	e.people()
	e.SuggestedAction, e.via, e.inputs = sentence(format, args), "", nil
	return e
}

// After sets how long the caller should wait before a retry. A surface without headers has
// it in the suggested action alone.
func (e *Error) After(d time.Duration) *Error {
	e.RetryAfter = d
	if e.Kind() == RateLimited && d > 0 && e.SuggestedAction == e.Code.Suggestion() {
		e.Instruct("Wait %.0f s and try again.", math.Ceil(d.Seconds()))
	}
	return e
}

// Through names the tool that the suggested action sends programs to.
func (e *Error) Through(tool string) *Error {
	e.via = tool
	return e
}

// Readvise replaces advice that sends programs to a tool: instead says what to do in
// place of a call of that tool, or nothing where the advice can be followed. What people are
// advised stays, and comes first.
func (e *Error) Readvise(instead func(tool string) string) {
	changed := false
	for i := range e.inputs {
		if other := instead(e.inputs[i].Via); other != "" {
			e.inputs[i].Advice, e.inputs[i].Via, changed = other, "", true
		}
	}
	switch other := instead(e.via); {
	case changed:
		e.SuggestedAction = remarks(e.inputs)
	case other != "":
		e.Instruct("%s", strings.TrimSpace(e.people().Advice+" "+other))
	}
}

// Tell replaces the message that people read.
func (e *Error) Tell(format string, args ...any) *Error {
	e.people().Message = sentence(format, args)
	return e
}

func (e *Error) people() *Words {
	if e.People == nil {
		e.People = &Words{Advice: e.SuggestedAction}
	}
	return e.People
}

// Sentence words an error for a person: a fault by its message and what they may do
// next, any other error as it is.
func Sentence(err error) string {
	var f *Error
	if errors.As(err, &f) {
		message, advice := f.ForPeople()
		return strings.TrimSpace(message + " " + advice)
	}
	return err.Error()
}

// Operator words an error for who runs the program, and can read what callers must not: a
// fault by its message, its cause and what to do, unless that is to ask someone else; any
// other error as it is. What wraps a fault stays in front. There is no period at the end.
func Operator(err error) string {
	var f *Error
	if !errors.As(err, &f) {
		return err.Error()
	}
	said := strings.TrimSuffix(strings.Replace(err.Error(), f.Error(), f.Message, 1), ".")
	if cause := f.Logged(); cause != f.Message {
		said += ": " + strings.TrimSuffix(cause, ".")
	}
	if f.SuggestedAction != "" && f.SuggestedAction != f.Code.Suggest {
		said += ". " + strings.TrimSuffix(f.SuggestedAction, ".")
	}
	return said
}
