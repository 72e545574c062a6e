package rehearsal

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxTokens bounds what is read of a question; no honest one is longer.
const maxTokens = 400

// kind is what a token looks like.
type kind uint8

const (
	word   kind = iota
	code        // an id, a number with letters, an e-mail address
	quoted      // what stands between quotation marks
	number      // with its amount
	date        // with its days
	mark        // punctuation that parts sentences
)

// token is one word of a question.
type token struct {
	text    string // as written, without a possessive ending
	low     string
	stem    string
	kind    kind
	owns    bool // possessive: "Ada's"
	capital bool
	amount  amount
	days    days
	said    string // as written, where text is a plainer word
	rest    string // behind a colon: the text that follows it, as written
}

// days is a span of whole days, the end excluded.
type days struct{ from, to civil }

// read cuts a question into tokens: words with their possessives and
// contractions taken apart, numbers and dates with their values.
func (en *english) read(text string, today civil) []token {
	var out []token
	text = strings.NewReplacer("’", "'", "‘", "'", "“", `"`, "”", `"`, "„", `"`, "«", `"`, "»", `"`, " – ", " : ", " — ", " : ", " - ", " : ", "–", " ", "—", " ").Replace(text)
	for text != "" && len(out) < maxTokens {
		var chunk string
		if text[0] == '"' {
			if end := strings.IndexByte(text[1:], '"'); end > 0 {
				out = append(out, token{text: strings.TrimSpace(text[1 : 1+end]), kind: quoted})
				text = text[end+2:]
				continue
			}
			text = strings.ReplaceAll(text, `"`, " ") // an odd one is no quotation
			continue
		}
		chunk, text = nextChunk(text)
		out = append(out, tokensOf(chunk)...)
		if n := len(out); n > 0 && out[n-1].kind == mark && out[n-1].text == ":" {
			out[n-1].rest = strings.TrimSpace(text)
		}
	}
	for i := range out {
		out[i].low = strings.ToLower(out[i].text)
		out[i].stem = stem(out[i].low)
		r, _ := utf8.DecodeRuneInString(out[i].text)
		out[i].capital = unicode.IsUpper(r)
	}
	return en.joinDates(joinNumbers(en.plainly(out)), today)
}

// nextChunk takes the next piece without spaces or quotes, which may be empty.
func nextChunk(text string) (chunk, rest string) {
	text = strings.TrimLeftFunc(text, unicode.IsSpace)
	end := strings.IndexFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r == '"' })
	if end < 0 {
		return text, ""
	}
	return text[:end], text[end:]
}

// tokensOf reads a piece without spaces. What is neither letter nor digit at
// its ends is punctuation.
func tokensOf(chunk string) []token {
	body := strings.TrimRightFunc(chunk, func(r rune) bool { return !lettersAndDigits(r) && r != '%' && r != '\'' })
	tail := chunk[len(body):]
	body = strings.TrimLeftFunc(body, func(r rune) bool { return !lettersAndDigits(r) && !strings.ContainsRune("$€£-+.", r) })
	var out []token
	if body != "" {
		out = tokensOfBody(body)
	}
	if sep := strings.IndexAny(tail, ".,;:?!"); sep >= 0 {
		out = append(out, token{text: string(tail[sep]), kind: mark})
	}
	return out
}

func lettersAndDigits(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// fiscalYear is FY2026, which is a year.
var fiscalYear = regexp.MustCompile(`^(?i:fy)(\d{4})$`)

func tokensOfBody(body string) []token {
	if d, ok := isoDate(body); ok {
		return []token{{text: body, kind: date, days: days{d, d.plus(1)}}}
	}
	if year := fiscalYear.FindStringSubmatch(body); year != nil {
		body = year[1]
	}
	if a, ok := parseAmount(body); ok {
		return []token{{text: body, kind: number, amount: a}}
	}
	body = strings.TrimLeftFunc(body, func(r rune) bool { return !lettersAndDigits(r) })
	if strings.ContainsAny(body, "@_") || strings.ContainsFunc(body, unicode.IsDigit) {
		owner := strings.TrimSuffix(strings.TrimSuffix(body, "'"), "'s")
		return []token{{text: owner, kind: code, owns: owner != body}}
	}
	var out []token
	for _, piece := range strings.FieldsFunc(body, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' && !unicode.IsMark(r) }) {
		out = append(out, uncontracted(piece)...)
	}
	return out
}

// pronouns after which 's is "is" and not a possessive.
var pronouns = map[string]bool{"what": true, "who": true, "where": true, "when": true, "how": true, "that": true, "there": true, "it": true, "he": true, "she": true, "here": true, "which": true}

var endings = map[string]string{"re": "are", "ve": "have", "ll": "will", "d": "would", "m": "am"}

// uncontracted takes "what's", "don't", "Ada's" and "Iris'" apart.
func uncontracted(w string) []token {
	w = strings.TrimLeft(w, "'")
	low := strings.ToLower(w)
	base, end, found := strings.Cut(w, "'")
	lowEnd := strings.ToLower(end)
	switch {
	case !found:
		return words(w)
	case base == "":
		return nil
	case lowEnd == "t" && strings.HasSuffix(low[:len(base)], "n"):
		return words(base[:len(base)-1], "not")
	case lowEnd == "s" && strings.EqualFold(base, "let"):
		return words(base, "us")
	case lowEnd == "s" && pronouns[strings.ToLower(base)]:
		return words(base, "is")
	case endings[lowEnd] != "":
		return words(base, endings[lowEnd])
	case lowEnd == "s" || end == "":
		return []token{{text: base, owns: true}}
	}
	return words(strings.ReplaceAll(w, "'", "")) // O'Neill
}

func words(texts ...string) []token {
	out := make([]token, 0, len(texts))
	for _, t := range texts {
		if t != "" {
			out = append(out, token{text: t})
		}
	}
	return out
}

// lows returns the tokens' words in lower case, punctuation left out.
func lows(tokens []token) []string {
	out := make([]string, 0, len(tokens))
	for _, t := range tokens {
		if t.kind != mark {
			out = append(out, t.low)
		}
	}
	return out
}

// identifierWords cuts a name like employee_id, bookTitle or get-animal into
// lower-case words.
func identifierWords(name string) []string {
	var b strings.Builder
	var before rune
	for _, r := range name {
		if unicode.IsUpper(r) && unicode.IsLower(before) {
			b.WriteByte(' ')
		}
		before = r
		if !lettersAndDigits(r) {
			r = ' '
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.Fields(b.String())
}

// lastWord is the last word of an identifier; empty when it has none.
func lastWord(name string) string {
	words := identifierWords(name)
	if len(words) == 0 {
		return ""
	}
	return words[len(words)-1]
}

// proseWords cuts running text into lower-case words.
func proseWords(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) })
}
