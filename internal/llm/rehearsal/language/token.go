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

func (t Token) known() Token {
	t.Low = strings.ToLower(t.Text)
	t.Stem = Stem(t.Low)
	first, _ := utf8.DecodeRuneInString(t.Text)
	t.Capital = unicode.IsUpper(first)
	return t
}

var quotes = strings.NewReplacer("’", "'", "‘", "'", "“", `"`, "”", `"`, "„", `"`, "«", `"`, "»", `"`, " – ", " : ", " — ", " : ", " - ", " : ", "–", " ", "—", " ")

// piece is a quotation or a run without spaces.
var piece = regexp.MustCompile(`"([^"]*)"|[^\s"]+`)

// Read cuts a question into tokens. Possessives and contractions are taken
// apart, numbers and dates have their values.
func (x *Lexicon) Read(text string, today time.Time) []Token {
	text = quotes.Replace(text)
	if strings.Count(text, `"`)%2 == 1 { // an odd one is no quotation
		text = strings.ReplaceAll(text, `"`, " ")
	}
	var out []Token
	for _, at := range piece.FindAllStringSubmatchIndex(text, maxTokens) {
		if at[2] >= 0 {
			out = append(out, Token{Text: strings.TrimSpace(text[at[2]:at[3]]), Kind: Quoted})
		} else {
			out = append(out, split(text[at[0]:at[1]])...)
		}
		if n := len(out); n > 0 && out[n-1].Kind == Mark && out[n-1].Text == ":" {
			out[n-1].Rest = strings.TrimSpace(text[at[1]:])
		}
	}
	for i := range out {
		out[i] = out[i].known()
	}
	return joinDates(joinNumbers(x.plainly(out)), today.UTC().Truncate(24*time.Hour))
}

func alphanumeric(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

var fiscalYear = regexp.MustCompile(`^(?i:fy)(\d{4})$`)

// split reads a piece without spaces. What is neither letter nor digit at its
// ends is punctuation.
func split(chunk string) (out []Token) {
	body := strings.TrimRightFunc(chunk, func(r rune) bool { return !alphanumeric(r) && r != '%' && r != '\'' })
	if tail := chunk[len(body):]; strings.ContainsAny(tail, ".,;:?!") {
		at := strings.IndexAny(tail, ".,;:?!")
		defer func() { out = append(out, Token{Text: string(tail[at]), Kind: Mark}) }()
	}
	body = fiscalYear.ReplaceAllString(strings.TrimLeftFunc(body, func(r rune) bool { return !alphanumeric(r) && !strings.ContainsRune("$€£-+.", r) }), "$1")
	if d, err := time.Parse(time.DateOnly, body); err == nil {
		return []Token{{Text: body, Kind: Date, Span: Span{d, d.AddDate(0, 0, 1)}}}
	}
	if a, ok := parseAmount(body); ok {
		return []Token{{Text: body, Kind: Number, Amount: a}}
	}
	body = strings.TrimLeftFunc(body, func(r rune) bool { return !alphanumeric(r) })
	if strings.ContainsAny(body, "@_") || strings.ContainsFunc(body, unicode.IsDigit) {
		owner := strings.TrimSuffix(strings.TrimSuffix(body, "'"), "'s")
		return []Token{{Text: owner, Kind: Code, Owns: owner != body}}
	}
	for _, w := range strings.FieldsFunc(body, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' && !unicode.IsMark(r) }) {
		out = append(out, uncontracted(strings.TrimLeft(w, "'"))...)
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
	case base == "":
		return nil
	case !found:
		return []Token{{Text: w}}
	case lowEnd == "t" && len(base) > 1 && strings.HasSuffix(lowBase, "n"):
		return []Token{{Text: base[:len(base)-1]}, {Text: "not"}}
	case lowEnd == "s" && lowBase == "let":
		return []Token{{Text: base}, {Text: "us"}}
	case lowEnd == "s" && strings.Contains(pronouns, " "+lowBase+" "):
		return []Token{{Text: base}, {Text: "is"}}
	case endings[lowEnd] != "":
		return []Token{{Text: base}, {Text: endings[lowEnd]}}
	case lowEnd == "s" || end == "":
		return []Token{{Text: base, Owns: true}}
	}
	return []Token{{Text: strings.ReplaceAll(w, "'", "")}} // O'Neill
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

var humps = regexp.MustCompile(`(\p{Ll})(\p{Lu})`)

// Identifier cuts a name like employee_id, bookTitle or get-animal into
// lower-case words.
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
