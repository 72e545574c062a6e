// Package language reads English questions: words and their stems, amounts,
// dates and periods. What it knows of English is in english.txt; it knows no
// tool and no company.
package language

import (
	_ "embed"
	"slices"
	"strings"
)

//go:embed english.txt
var english string

// Set holds words or stems.
type Set map[string]bool

// AddStems puts the stems of words into the set.
func (s Set) AddStems(words ...string) {
	for _, w := range words {
		s[Stem(w)] = true
	}
}

// Stems returns the set of the words' stems.
func Stems(words ...string) Set {
	s := Set{}
	s.AddStems(words...)
	return s
}

// Lexicon is english.txt: words and phrases by section, and groups of words with
// the same meaning. It is read once and never changed.
type Lexicon struct {
	words   map[string]Set
	stems   map[string]Set
	phrases map[string][]string
	same    map[string]Set     // stem: the stems of the same meaning
	plain   map[string][]Token // a phrase: the plainer words for it
}

// English reads the lexicon.
func English() *Lexicon {
	x := &Lexicon{words: map[string]Set{}, stems: map[string]Set{}, phrases: map[string][]string{}, same: map[string]Set{}, plain: map[string][]Token{}}
	for line := range strings.Lines(english) {
		if section, rest, ok := strings.Cut(strings.TrimSpace(line), ": "); ok && section[0] != '#' {
			x.add(section, rest)
		}
	}
	return x
}

func (x *Lexicon) add(section, rest string) {
	words := strings.Fields(rest)
	switch {
	case section == "same":
		for _, w := range words {
			addTo(x.same, Stem(w)).AddStems(words...)
		}
	case section == "means": // one way only: "paid" may ask for a salary, a salary is not all that is paid
		addTo(x.same, Stem(words[0])).AddStems(words[1:]...)
	case section == "instead":
		plain, phrases, _ := strings.Cut(rest, " = ")
		for phrase := range strings.SplitSeq(phrases, "|") {
			for _, w := range strings.Fields(plain) {
				x.plain[phrase] = append(x.plain[phrase], split(w)...)
			}
		}
	case strings.Contains(rest, "|"):
		x.phrases[section] = append(x.phrases[section], strings.Split(rest, "|")...)
	default:
		addTo(x.stems, section).AddStems(words...)
		for _, w := range words {
			addTo(x.words, section)[w] = true
		}
	}
}

func addTo(sets map[string]Set, key string) Set {
	if sets[key] == nil {
		sets[key] = Set{}
	}
	return sets[key]
}

// Is reports whether a word is in one of the sections as it is written.
func (x *Lexicon) Is(word string, sections ...string) bool {
	return slices.ContainsFunc(sections, func(s string) bool { return x.words[s][word] })
}

// Stems returns the stems of a section's words.
func (x *Lexicon) Stems(section string) Set { return x.stems[section] }

// Says reports whether the words are exactly one of a section's phrases.
func (x *Lexicon) Says(section string, words ...string) bool {
	return len(words) > 0 && x.Phrase(section, words) == len(words)
}

// Phrase counts the words of the longest phrase of a section at the beginning of
// the words; 0 when there is none.
func (x *Lexicon) Phrase(section string, words []string) int {
	longest, text := 0, strings.Join(words, " ")+" "
	for _, p := range x.phrases[section] {
		if n := strings.Count(p, " ") + 1; n > longest && strings.HasPrefix(text, p+" ") {
			longest = n
		}
	}
	return longest
}

// Measures lists the sections of words that ask for something of all rows.
var Measures = []string{"count", "sum", "average", "highest", "lowest", "newest", "oldest"}

// Measures reports whether a word alone asks for a count, a sum or an extreme.
func (x *Lexicon) Measures(word string) bool {
	return slices.ContainsFunc(Measures, func(section string) bool { return x.Says(section, word) })
}

// Among reports whether the stem, or one of the same meaning, is in the set.
func (x *Lexicon) Among(stems Set, s string) bool {
	if stems[s] {
		return true
	}
	for other := range x.same[s] {
		if stems[other] {
			return true
		}
	}
	return false
}

// MayBeValue reports whether a word could be somebody's name or another value:
// verbs of action, opinions and measures are none.
func (x *Lexicon) MayBeValue(t Token) bool {
	return !x.Is(t.Low, "action", "judgement", "condition", "negation", "self") && !x.Measures(t.Low)
}

// plainly puts the plain words for phrases of the same meaning.
func (x *Lexicon) plainly(tokens []Token) (out []Token) {
	for i := 0; i < len(tokens); {
		n, phrase := 0, ""
		var plain []Token
		for j := i; j < min(i+4, len(tokens)) && tokens[j].Kind == Word && !tokens[j].Owns; j++ {
			phrase = strings.TrimSpace(phrase + " " + tokens[j].Low)
			if words := x.plain[phrase]; words != nil {
				n, plain = j+1-i, words
			}
		}
		if n == 0 {
			out, i = append(out, tokens[i]), i+1
			continue
		}
		for _, t := range plain {
			if t = t.known(); len(plain) == 1 {
				t.Said = Text(tokens[i : i+n])
			}
			out = append(out, t)
		}
		i += n
	}
	return out
}

// Stem cuts a word to what its forms share: "salaries" meets "salary", "managed"
// meets "manage". A stem need not be a word.
func Stem(w string) string {
	w = Singular(w)
	switch {
	case len(w) > 5 && strings.HasSuffix(w, "ing"):
		w = undouble(w[:len(w)-3])
	case len(w) > 4 && strings.HasSuffix(w, "ed"):
		w = undouble(w[:len(w)-2])
	case len(w) > 5 && strings.HasSuffix(w, "ly"):
		w = w[:len(w)-2]
	}
	if len(w) > 3 {
		w = strings.TrimSuffix(w, "e")
	}
	return w
}

func undouble(w string) string {
	if n := len(w); n > 3 && w[n-1] == w[n-2] && !strings.ContainsRune("aeiouls", rune(w[n-1])) {
		return w[:n-1]
	}
	return w
}

// plurals lists endings and what replaces them, for words longer than least.
var plurals = []struct {
	ending, singular string
	least            int
}{{"ies", "y", 4}, {"sses", "ss", 4}, {"xes", "x", 4}, {"ches", "ch", 4}, {"shes", "sh", 4}, {"ss", "ss", 0}, {"us", "us", 0}, {"is", "is", 0}, {"s", "", 3}}

// Singular cuts the ending of a plural.
func Singular(w string) string {
	for _, p := range plurals {
		if stem, ok := strings.CutSuffix(w, p.ending); ok && len(w) > p.least {
			return stem + p.singular
		}
	}
	return w
}

// Plural reports whether a word has the ending of a plural.
func Plural(w string) bool { return Singular(w) != w }
