// Package language reads English questions: words, amounts, dates, periods. What
// it knows of English is in english.txt; it knows no tool and no company.
package language

import (
	_ "embed"
	"maps"
	"slices"
	"strings"
	"time"
)

//go:embed english.txt
var english string

// Set holds words or stems.
type Set map[string]bool

// Stems returns the set of the words' stems.
func Stems(words ...string) Set {
	s := Set{}
	for _, w := range words {
		s[Stem(w)] = true
	}
	return s
}

// Lexicon is english.txt: words and phrases by section, and groups of words with
// the same meaning. It is read once and never changed.
type Lexicon struct {
	phrases map[string]Set      // by section; a word is a phrase too
	stems   map[string]Set      // by section
	same    map[string][]string // stem: the stems of the same meaning
	plain   map[string][]Token  // a phrase: the plainer words for it
}

// English reads the lexicon.
func English() *Lexicon {
	x := &Lexicon{phrases: map[string]Set{}, stems: map[string]Set{}, same: map[string][]string{}, plain: map[string][]Token{}}
	for line := range strings.Lines(english) {
		if section, rest, ok := strings.Cut(strings.TrimSpace(line), ": "); ok && section[0] != '#' {
			x.add(section, rest)
		}
	}
	return x
}

func (x *Lexicon) add(section, rest string) {
	words := strings.Fields(rest)
	switch section {
	case "same":
		for _, w := range words {
			x.same[Stem(w)] = slices.AppendSeq(x.same[Stem(w)], maps.Keys(Stems(words...)))
		}
	case "means": // one way only: "paid" may ask for a salary, a salary is not all that is paid
		x.same[Stem(words[0])] = slices.AppendSeq(x.same[Stem(words[0])], maps.Keys(Stems(words[1:]...)))
	case "instead":
		plain, phrases, _ := strings.Cut(rest, " = ")
		for phrase := range strings.SplitSeq(phrases, "|") {
			x.plain[phrase] = x.Read(plain, time.Time{})
		}
	default:
		if strings.Contains(rest, "|") {
			words = strings.Split(rest, "|")
		}
		if x.phrases[section] == nil {
			x.phrases[section], x.stems[section] = Set{}, Set{}
		}
		for _, w := range words {
			x.phrases[section][w], x.stems[section][Stem(w)] = true, true
		}
	}
}

// Is reports whether a word or a phrase is in one of the sections.
func (x *Lexicon) Is(phrase string, sections ...string) bool {
	return slices.ContainsFunc(sections, func(s string) bool { return x.phrases[s][phrase] })
}

// Stems returns the stems of a section's words.
func (x *Lexicon) Stems(section string) Set { return x.stems[section] }

// Phrase counts the words of a section's longest phrase that begin the words.
func (x *Lexicon) Phrase(section string, words []string) int {
	n := min(6, len(words))
	for n > 0 && !x.phrases[section][strings.Join(words[:n], " ")] {
		n--
	}
	return n
}

// Measures lists the sections of words that ask for something of all rows.
var Measures = []string{"count", "sum", "average", "highest", "lowest", "newest", "oldest"}

// Same returns the stems that ask for the same thing.
func (x *Lexicon) Same(stem string) []string { return x.same[stem] }

// Among reports whether the stem, or one of the same meaning, is in the set.
func (x *Lexicon) Among(stems Set, s string) bool {
	return stems[s] || slices.ContainsFunc(x.same[s], func(other string) bool { return stems[other] })
}

// MayBeValue reports whether a word could be somebody's name or another value:
// verbs of action, opinions and measures are none.
func (x *Lexicon) MayBeValue(word string) bool {
	return !x.Is(word, "action", "judgement", "condition", "negation", "self") && !x.Is(word, Measures...)
}

// plainly puts the plain words for phrases of the same meaning.
func (x *Lexicon) plainly(tokens []Token) (out []Token) {
	for i := 0; i < len(tokens); {
		n, phrase, plain := 1, "", tokens[i:i+1]
		for j := i; j < min(i+4, len(tokens)) && tokens[j].Kind == Word && !tokens[j].Owns; j++ {
			phrase = strings.TrimSpace(phrase + " " + tokens[j].Low)
			if words := x.plain[phrase]; words != nil {
				n, plain = j+1-i, slices.Clone(words)
			}
		}
		out, i = append(out, plain...), i+n
	}
	return out
}

// endings are cut off a word, longest first, when more than so many letters stay.
var endings = []struct {
	ending, instead string
	least           int
}{{"sses", "ss", 0}, {"ies", "y", 1}, {"xes", "x", 1}, {"ches", "ch", 0}, {"shes", "sh", 0}, {"ss", "ss", 0}, {"us", "us", 0}, {"is", "is", 0}, {"s", "", 2}}

// Singular cuts the ending of a plural.
func Singular(w string) string {
	for _, e := range endings {
		if stem, ok := strings.CutSuffix(w, e.ending); ok && len(stem) > e.least {
			return stem + e.instead
		}
	}
	return w
}

// Plural reports whether a word has the ending of a plural.
func Plural(w string) bool { return Singular(w) != w }

// Stem cuts a word to what its forms share: "salaries" meets "salary", "managed"
// meets "manage". A stem need not be a word.
func Stem(w string) string {
	w = Singular(w)
	for _, ending := range []string{"ing", "ed", "ly"} {
		stem, ok := strings.CutSuffix(w, ending)
		if n := len(stem); ok && n > 2 {
			if w = stem; n > 3 && w[n-1] == w[n-2] && !strings.ContainsRune("aeiouls", rune(w[n-1])) {
				w = w[:n-1] // "planned"
			}
			break
		}
	}
	if len(w) > 3 {
		w = strings.TrimSuffix(w, "e")
	}
	return w
}
