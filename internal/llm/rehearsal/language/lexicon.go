// Package language reads English questions: words and their stems, amounts,
// dates and periods. What it knows of English is in english.txt; it knows no
// tool and no company.
package language

import (
	_ "embed"
	"strings"
)

//go:embed english.txt
var english string

// Set holds words or stems.
type Set map[string]bool

// Add puts words into the set.
func (s Set) Add(words ...string) {
	for _, w := range words {
		s[w] = true
	}
}

// AddStems puts the stems of words into the set.
func (s Set) AddStems(words ...string) {
	for _, w := range words {
		s[Stem(w)] = true
	}
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
		section, rest, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if ok && !strings.HasPrefix(section, "#") {
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
			x.mean(w, words)
		}
	case section == "means": // one way only: "paid" may ask for a salary, a salary is not all that is paid
		x.mean(words[0], words[1:])
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
		if x.words[section] == nil {
			x.words[section], x.stems[section] = Set{}, Set{}
		}
		x.words[section].Add(words...)
		x.stems[section].AddStems(words...)
	}
}

func (x *Lexicon) mean(word string, others []string) {
	s := Stem(word)
	if x.same[s] == nil {
		x.same[s] = Set{}
	}
	x.same[s].AddStems(others...)
}

// Is reports whether a word is in a section as it is written.
func (x *Lexicon) Is(section, word string) bool { return x.words[section][word] }

// Any reports whether a word is in one of several sections.
func (x *Lexicon) Any(word string, sections ...string) bool {
	for _, s := range sections {
		if x.words[s][word] {
			return true
		}
	}
	return false
}

// Stems returns the stems of a section's words.
func (x *Lexicon) Stems(section string) Set { return x.stems[section] }

// Says reports whether the words are exactly one of a section's phrases.
func (x *Lexicon) Says(section string, words []string) bool {
	return len(words) > 0 && x.Phrase(section, words) == len(words)
}

// Phrase counts the words that make up the longest phrase of a section at their
// beginning; 0 when there is none.
func (x *Lexicon) Phrase(section string, words []string) int {
	longest, text := 0, strings.Join(words, " ")+" "
	for _, p := range x.phrases[section] {
		if n := strings.Count(p, " ") + 1; n > longest && strings.HasPrefix(text, p+" ") {
			longest = n
		}
	}
	return longest
}

// Measures reports whether a word alone asks for a count, a sum or an extreme.
func (x *Lexicon) Measures(word string) bool {
	for _, section := range []string{"count", "sum", "average", "highest", "lowest", "newest", "oldest"} {
		if x.Says(section, []string{word}) {
			return true
		}
	}
	return false
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
	return !x.Any(t.Low, "action", "judgement", "condition", "negation", "self") && !x.Measures(t.Low)
}

// plainly puts the plain words for phrases of the same meaning.
func (x *Lexicon) plainly(tokens []Token) []Token {
	out := tokens[:0:0]
	for i := 0; i < len(tokens); {
		n, plain := x.plainAt(tokens[i:])
		if n == 0 {
			out = append(out, tokens[i])
			i++
			continue
		}
		for _, t := range plain {
			t = t.known()
			if len(plain) == 1 {
				t.Said = Text(tokens[i : i+n])
			}
			out = append(out, t)
		}
		i += n
	}
	return out
}

// plainAt finds the longest phrase at the beginning that has plain words.
func (x *Lexicon) plainAt(tokens []Token) (n int, plain []Token) {
	phrase := ""
	for i, t := range tokens[:min(4, len(tokens))] {
		if t.Kind != Word || t.Owns {
			break
		}
		phrase = strings.TrimSpace(phrase + " " + t.Low)
		if words := x.plain[phrase]; words != nil {
			n, plain = i+1, words
		}
	}
	return n, plain
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

// Singular cuts the ending of a plural.
func Singular(w string) string {
	ends := func(suffixes ...string) bool {
		for _, s := range suffixes {
			if strings.HasSuffix(w, s) {
				return true
			}
		}
		return false
	}
	switch {
	case len(w) > 4 && ends("ies"):
		return w[:len(w)-3] + "y"
	case len(w) > 4 && ends("sses", "xes", "ches", "shes"):
		return w[:len(w)-2]
	case len(w) > 3 && ends("s") && !ends("ss", "us", "is"):
		return w[:len(w)-1]
	}
	return w
}

// Plural reports whether a word has the ending of a plural.
func Plural(w string) bool { return Singular(w) != w }

func undouble(w string) string {
	n := len(w)
	if n > 3 && w[n-1] == w[n-2] && !strings.ContainsRune("aeiouls", rune(w[n-1])) {
		return w[:n-1]
	}
	return w
}
