// Package language reads English questions: words, amounts, dates, periods. What
// it knows of English is in english.yaml; it knows no tool and no company.
package language

import (
	"cmp"
	_ "embed"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"go.yaml.in/yaml/v3"

	"countersign.dev/internal/english"
)

//go:embed english.yaml
var vocabulary []byte

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

// Lexicon is english.yaml. It is read once and never changed.
type Lexicon struct {
	phrases map[string]Set      // by section; a word is a phrase too
	Stems   map[string]Set      // by section
	Same    map[string][]string // stem: the stems that ask for the same thing
	plain   map[string][]Token  // a phrase: the plainer words for it
}

// English reads the lexicon.
func English() *Lexicon {
	x := &Lexicon{phrases: map[string]Set{}, Stems: map[string]Set{}, Same: map[string][]string{}, plain: map[string][]Token{}}
	var file struct {
		Words, Instead map[string][]string
		Same, Means    [][]string
	}
	if err := yaml.Unmarshal(vocabulary, &file); err != nil {
		panic(err) // it is part of the program
	}
	for section, phrases := range file.Words {
		x.phrases[section], x.Stems[section] = Set{}, Stems(phrases...)
		for _, p := range phrases {
			x.phrases[section][p] = true
		}
	}
	for i, group := range slices.Concat(file.Same, file.Means) {
		for j, w := range group {
			if s := english.Stem(w); i < len(file.Same) || j == 0 { // a meaning goes one way only
				x.Same[s] = slices.AppendSeq(x.Same[s], maps.Keys(Stems(group...)))
			}
		}
	}
	for plain, phrases := range file.Instead {
		for _, p := range phrases {
			x.plain[p] = x.Read(plain, time.Time{})
		}
	}
	return x
}

// Is reports whether a word or a phrase is in one of the sections.
func (x *Lexicon) Is(phrase string, sections ...string) bool {
	return slices.ContainsFunc(sections, func(s string) bool { return x.phrases[s][phrase] })
}

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

// Among reports whether the stem, or one of the same meaning, is in the set.
func (x *Lexicon) Among(stems Set, s string) bool {
	return stems[s] || slices.ContainsFunc(x.Same[s], func(other string) bool { return stems[other] })
}

// MayBeValue reports whether a word could be somebody's name or another value.
func (x *Lexicon) MayBeValue(word string) bool {
	return !x.Stems["action"][english.Stem(word)] && !x.Is(word, "judgement", "condition", "negation", "self", "pronoun", "further") && !x.Is(word, Measures...)
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

// Kind is the form of a token.
type Kind uint8

// The kinds of tokens.
const (
	Word   Kind = iota
	Code        // an id, a number with letters, an e-mail address
	Quoted      // the text between quotation marks
	Number      // with its value
	Date        // with its span of days
	Mark        // punctuation that parts sentences
)

// Token is one word of a question, or one value.
type Token struct {
	Text    string // as written, without a possessive ending
	Low     string
	Stem    string
	Kind    Kind
	Owns    bool // possessive: "Ada's"
	Capital bool
	Value   float64 // of a number
	Percent bool
	Span    Span
	Rest    string // behind a colon, a comma or "because": the text that follows it, as written
}

// Span is a run of whole days in UTC, the end excluded.
type Span struct {
	From, To time.Time
	Months   int // of a calendar month, quarter or year; 0 of other spans
}

// Day writes a day as inputs take it.
func Day(t time.Time) string { return t.Format(time.DateOnly) }

const (
	month = `(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)`
	day   = `(\d{1,2})(?:st|nd|rd|th)?`
)

// forms are the ways to write a value. read gets what the shape's groups matched,
// the whole first; its token stays a word when the text is no such value.
var forms = []struct {
	shape *regexp.Regexp
	read  func(m []string, before string, today time.Time) Token
}{
	{written(`yesterday|today|tomorrow`), readRelative},
	{written(`(last|this|next) (?:fiscal )?(week|month|quarter|year)`), readRelative},
	{written(`(?:(\d{4})-)?(?:q([1-4])|(first|second|third|fourth) quarter)(?:(?:-| of | )(\d{4}))?`), readQuarter},
	{written(`(\d{4})-(\d\d)-(\d\d)`), func(m []string, _ string, today time.Time) Token { return readDay(m[1], m[2], m[3], today) }},
	{written(day + ` ` + month + `(?:,? (\d{4}))?`), func(m []string, _ string, today time.Time) Token { return readDay(m[3], m[2], m[1], today) }},
	{written(month + ` ` + day + `(?:,? (\d{4}))?`), func(m []string, _ string, today time.Time) Token { return readDay(m[3], m[1], m[2], today) }},
	{written(month + `(?: (\d{4}))?`), readMonth},
	{written(`([$€£]?)([+-]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?)([km]?)(%?)(?: (percent|pct|thousand|million|mio|billion))?(?: (dollars?|usd|euros?|eur|gbp))?`), readAmount},
}

// written is a shape that ends where a word ends. A fiscal year is a year.
func written(shape string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)^\(?(?:fy)?(` + shape + `)(?:'s)?[.,;:?!)]*(?:\s|$)`)
}

// valueAt reads the value at the beginning of a text, and its end; 0 for none.
func valueAt(text, before string, today time.Time) (Token, int) {
	for _, form := range forms {
		if at := form.shape.FindStringSubmatchIndex(text); at != nil {
			var m []string
			for i := 2; i < len(at); i += 2 {
				m = append(m, strings.ToLower(text[max(0, at[i]):max(0, at[i+1])]))
			}
			if t := form.read(m, before, today); t.Kind != Word {
				t.Text = text[at[2]:at[3]]
				return t, at[3]
			}
		}
	}
	return Token{}, 0
}

func dated(y int, m time.Month, d, months, days int) Token {
	from := time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	return Token{Kind: Date, Span: Span{from, from.AddDate(0, months, days), months}}
}

func readRelative(m []string, _ string, today time.Time) Token {
	y, month, d := today.Date()
	if len(m) == 1 {
		return dated(y, month, d+slices.Index([]string{"yesterday", "today", "tomorrow"}, m[0])-1, 0, 1)
	}
	step := slices.Index([]string{"last", "this", "next"}, m[1]) - 1
	if m[2] == "week" {
		return dated(y, month, d-(int(today.Weekday())+6)%7+7*step, 0, 7)
	}
	months := map[string]int{"month": 1, "quarter": 3, "year": 12}[m[2]]
	return dated(y, time.Month((int(month)-1)/months*months+1+step*months), 1, months, 0)
}

// readQuarter reads "Q2 2026", "2026-Q1" and, in today's year, "fourth quarter".
func readQuarter(m []string, _ string, today time.Time) Token {
	return dated(cmp.Or(Ordinal(m[1]+m[4]), today.Year()), time.Month(3*Ordinal(m[2]+m[3])-2), 1, 3, 0)
}

// readDay reads a day; without a year it is in today's.
func readDay(year, month, day string, today time.Time) Token {
	m, d := monthOf(month), Ordinal(day)
	t := dated(cmp.Or(Ordinal(year), today.Year()), time.Month(m), d, 0, 1)
	if t.Span.From.Day() != d || int(t.Span.From.Month()) != m { // 31 April
		return Token{}
	}
	return t
}

// readMonth reads a month, alone only after a preposition: "may" is a verb too.
func readMonth(m []string, before string, today time.Time) Token {
	if m[2] == "" && !slices.Contains([]string{"in", "before", "after", "since", "until", "by", "during", "due", "between", "and"}, before) {
		return Token{}
	}
	return dated(cmp.Or(Ordinal(m[2]), today.Year()), time.Month(monthOf(m[1])), 1, 1, 0)
}

// monthOf reads a month's name or its number.
func monthOf(text string) int {
	return cmp.Or(Ordinal(text), (4+strings.Index("jan feb mar apr may jun jul aug sep oct nov dec", text[:min(3, len(text))]))/4)
}

var ordinals = []string{"first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"}

// Ordinal reads a whole number or a rank: "second", "2", "3rd". It is 0 for others.
func Ordinal(w string) int {
	if n, err := strconv.Atoi(strings.TrimRight(w, "stndrh")); err == nil {
		return n
	}
	return slices.Index(ordinals, w) + 1
}

var scales = map[string]float64{"k": 1e3, "m": 1e6, "thousand": 1e3, "million": 1e6, "mio": 1e6, "billion": 1e9}

// readAmount reads "420,000", "$420k", "5 percent", "1.5 million dollars", "-3.5".
func readAmount(m []string, _ string, _ time.Time) Token {
	v, err := strconv.ParseFloat(strings.ReplaceAll(m[2], ",", ""), 64)
	if err != nil || math.IsInf(v, 0) {
		return Token{}
	}
	v *= cmp.Or(scales[m[3]], 1) * cmp.Or(scales[m[5]], 1)
	return Token{Kind: Number, Value: v, Percent: m[4] != "" || strings.HasPrefix(m[5], "p")}
}
