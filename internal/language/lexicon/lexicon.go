// Package lexicon has the English words by which questions are understood, by what they mean: english.yaml. It knows no tool and no company.
package lexicon

import (
	_ "embed"
	"slices"

	"go.yaml.in/yaml/v3"

	"countersign.dev/internal/english"
	"countersign.dev/internal/language"
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

// Measured reports whether words ask for a measure, an order or a reason of what was shown
// before, or for something of other sections.
func (x *Lexicon) Measured(words []string, or ...string) bool {
	return slices.ContainsFunc(append(or, Measures[3:]...), func(section string) bool { return x.Only(section, words) }) || x.Phrase("sort", words) > 0 || slices.Equal(words, []string{"why"})
}

// MayBeValue reports whether a word could be somebody's name or another value.
func (x *Lexicon) MayBeValue(word string) bool {
	return !x.Stems["action"][english.Stem(word)] && !x.Is(word, "judgement", "condition", "negation", "self", "pronoun", "further") && !x.Is(word, Measures...)
}

// IsOurs reports whether a stem means a person of the company's own.
func (x *Lexicon) IsOurs(stem string) bool {
	return x.Stems["person"][stem] && !x.Stems["outsider"][stem]
}

// Joint is how a sentence asks several questions. ofThings reports whether a word in the plural
// says of what things a question is, and known whether it is a word of some tool.
func (x *Lexicon) Joint(ofThings, known func(language.Token) bool) language.Joint {
	is := func(t language.Token, sections ...string) bool {
		return t.Kind == language.Word && x.Is(t.Low, sections...)
	}
	return language.Joint{
		Opens: x.opens,
		Noun: func(t language.Token) bool {
			return t.Kind == language.Word && (english.Plural(t.Low) || t.Low == "people") && ofThings(t)
		},
		Leads: func(t language.Token) bool {
			return t.Low == "of" || t.Low != "open" && is(t, "idle", "bulk", "polite", "count", "sum") && !is(t, "place", "owner")
		},
		Named: func(t language.Token) bool {
			return t.Kind == language.Code || t.Kind == language.Quoted || t.Owns || t.Low == "my" || t.Capital && t.Kind == language.Word && !known(t) && !x.Is(t.Low, "idle")
		},
		Trail: func(t language.Token) bool {
			return is(t, "place", "owner") || slices.Contains([]string{"are", "is", "do", "did", "sorted", "owned", "assigned"}, t.Low)
		},
	}
}

// opens reports whether words begin a question of its own. "Which are late", "are late" and
// "whose manager is Ada" go on with the one before them.
func (x *Lexicon) opens(words []language.Token) bool {
	first, next := words[0].Low, append(words, language.Token{})[1].Low
	switch {
	case len(words) < 2 || !x.Is(first, "reading", "present"), slices.Contains([]string{"open", "know", "read", "whom", "whose"}, first):
		return false
	case first == "which":
		return !slices.Contains([]string{"is", "are", "was", "were", "has", "have"}, next)
	}
	return !slices.Contains(english.Function, first) || slices.Contains([]string{"what", "when", "how", "who"}, first)
}
