package language

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

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
	Rest    string // behind a colon, a comma or "because": the text that follows it, as written
}

// Amount is a number as people write it.
type Amount struct {
	Value   float64
	Percent bool
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

// dated is a date of so many months and days.
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
	switch m[2] {
	case "week":
		return dated(y, month, d-(int(today.Weekday())+6)%7+7*step, 0, 7)
	case "month":
		return dated(y, month+time.Month(step), 1, 1, 0)
	case "quarter":
		return dated(y, (month-1)/3*3+1+time.Month(3*step), 1, 3, 0)
	}
	return dated(y+step, time.January, 1, 12, 0)
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
	percent := m[4] != "" || strings.HasPrefix(m[5], "p")
	return Token{Kind: Number, Amount: Amount{v * cmp.Or(scales[m[3]], 1) * cmp.Or(scales[m[5]], 1), percent}}
}
