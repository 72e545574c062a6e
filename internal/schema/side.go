package schema

import (
	"slices"
	"strings"

	"countersign.dev/internal/english"
)

// Side is the end of a range that an input sets.
type Side int

// The sides of a range.
const (
	Lower Side = iota - 1
	Neither
	Upper
)

// sides are the words in the names of inputs that set an end of a range.
var sides = map[string]Side{"min": Lower, "minimum": Lower, "least": Lower, "from": Lower, "after": Lower, "since": Lower, "max": Upper, "maximum": Upper, "most": Upper, "to": Upper, "before": Upper, "until": Upper, "by": Upper}

// SideOf parts a name into what it bounds and the end that it sets: min_amount is the lower end of amount.
func SideOf(name string) (of string, end Side) {
	words := slices.DeleteFunc(english.Words(name), func(w string) bool { end += sides[w]; return sides[w] != Neither })
	return strings.Join(words, "_"), end
}
