// Package lexicon has the English words by which the planner understands a question: english.yaml. It knows no tool and no company.
package lexicon

import (
	_ "embed"
	"slices"

	"go.yaml.in/yaml/v3"

	"countersign.dev/internal/english"
)

//go:embed english.yaml
var vocabulary []byte

// Lexicon is english.yaml. It is read once and never changed.
type Lexicon struct{ *english.Sections }

// English reads the lexicon.
func English() *Lexicon {
	var words map[string][]string
	if err := yaml.Unmarshal(vocabulary, &words); err != nil {
		panic(err) // it is part of the program
	}
	words["idle"] = slices.Concat(words["idle"], english.Function, words["reading"], words["present"])
	return &Lexicon{english.NewSections(words)}
}

// Measures lists the sections of words that ask for something of all rows; the first three do not stand alone.
var Measures = []string{"sort", "upcoming", "compare", "count", "sum", "average", "newest", "oldest", "highest", "lowest"}

// MayBeValue reports whether a word could be somebody's name or another value.
func (x *Lexicon) MayBeValue(word string) bool {
	return !x.Stems["action"][english.Stem(word)] && !x.Is(word, "judgement", "condition", "negation", "self", "pronoun", "further") && !x.Is(word, Measures...)
}

// IsOurs reports whether a stem means a person of the company's own.
func (x *Lexicon) IsOurs(stem string) bool {
	return x.Stems["person"][stem] && !x.Stems["outsider"][stem]
}
