package guard

import (
	"slices"
	"strings"

	"countersign.dev/internal/pattern"
)

// Participle reports whether a sentence has a word for a change, and whether one of the
// patterns that need one matches.
func Participle(sentence string) (has, matched bool) {
	small := strings.ToLower(sentence)
	return hasParticiple(small), slices.ContainsFunc(reports[1:], func(p *pattern.Pattern) bool { return p.MatchString(small) })
}

// Participles are the words for a change.
func Participles() []string { return sortedKeys(classOf) }
