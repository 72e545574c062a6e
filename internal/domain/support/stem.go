package support

import (
	"slices"

	"countersign.dev/internal/english"
)

// Words are found by their English stem too, so that "logins" finds login. Stems
// are made here, for rows when they are stored and for queries, so that every
// store agrees; a store that was filled before finds the words as they are.

// Stem returns the English stem of a word (Snowball's English stemmer).
func Stem(word string) string {
	return english.Stem(word)
}

// Stems lists the stems of the words of texts, each once, sorted.
func Stems(texts ...string) (stems []string) {
	for _, text := range texts {
		for _, w := range Words(text) {
			stems = append(stems, Stem(w))
		}
	}
	slices.Sort(stems)
	return slices.Compact(stems)
}

// Stem is the stem by which a term is found; empty for phrases and beginnings of
// words, which are found as they are written.
func (t Term) Stem() string {
	if t.Prefix || len(t.Words) != 1 {
		return ""
	}
	return Stem(t.Words[0])
}
