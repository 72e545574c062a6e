package english

import (
	"slices"
	"strings"
)

// Sections are words and phrases that mean alike, by the name of what they mean.
type Sections struct {
	phrases map[string]map[string]bool // a word is a phrase too
	Stems   map[string]Set             // of their words
}

// NewSections takes the phrases of each section, in lower case.
func NewSections(of map[string][]string) *Sections {
	s := &Sections{phrases: map[string]map[string]bool{}, Stems: map[string]Set{}}
	for section, phrases := range of {
		s.phrases[section], s.Stems[section] = map[string]bool{}, Stems(phrases...)
		for _, p := range phrases {
			s.phrases[section][p] = true
		}
	}
	return s
}

// Is reports whether a word or a phrase is in one of the sections.
func (s *Sections) Is(phrase string, sections ...string) bool {
	return slices.ContainsFunc(sections, func(section string) bool { return s.phrases[section][phrase] })
}

// LongestPhrase is how many words a phrase of a section has at most.
const LongestPhrase = 6

// Phrase counts the words of a section's longest phrase that begin the words.
func (s *Sections) Phrase(section string, words []string) int {
	n := min(LongestPhrase, len(words))
	for n > 0 && !s.phrases[section][strings.Join(words[:n], " ")] {
		n--
	}
	return n
}

// Only reports whether the words say something of a section, and nothing else besides words
// of the sections "idle" and "self".
func (s *Sections) Only(section string, words []string) (says bool) {
	for len(words) > 0 {
		n := s.Phrase(section, words)
		if says = says || n > 0; n == 0 && !s.Is(words[0], "idle", "self") {
			return false
		}
		words = words[max(1, n):]
	}
	return says
}
