// Package guard compares a model's answer with what its turn rests on: the
// results of tools, the words of the person, and the changes that were made. It
// returns the lines with which the gateway corrects the answer, and never changes
// the answer itself.
//
// It is pure: no I/O, no clock, and time and memory bounded by what it is given.
// It matches words and figures and does not understand text: docs/security.md says what
// it can miss. Start with [Check].
package guard

import (
	"slices"
	"sync"
)

// Check returns the corrections of an answer: failures and waiting changes that it
// leaves out, changes that it reports and no tool did, figures and names that are in
// no result, and lists that it presents as complete.
func Check(a Answer, e Evidence) (corrections []Correction) {
	s := statedIn(a.Whole(), e.Question)
	results := sync.OnceValue(func() *data { return readData(e, s) })
	for _, line := range failures(a, e) {
		corrections = append(corrections, Correction{Kind: Failed, Text: line})
	}
	corrections = append(append(corrections, changes(a, e, results)), ofTheModel(s, e, results)...)
	corrections = append(corrections, Correction{Kind: Incomplete, Text: incomplete(a, e, results)})
	return slices.DeleteFunc(corrections, func(c Correction) bool { return c.Text == "" })
}
