package guard

import (
	"encoding/json"
	"slices"
	"time"

	"countersign.dev/internal/result"
)

// Answer is what a model wrote in one turn.
type Answer struct {
	Before string // the first result of the turn
	After  string // and since then
}

// Whole is all of the text.
func (a Answer) Whole() string { return a.Before + "\n" + a.After }

// Call is a call of a tool with its outcome.
type Call struct {
	Tool    string
	Title   string // for people
	Kind    result.Kind
	Args    json.RawMessage
	Outcome result.Outcome
	Clipped bool // the model read a part of the answer

	Untrusted []string // fields of the answer that others wrote
}

// changes reports whether the tool changes anything.
func (c Call) changes() bool { return c.Kind == result.Write || c.Kind == result.Edit }

// foreign reports whether another company wrote all texts of the tool. None of them
// may be said in the gateway's name.
func (c Call) foreign() bool { return slices.Contains(c.Untrusted, result.Everything) }

// name is what people call the tool.
func (c Call) name() string {
	if c.Title == "" || c.foreign() {
		return c.Tool
	}
	return c.Title
}

// Evidence is what an answer may rest on.
type Evidence struct {
	Calls    []Call    // of this turn, in order
	Earlier  []Call    // of the turns before, as far as the conversation keeps them
	Question string    // of this turn
	Asked    []string  // the person's messages of the turns before
	Reported []string  // outcomes that the gateway wrote into the conversation
	Known    []string  // other texts that the model was given: who asks, the company's instructions
	Words    []string  // texts of which no figure counts: the tools' declarations
	Today    time.Time // as the model was given it
}

// Kind says what a correction is about.
type Kind string

// The kinds of corrections.
const (
	Failed     Kind = "failed"     // a call failed, or was refused, and the answer does not say so
	Waiting    Kind = "waiting"    // a change waits for its person, and the answer does not say so
	Unproven   Kind = "unproven"   // the answer speaks of a change that nothing has reported
	OfTheModel Kind = "invented"   // figures and names that are in no result
	Computed   Kind = "computed"   // figures that the answer supposes, projects or gives as a rate, and that do not follow from the results in few steps: no fault, but the model's own
	Incomplete Kind = "incomplete" // a list has more rows, and the answer does not say so
)

// Correction is what the gateway says about an answer, in a sentence or two.
type Correction struct {
	Kind  Kind
	Text  string
	About []string // the words of the answer that it is about, as written there; none: all of it
}
