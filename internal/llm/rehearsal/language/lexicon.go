// Package language reads English questions: words, amounts, dates, periods. What
// it knows of English is in english.txt; it knows no tool and no company.
package language

import (
	_ "embed"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"countersign.dev/internal/english"
)

//go:embed english.txt
var vocabulary string

// Set holds words or stems.
type Set map[string]bool

// Stems returns the set of the words' stems.
func Stems(words ...string) Set {
	s := Set{}
	for _, w := range words {
		s[english.Stem(w)] = true
	}
	return s
}

// Lexicon is english.txt. It is read once and never changed.
type Lexicon struct {
	phrases map[string]Set      // by section; a word is a phrase too
	stems   map[string]Set      // by section
	same    map[string][]string // stem: the stems of the same meaning
	plain   map[string][]Token  // a phrase: the plainer words for it
}

// English reads the lexicon.
func English() *Lexicon {
	x := &Lexicon{phrases: map[string]Set{}, stems: map[string]Set{}, same: map[string][]string{}, plain: map[string][]Token{}}
	for line := range strings.Lines(vocabulary) {
		if section, rest, ok := strings.Cut(strings.TrimSpace(line), ": "); ok && section[0] != '#' {
			x.add(section, rest)
		}
	}
	return x
}

func (x *Lexicon) add(section, rest string) {
	words := strings.Fields(rest)
	switch section {
	case "same", "means": // one way only: "paid" may ask for a salary, a salary is not all that is paid
		for i, w := range words {
			if i == 0 || section == "same" {
				x.same[english.Stem(w)] = slices.AppendSeq(x.same[english.Stem(w)], maps.Keys(Stems(words...)))
			}
		}
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
			x.phrases[section][w], x.stems[section][english.Stem(w)] = true, true
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
var Measures = []string{"count", "sum", "average", "highest", "lowest", "newest", "oldest", "compare"}

// Same returns the stems that ask for the same thing.
func (x *Lexicon) Same(stem string) []string { return x.same[stem] }

// Among reports whether the stem, or one of the same meaning, is in the set.
func (x *Lexicon) Among(stems Set, s string) bool {
	return stems[s] || slices.ContainsFunc(x.same[s], func(other string) bool { return stems[other] })
}

// MayBeValue reports whether a word could be somebody's name or another value.
func (x *Lexicon) MayBeValue(word string) bool {
	return !x.stems["action"][english.Stem(word)] && !x.Is(word, "judgement", "condition", "negation", "self", "pronoun", "further") && !x.Is(word, Measures...)
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

// maxTokens bounds what is read of a question; a typed one is never longer.
const maxTokens = 400

var quotes = strings.NewReplacer("’", "'", "‘", "'", "“", `"`, "”", `"`, "„", `"`, "«", `"`, "»", `"`, " – ", " : ", " — ", " : ", " - ", " : ", "–", " ", "—", " ")

// piece is a quotation; a run with a digit or a dot inside, as ids and addresses
// have; a word; a mark; or a sign that says nothing.
var piece = regexp.MustCompile(`^(?s:"([^"]*)"|((?:[\pL\d][^\s"]*)?(?:[\d@_]|\pL\.\p{Ll})(?:[^\s"]*[\pL\d%])?(?:'s?)?)|([\pL\pM']+)|([.,;:?!])|.)`)

// Read cuts a question into tokens, with plain words for their equals.
func (x *Lexicon) Read(text string, today time.Time) (out []Token) {
	before := ""
	for text = strings.TrimSpace(quotes.Replace(text)); text != "" && len(out) < maxTokens; text = strings.TrimSpace(text) {
		found, n := valueAt(text, before, today.UTC())
		if n == 0 {
			m := piece.FindStringSubmatch(text)
			n, found = len(m[0]), x.token(m[1], m[2], m[3], m[4])
		}
		if text = text[n:]; found.Text == "" {
			continue
		}
		found.Low = strings.ToLower(found.Text)
		found.Stem = english.Stem(found.Low)
		found.Capital = strings.IndexFunc(found.Text, unicode.IsUpper) == 0
		if found.Text == ":" || found.Text == "," || found.Low == "because" {
			found.Rest = strings.TrimSpace(text)
		}
		out, before = append(out, found), found.Low
	}
	return x.plainly(out)
}

// token is that of a piece, of which one part is not empty: "Ada's" owns, "O'Neill"
// is a name, and a contraction stays whole for its plain words.
func (x *Lexicon) token(quoted, code, word, mark string) Token {
	owner := strings.TrimSuffix(strings.TrimSuffix(code, "'"), "'s")
	base, end, found := strings.Cut(strings.TrimLeft(word, "'"), "'")
	switch {
	case code != "":
		return Token{Text: owner, Kind: Code, Owns: owner != code}
	case mark != "":
		return Token{Text: mark, Kind: Mark}
	case word == "":
		return Token{Text: strings.TrimSpace(quoted), Kind: Quoted}
	case x.plain[strings.ToLower(word)] != nil:
		return Token{Text: word}
	case found && (end == "" || strings.EqualFold(end, "s")):
		return Token{Text: base, Owns: true}
	}
	return Token{Text: strings.ReplaceAll(word, "'", "")}
}

// Lows returns the words in lower case, punctuation left out.
func Lows(tokens []Token) (out []string) {
	for _, t := range tokens {
		if t.Kind != Mark {
			out = append(out, t.Low)
		}
	}
	return out
}

// Text joins tokens as they were written, near enough.
func Text(tokens []Token) string {
	var texts []string
	for _, t := range tokens {
		if t.Kind != Mark {
			texts = append(texts, t.Text+map[bool]string{true: "'s"}[t.Owns])
		}
	}
	return strings.Join(texts, " ")
}
