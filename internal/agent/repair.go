package agent

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"countersign.dev/internal/fault"
)

// What a model reads about a call that was not made, under "repair" in the
// details of its fault. It may correct a call once for each tool of a turn, so
// that a model which cannot ends with a sentence and not with twelve faults.
const (
	repairOnce = "The call was not made. Correct it as said here, and call once more."
	repairOver = "The call was not made, for the second time. Do not repeat it: tell the person what could not be done, and why."
)

// repairs are the tools that a turn called wrongly, with the step in which it
// first did.
type repairs map[string]int

// say tells a model whether it may correct a call. Calls of one step that are all
// wrong are one mistake.
func (r *repairs) say(tool string, step int, f *fault.Error) error {
	if *r == nil {
		*r = repairs{}
	}
	if first, before := (*r)[tool]; before && first != step {
		return f.With("repair", repairOver)
	}
	(*r)[tool] = step
	return f.With("repair", repairOnce)
}

// expected returns what a tool's schema says about some of its fields, and the
// names of all when one of them is unknown.
func expected(schema json.RawMessage, fields []string) map[string]any {
	var declared struct {
		Properties map[string]map[string]any `json:"properties"`
	}
	_ = json.Unmarshal(schema, &declared) // it was compiled before
	found := map[string]any{}
	for _, name := range fields {
		if property, ok := declared.Properties[name]; ok {
			found[name] = property
		} else {
			found["fields"] = slices.Sorted(maps.Keys(declared.Properties))
		}
	}
	return found
}

const mostNear = 5 // names that are suggested

// closest returns the names of tools that are most like an invented one.
func closest(name string, tools []Tool) (names []string) {
	score := map[string]int{}
	for _, t := range tools {
		if n := shared(words(name), words(t.Name)); n > 0 {
			score[t.Name] = n
			names = append(names, t.Name)
		}
	}
	slices.SortStableFunc(names, func(x, y string) int { return cmp.Compare(score[y], score[x]) })
	return names[:min(len(names), mostNear)]
}

// shared counts the words of a name that another has: two points for each, one
// for a word that only begins in the same way.
func shared(name, other []string) (points int) {
	for _, x := range name {
		best := 0
		for _, y := range other {
			if x == y {
				best = 2
			} else if len(x) > 3 && len(y) > 3 && x[:4] == y[:4] {
				best = max(best, 1)
			}
		}
		points += best
	}
	return points
}

// words splits a name such as getEmployee, get_employee or hr.get-employee.
func words(name string) []string {
	var b strings.Builder
	for i, c := range name {
		if i > 0 && c >= 'A' && c <= 'Z' {
			b.WriteByte('_')
		}
		b.WriteRune(c)
	}
	return strings.FieldsFunc(strings.ToLower(b.String()), func(c rune) bool { return strings.ContainsRune("_-. ", c) })
}
