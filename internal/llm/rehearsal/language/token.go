package language

import (
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// maxTokens bounds what is read of a question; a typed one is never longer.
const maxTokens = 400

// Kind is the form of a token.
type Kind uint8

// The kinds of tokens.
const (
	Word   Kind = iota
	Code        // an id, a number with letters, an e-mail address
	Quoted      // the text between quotation marks
	Number      // with its amount
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
	Amount  Amount
	Span    Span
	Rest    string // behind a colon or "because": the text that follows it, as written
}

var quotes = strings.NewReplacer("’", "'", "‘", "'", "“", `"`, "”", `"`, "„", `"`, "«", `"`, "»", `"`, " – ", " : ", " — ", " : ", " - ", " : ", "–", " ", "—", " ")

// piece is a quotation or a run without spaces.
var piece = regexp.MustCompile(`^(?:"([^"]*)"|[^\s"]+)`)

// Read cuts a question into tokens: possessives and contractions taken apart,
// numbers and dates with their values, plain words for their equals.
func (x *Lexicon) Read(text string, today time.Time) (out []Token) {
	text = quotes.Replace(text)
	if strings.Count(text, `"`)%2 == 1 { // an odd one is no quotation
		text = strings.ReplaceAll(text, `"`, " ")
	}
	before := ""
	for text = strings.TrimSpace(text); text != "" && len(out) < maxTokens; text = strings.TrimSpace(text) {
		found, n := valueAt(text, before, today.UTC())
		tokens := []Token{found}
		if n == 0 {
			at := piece.FindStringSubmatchIndex(text)
			if n = at[1]; at[2] >= 0 {
				tokens = []Token{{Text: strings.TrimSpace(text[at[2]:at[3]]), Kind: Quoted}}
			} else {
				tokens = x.split(text[:n])
			}
		}
		text = text[n:]
		for _, t := range tokens {
			t.Low = strings.ToLower(t.Text)
			t.Stem = Stem(t.Low)
			first, _ := utf8.DecodeRuneInString(t.Text)
			t.Capital = unicode.IsUpper(first)
			if t.Text == ":" || t.Low == "because" {
				t.Rest = strings.TrimSpace(text)
			}
			out, before = append(out, t), t.Low
		}
	}
	return x.plainly(out)
}

func alphanumeric(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// split reads a piece without spaces: words or an id, and punctuation.
func (x *Lexicon) split(chunk string) (out []Token) {
	body := strings.TrimRightFunc(chunk, func(r rune) bool { return !alphanumeric(r) && r != '%' && r != '\'' })
	tail := chunk[len(body):]
	body = strings.TrimLeftFunc(body, func(r rune) bool { return !alphanumeric(r) })
	if strings.ContainsAny(body, "@_") || strings.ContainsFunc(body, unicode.IsDigit) {
		owner := strings.TrimSuffix(strings.TrimSuffix(body, "'"), "'s")
		out = []Token{{Text: owner, Kind: Code, Owns: owner != body}}
	} else {
		for _, w := range strings.FieldsFunc(body, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' && !unicode.IsMark(r) }) {
			out = append(out, x.word(w)...)
		}
	}
	if at := strings.IndexAny(tail, ".,;:?!"); at >= 0 {
		out = append(out, Token{Text: tail[at : at+1], Kind: Mark})
	}
	return out
}

// word reads "Ada's" and "O'Neill". A contraction stays whole for its plain words.
func (x *Lexicon) word(w string) []Token {
	base, end, found := strings.Cut(strings.TrimLeft(w, "'"), "'")
	switch {
	case base == "":
		return nil
	case x.plain[strings.ToLower(w)] != nil:
		return []Token{{Text: w}}
	case found && (end == "" || strings.EqualFold(end, "s")):
		return []Token{{Text: base, Owns: true}}
	}
	return []Token{{Text: strings.ReplaceAll(w, "'", "")}}
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

var humps = regexp.MustCompile(`(\p{Ll})(\p{Lu})`)

// Identifier cuts a name like employee_id or bookTitle into lower-case words.
func Identifier(name string) []string {
	return strings.FieldsFunc(strings.ToLower(humps.ReplaceAllString(name, "$1 $2")), func(r rune) bool { return !alphanumeric(r) })
}

// LastWord is the last word of an identifier; empty when it has none.
func LastWord(name string) string {
	w := append([]string{""}, Identifier(name)...)
	return w[len(w)-1]
}

// Prose cuts running text into lower-case words.
func Prose(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) })
}
