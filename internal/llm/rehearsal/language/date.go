package language

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Span is a run of whole days in UTC, the end excluded.
type Span struct{ From, To time.Time }

// Day writes a day as inputs take it.
func Day(t time.Time) string { return t.Format(time.DateOnly) }

func day(t time.Time) time.Time {
	y, m, d := t.UTC().Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

func months(year int, first time.Month, n int) Span {
	from := time.Date(year, first, 1, 0, 0, 0, 0, time.UTC)
	return Span{from, from.AddDate(0, n, 0)}
}

// lasts reports whether the span is n whole months.
func (s Span) lasts(n int) bool { return s.From.Day() == 1 && s.From.AddDate(0, n, 0).Equal(s.To) }

// Spellings returns the ways to write the span as a quarter, a month or a year,
// the plainest first; none when it is no such period.
func (s Span) Spellings(unit string) []string {
	year, quarter := s.From.Year(), (int(s.From.Month())-1)/3+1
	switch {
	case unit == "quarter" && s.lasts(3) && s.From.Month()%3 == 1:
		return []string{fmt.Sprintf("Q%d %d", quarter, year), fmt.Sprintf("%d-Q%d", year, quarter), fmt.Sprintf("Q%d-%d", quarter, year), fmt.Sprintf("%dQ%d", year, quarter)}
	case unit == "month" && s.lasts(1):
		return []string{s.From.Format("2006-01"), s.From.Format("January 2006"), s.From.Format("01/2006")}
	case unit == "year" && s.lasts(12) && s.From.Month() == time.January:
		return []string{strconv.Itoa(year)}
	}
	return nil
}

// joinDates turns "1 March 2026", "March 1st", "Q2 2026", "next month" and
// "today" into dates.
func joinDates(tokens []Token, today time.Time) []Token {
	out := tokens[:0:0]
	for i := 0; i < len(tokens); {
		span, n := dateAt(tokens, i, today)
		if n == 0 {
			out = append(out, tokens[i])
			i++
			continue
		}
		texts := make([]string, 0, n)
		for _, t := range tokens[i : i+n] {
			texts = append(texts, t.Text)
		}
		t := Token{Text: strings.Join(texts, " "), Kind: Date, Span: span, Owns: tokens[i+n-1].Owns}.known()
		out = append(out, t)
		i += n
	}
	return out
}

// dateAt reads a date at the i-th token and counts the tokens that it takes.
func dateAt(tokens []Token, i int, today time.Time) (Span, int) {
	for _, read := range []func([]Token, int, time.Time) (Span, int){relativeAt, quarterAt, dayMonthAt, monthAt} {
		if span, n := read(tokens, i, today); n > 0 {
			return span, n
		}
	}
	return Span{}, 0
}

func low(tokens []Token, i int) string {
	if i < 0 || i >= len(tokens) {
		return ""
	}
	return tokens[i].Low
}

func relativeAt(tokens []Token, i int, today time.Time) (Span, int) {
	for at, name := range []string{"yesterday", "today", "tomorrow"} {
		if tokens[i].Low == name {
			return Span{today.AddDate(0, 0, at-1), today.AddDate(0, 0, at)}, 1
		}
	}
	step, ok := map[string]int{"last": -1, "this": 0, "next": 1}[tokens[i].Low]
	y, m, _ := today.Date()
	switch unit := low(tokens, i+1); {
	case !ok:
	case unit == "week":
		monday := today.AddDate(0, 0, -(int(today.Weekday())+6)%7+7*step)
		return Span{monday, monday.AddDate(0, 0, 7)}, 2
	case unit == "month":
		return months(y, m+time.Month(step), 1), 2
	case unit == "quarter":
		return months(y, (m-1)/3*3+1+time.Month(3*step), 3), 2
	case unit == "year":
		return months(y+step, 1, 12), 2
	}
	return Span{}, 0
}

var quarterShape = regexp.MustCompile(`^(?:(\d{4})-)?q([1-4])(?:-(\d{4}))?$`)

// quarterAt reads "Q4", "Q2 2026", "2026-Q1" and "fourth quarter of 2025".
// Without a year it is today's.
func quarterAt(tokens []Token, i int, today time.Time) (Span, int) {
	n, quarter, year := 1, 0, ""
	if m := quarterShape.FindStringSubmatch(tokens[i].Low); m != nil {
		quarter, year = int(m[2][0]-'0'), m[1]+m[3]
	} else if low(tokens, i+1) == "quarter" {
		n, quarter = 2, ordinal(tokens[i].Low)
	}
	if quarter < 1 || quarter > 4 {
		return Span{}, 0
	}
	if y, err := strconv.Atoi(year); err == nil {
		return months(y, time.Month(3*quarter-2), 3), n
	}
	of := 0
	if low(tokens, i+n) == "of" {
		of = 1
	}
	y, k := yearAt(tokens, i+n+of, today)
	if k > 0 {
		n += of + k
	}
	return months(y, time.Month(3*quarter-2), 3), n
}

var ordinals = []string{"first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"}

// ordinal is the number that "third" names; 0 when the word is none.
func ordinal(w string) int {
	for i, name := range ordinals {
		if name == w {
			return i + 1
		}
	}
	return 0
}

// Place reads the place in a list that a short answer names: "the second one",
// "2", "3rd". It is 0 when the word names none.
func Place(w string) int {
	if n := ordinal(w); n > 0 {
		return n
	}
	n, err := strconv.Atoi(strings.TrimRight(w, "stndrh"))
	if err != nil {
		return map[string]int{"former": 1, "latter": 2}[w]
	}
	return n
}

// dayMonthAt reads "1 March 2026" and "March 1st, 2026".
func dayMonthAt(tokens []Token, i int, today time.Time) (Span, int) {
	d, dayFirst := dayOf(tokens, i)
	m, ok := monthOf(low(tokens, i+1))
	if !dayFirst || !ok {
		m, ok = monthOf(tokens[i].Low)
		if d, dayFirst = dayOf(tokens, i+1); !ok || !dayFirst {
			return Span{}, 0
		}
	}
	comma := 0
	if low(tokens, i+2) == "," {
		comma = 1
	}
	year, n := yearAt(tokens, i+2+comma, today)
	if n > 0 {
		n += comma
	}
	at := time.Date(year, m, d, 0, 0, 0, 0, time.UTC)
	if at.Day() != d { // 31 April
		return Span{}, 0
	}
	return Span{at, at.AddDate(0, 0, 1)}, 2 + n
}

// monthAt reads a month. Alone it is a date only after a preposition of time:
// "may" and "march" are other words too.
func monthAt(tokens []Token, i int, today time.Time) (Span, int) {
	m, ok := monthOf(tokens[i].Low)
	year, n := yearAt(tokens, i+1, today)
	timely := i > 0 && strings.Contains(" in before after since until by during due ", " "+tokens[i-1].Low+" ")
	if !ok || n == 0 && !timely {
		return Span{}, 0
	}
	return months(year, m, 1), 1 + n
}

func yearAt(tokens []Token, i int, today time.Time) (year, n int) {
	if i < len(tokens) && tokens[i].IsYear() {
		return int(tokens[i].Amount.Value), 1
	}
	return today.Year(), 0
}

// IsYear reports whether a number is written like a year.
func (t Token) IsYear() bool {
	return t.Kind == Number && len(t.Text) == 4 && t.Amount.Value >= 1900 && t.Amount.Value < 2200 && !t.Amount.Money
}

// dayOf reads "1", "1st", "22nd" as a day of a month.
func dayOf(tokens []Token, i int) (int, bool) {
	text := low(tokens, i)
	if i < len(tokens) && tokens[i].Kind == Code && len(text) > 2 {
		for _, end := range []string{"st", "nd", "rd", "th"} {
			text = strings.TrimSuffix(text, end)
		}
	}
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= 1 && n <= 31 && len(text) <= 2
}

func monthOf(w string) (time.Month, bool) {
	for m := time.January; m <= time.December && len(w) >= 3; m++ {
		full := strings.ToLower(m.String())
		if w == full || w == full[:3] || w == "sept" && m == time.September {
			return m, true
		}
	}
	return 0, false
}
