package language

import (
	"cmp"
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

// Token is one word of a question.
type Token struct {
	Text    string // as written, without a possessive ending
	Low     string
	Stem    string
	Kind    Kind
	Owns    bool // possessive: "Ada's"
	Capital bool
	Amount  Amount
	Span    Span
	Said    string // as written, where Text is a plainer word
	Rest    string // behind a colon: the text that follows it, as written
}

// NewWord makes a token of one word.
func NewWord(w string) Token { return Token{Text: w}.known() }

func (t Token) known() Token {
	t.Low = strings.ToLower(t.Text)
	t.Stem = Stem(t.Low)
	first, _ := utf8.DecodeRuneInString(t.Text)
	t.Capital = unicode.IsUpper(first)
	return t
}

var marks = strings.NewReplacer("’", "'", "‘", "'", "“", `"`, "”", `"`, "„", `"`, "«", `"`, "»", `"`, " – ", " : ", " — ", " : ", " - ", " : ", "–", " ", "—", " ")

// Read cuts a question into tokens. Possessives and contractions are taken
// apart, numbers and dates have their values.
func (x *Lexicon) Read(text string, today time.Time) []Token {
	var out []Token
	text = marks.Replace(text)
	if strings.Count(text, `"`)%2 == 1 { // an odd one is no quotation
		text = strings.ReplaceAll(text, `"`, " ")
	}
	for text != "" && len(out) < maxTokens {
		if inner, rest, found := strings.Cut(text[1:], `"`); text[0] == '"' && found {
			if inner = strings.TrimSpace(inner); inner != "" {
				out = append(out, Token{Text: inner, Kind: Quoted})
			}
			text = rest
			continue
		}
		var chunk string
		chunk, text = nextChunk(text)
		out = append(out, split(chunk)...)
		if n := len(out); n > 0 && out[n-1].Kind == Mark && out[n-1].Text == ":" {
			out[n-1].Rest = strings.TrimSpace(text)
		}
	}
	for i := range out {
		out[i] = out[i].known()
	}
	return joinDates(joinNumbers(x.plainly(out)), day(today))
}

// nextChunk takes the next piece without spaces or quotes, which may be empty.
func nextChunk(text string) (chunk, rest string) {
	text = strings.TrimLeftFunc(text, unicode.IsSpace)
	if end := strings.IndexFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r == '"' }); end >= 0 {
		return text[:end], text[end:]
	}
	return text, ""
}

// split reads a piece without spaces. What is neither letter nor digit at its
// ends is punctuation.
func split(chunk string) []Token {
	body := strings.TrimRightFunc(chunk, func(r rune) bool { return !alphanumeric(r) && r != '%' && r != '\'' })
	tail := chunk[len(body):]
	body = strings.TrimLeftFunc(body, func(r rune) bool { return !alphanumeric(r) && !strings.ContainsRune("$€£-+.", r) })
	var out []Token
	if body != "" {
		out = splitBody(body)
	}
	if at := strings.IndexAny(tail, ".,;:?!"); at >= 0 {
		out = append(out, Token{Text: string(tail[at]), Kind: Mark})
	}
	return out
}

func alphanumeric(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

var fiscalYear = regexp.MustCompile(`^(?i:fy)(\d{4})$`)

func splitBody(body string) []Token {
	if d, err := time.Parse(time.DateOnly, body); err == nil {
		return []Token{{Text: body, Kind: Date, Span: Span{d, d.AddDate(0, 0, 1)}}}
	}
	body = fiscalYear.ReplaceAllString(body, "$1")
	if a, ok := parseAmount(body); ok {
		return []Token{{Text: body, Kind: Number, Amount: a}}
	}
	body = strings.TrimLeftFunc(body, func(r rune) bool { return !alphanumeric(r) })
	if strings.ContainsAny(body, "@_") || strings.ContainsFunc(body, unicode.IsDigit) {
		owner := strings.TrimSuffix(strings.TrimSuffix(body, "'"), "'s")
		return []Token{{Text: owner, Kind: Code, Owns: owner != body}}
	}
	var out []Token
	for _, piece := range strings.FieldsFunc(body, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' && !unicode.IsMark(r) }) {
		out = append(out, uncontracted(strings.TrimLeft(piece, "'"))...)
	}
	return out
}

// pronouns after which 's is "is" and no possessive.
const pronouns = " what who where when how that there it he she here which "

var endings = map[string]string{"re": "are", "ve": "have", "ll": "will", "d": "would", "m": "am"}

// uncontracted takes "what's", "don't", "Ada's" and "Iris'" apart.
func uncontracted(w string) []Token {
	base, end, found := strings.Cut(w, "'")
	lowBase, lowEnd := strings.ToLower(base), strings.ToLower(end)
	switch {
	case !found:
		return words(w)
	case base == "":
		return nil
	case lowEnd == "t" && strings.HasSuffix(lowBase, "n"):
		return words(base[:len(base)-1], "not")
	case lowEnd == "s" && lowBase == "let":
		return words(base, "us")
	case lowEnd == "s" && strings.Contains(pronouns, " "+lowBase+" "):
		return words(base, "is")
	case endings[lowEnd] != "":
		return words(base, endings[lowEnd])
	case lowEnd == "s" || end == "":
		return []Token{{Text: base, Owns: true}}
	}
	return words(strings.ReplaceAll(w, "'", "")) // O'Neill
}

func words(texts ...string) (out []Token) {
	for _, t := range texts {
		if t != "" {
			out = append(out, Token{Text: t})
		}
	}
	return out
}

// Lows returns the words in lower case, punctuation left out.
func Lows(tokens []Token) []string {
	out := make([]string, 0, len(tokens))
	for _, t := range tokens {
		if t.Kind != Mark {
			out = append(out, t.Low)
		}
	}
	return out
}

// Text joins tokens as they were written, near enough.
func Text(tokens []Token) string {
	var b strings.Builder
	for _, t := range tokens {
		if b.Len() > 0 && t.Kind != Mark {
			b.WriteByte(' ')
		}
		if t.Text != "?" && t.Text != "!" || b.Len() == 0 {
			b.WriteString(cmp.Or(t.Said, t.Text))
		}
		if t.Owns {
			b.WriteString("'s")
		}
	}
	return b.String()
}

// Identifier cuts a name like employee_id, bookTitle or get-animal into
// lower-case words.
func Identifier(name string) []string {
	var b strings.Builder
	var before rune
	for _, r := range name {
		if unicode.IsUpper(r) && unicode.IsLower(before) {
			b.WriteByte(' ')
		}
		before = r
		if !alphanumeric(r) {
			r = ' '
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.Fields(b.String())
}

// LastWord is the last word of an identifier; empty when it has none.
func LastWord(name string) string {
	if w := Identifier(name); len(w) > 0 {
		return w[len(w)-1]
	}
	return ""
}

// Prose cuts running text into lower-case words.
func Prose(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) })
}

// Trim cuts what is neither letter nor digit off both ends.
func Trim(text string) string {
	return strings.TrimFunc(text, func(r rune) bool { return !alphanumeric(r) })
}
