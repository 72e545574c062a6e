package fault

import (
	"cmp"
	"errors"
	"strings"
)

// WrongInputs is VALIDATION_ERROR about inputs of a call, with a remark for each. People
// read that something does not fit, until [Error.Tell] says more.
func WrongInputs(inputs ...Input) *Error {
	remarks, size := make([]string, len(inputs)), 0
	for i, input := range inputs {
		remarks[i] = input.remark()
	}
	e := ValidationError.New("Invalid input parameters").Tell(Unfit).Instruct("%s", List(remarks, "; "))
	for _, input := range inputs[:min(len(inputs), MaxNames)] {
		if size += len(input.Field) + len(input.Wrong); size < MaxMessage {
			e.People.Inputs = append(e.People.Inputs, input)
		}
	}
	return e
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
	e.SuggestedAction = sentence(format, args)
	return e
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
