// Package language reads English questions into tokens: words, amounts, dates, periods. It knows no tool and no company.
package language

import (
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"countersign.dev/internal/calendar"
	"countersign.dev/internal/english"
)

// plainly puts the plain words for phrases of the same meaning.
func plainly(tokens []Token) (out []Token) {
	for len(tokens) > 0 {
		text, n := english.Plain(Run(tokens))
		if n == 0 {
			out, tokens = append(out, tokens[0]), tokens[1:]
			continue
		}
		put := Read(text, time.Time{})
		for i := range put {
			put[i].said = map[bool]string{true: Text(tokens[:n]), false: " "}[i == len(put)-1]
		}
		out, tokens = append(out, put...), tokens[n:]
	}
	return out
}

var quotes = strings.NewReplacer(">=", " at least ", "≥", " at least ", "<=", " at most ", "≤", " at most ", ">", " over ", "<", " under ", "’", "'", "‘", "'", "“", `"`, "”", `"`, "„", `"`, "«", `"`, "»", `"`, " – ", " : ", " — ", " : ", " - ", " : ", "–", " ", "—", " ")

// piece is a quotation; a run with a digit or a dot inside, as in ids; a word; a mark; or a sign that says nothing.
var piece = regexp.MustCompile(`^(?s:"([^"]*)"|((?:[\pL\d][^\s"]*)?(?:[\d@_]|\pL\.\p{Ll})(?:[^\s"]*[\pL\d%])?(?:'s?)?)|((?i:because of)\b|[\pL\pM']+)|([.,;:?!])|.)`)

// Read cuts a question into tokens, 400 at most as typed ones are never longer, with plain words for their equals.
func Read(text string, today time.Time) (out []Token) {
	before := ""
	for text = strings.TrimSpace(quotes.Replace(text)); text != "" && len(out) < 400; text = strings.TrimSpace(text) {
		found, n := valueAt(text, before, today.UTC())
		if n == 0 {
			m := piece.FindStringSubmatch(text)
			n, found = len(m[0]), token(m[1], m[2], m[3], m[4])
		}
		if text = text[n:]; found.Text == "" {
			continue
		}
		found.Low = strings.ToLower(found.Text)
		found.Stem = english.Stem(found.Low)
		found.Capital = strings.IndexFunc(found.Text, unicode.IsUpper) == 0
		if found.Text == ":" || found.Text == "," || slices.Contains([]string{"as", "into", "to", "with"}, found.Low) || strings.HasPrefix(found.Low, "because") {
			found.Rest = strings.TrimSpace(text)
		}
		out, before = append(out, found), map[bool]string{true: "of", false: found.Low}[found.Owns]
	}
	return plainly(out)
}

// token is that of a piece, of which one part is not empty: "Ada's" owns, "O'Neill" is a name, and a contraction stays whole for its plain words.
func token(quoted, code, word, mark string) Token {
	owner := strings.TrimSuffix(strings.TrimSuffix(code, "'"), "'s")
	base, end, found := strings.Cut(strings.TrimLeft(word, "'"), "'")
	switch {
	case code != "":
		return Token{Text: owner, Kind: Code, Owns: owner != code}
	case mark != "":
		return Token{Text: mark, Kind: Mark}
	case word == "":
		return Token{Text: strings.TrimSpace(quoted), Kind: Quoted}
	case english.Plainly(strings.ToLower(word)) != strings.ToLower(word):
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

// After are the tokens behind the first n words, from the next word on.
func After(tokens []Token, n int) []Token {
	for i, t := range tokens {
		if t.Kind != Mark {
			if n == 0 {
				return tokens[i:]
			}
			n--
		}
	}
	return nil
}

// Run returns the words with which tokens begin, as many as a phrase may have.
func Run(tokens []Token) (out []string) {
	for _, t := range tokens[:min(english.LongestPhrase, len(tokens))] {
		if t.Kind != Word || t.Owns {
			break
		}
		out = append(out, t.Low)
	}
	return out
}

// Text joins tokens as they were written, near enough.
func Text(tokens []Token) string {
	var texts []string
	for _, t := range tokens {
		if t.Kind != Mark {
			texts = append(texts, t.Text+map[bool]string{true: "'"}[t.Owns]+map[bool]string{true: "s"}[t.Owns && (t.Capital || !english.Plural(t.Low))])
		}
	}
	return strings.Join(texts, " ")
}

// Said joins tokens as Text does, with the words of the person for which plain ones were put.
func Said(tokens []Token) string {
	tokens = slices.Clone(tokens)
	for i, t := range tokens {
		if t.said != "" {
			tokens[i].Text, tokens[i].Owns = strings.TrimSpace(t.said), false
		}
	}
	return Text(slices.DeleteFunc(tokens, func(t Token) bool { return t.Text == "" }))
}

// As is another token in the place of this one, which [Said] still writes as the person did.
func (t Token) As(other Token) Token {
	if other.said = t.said; other.said == "" {
		other.said = Text([]Token{t})
	}
	return other
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
	Sort    string // of an id: the stem of what it identifies
	Span    calendar.Span
	said    string // what it was put for; of several the last one has it, and the others a blank
	Rest    string // behind a colon, a comma, "with" or "because": the text that follows it, as written
}

// valueAt reads the value at the beginning of a text, and its end; 0 for none.
func valueAt(text, before string, today time.Time) (Token, int) {
	if span, n := calendar.Within(text, before, today); n > 0 {
		return Token{Text: text[:n], Kind: Date, Span: span}, len(text) - len(strings.TrimPrefix(text[n:], "'s"))
	}
	v, percent, n := english.Amount(text)
	return Token{Text: text[:n], Kind: Number, Value: v, Percent: percent}, n
}
