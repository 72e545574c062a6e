package english

import "slices"

// Set holds stems of words.
type Set map[string]bool

// Stems returns the set of the words' stems.
func Stems(words ...string) Set {
	s := Set{}
	for _, w := range words {
		s[Stem(w)] = true
	}
	return s
}

// Shared counts the words of which the others have one with the same stem.
func Shared(words, others []string) (n int) {
	stems := Stems(others...)
	for _, w := range words {
		if stems[Stem(w)] {
			n++
		}
	}
	return n
}

// Means reports whether the stem, or one of the same meaning, is in the set.
func (s Set) Means(stem string) bool {
	return s[stem] || slices.ContainsFunc(Same(stem), func(other string) bool { return s[other] })
}
