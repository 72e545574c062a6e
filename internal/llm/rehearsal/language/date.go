package language

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Span is a run of whole days in UTC, the end excluded.
type Span struct{ From, To time.Time }

// Day writes a day as inputs take it.
func Day(t time.Time) string { return t.Format(time.DateOnly) }

func date(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, time.UTC) }

func months(year int, first time.Month, n int) Span {
	from := date(year, first, 1)
	return Span{from, from.AddDate(0, n, 0)}
}

// Spellings returns the ways to write the span as a quarter, a month or a year,
// the plainest first; none when it is no such period.
func (s Span) Spellings(unit string) []string {
	lasts := func(n int) bool { return s.From.Day() == 1 && s.From.AddDate(0, n, 0).Equal(s.To) }
	year, quarter := s.From.Year(), (int(s.From.Month())-1)/3+1
	switch {
	case unit == "quarter" && lasts(3) && s.From.Month()%3 == 1:
		return []string{fmt.Sprintf("Q%d %d", quarter, year), fmt.Sprintf("%d-Q%d", year, quarter), fmt.Sprintf("Q%d-%d", quarter, year), fmt.Sprintf("%dQ%d", year, quarter)}
	case unit == "month" && lasts(1):
		return []string{s.From.Format("2006-01"), s.From.Format("January 2006"), s.From.Format("01/2006")}
	case unit == "year" && lasts(12) && s.From.Month() == time.January:
		return []string{strconv.Itoa(year)}
	}
	return nil
}

// joinDates turns "1 March 2026", "March 1st", "Q2 2026", "next month" and
// "today" into dates.
func joinDates(tokens []Token, today time.Time) (out []Token) {
	for i := 0; i < len(tokens); {
		span, n := Span{}, 0
		for _, read := range []func([]Token, int, time.Time) (Span, int){relativeAt, quarterAt, dayAt, monthAt} {
			if n == 0 {
				span, n = read(tokens, i, today)
			}
		}
		if n == 0 {
			out, i = append(out, tokens[i]), i+1
			continue
		}
		var texts []string
		for _, t := range tokens[i : i+n] {
			texts = append(texts, t.Text)
		}
		out = append(out, Token{Text: strings.Join(texts, " "), Kind: Date, Span: span, Owns: tokens[i+n-1].Owns}.known())
		i += n
	}
	return out
}

func low(tokens []Token, i int) string {
	if i < 0 || i >= len(tokens) {
		return ""
	}
	return tokens[i].Low
}

func relativeAt(tokens []Token, i int, today time.Time) (Span, int) {
	if at := slices.Index([]string{"yesterday", "today", "tomorrow"}, tokens[i].Low); at >= 0 {
		return Span{today.AddDate(0, 0, at-1), today.AddDate(0, 0, at)}, 1
	}
	step := slices.Index([]string{"last", "this", "next"}, tokens[i].Low) - 1
	if step < -1 {
		return Span{}, 0
	}
	y, m, _ := today.Date()
	switch low(tokens, i+1) {
	case "week":
		monday := today.AddDate(0, 0, -(int(today.Weekday())+6)%7+7*step)
		return Span{monday, monday.AddDate(0, 0, 7)}, 2
	case "month":
		return months(y, m+time.Month(step), 1), 2
	case "quarter":
		return months(y, (m-1)/3*3+1+time.Month(3*step), 3), 2
	case "year":
		return months(y+step, 1, 12), 2
	}
	return Span{}, 0
}

var quarterShape = regexp.MustCompile(`^(?:(\d{4})-)?q([1-4])(?:-(\d{4}))?$`)

// quarterAt reads "Q4", "Q2 2026", "2026-Q1" and "fourth quarter of 2025".
// Without a year it is today's.
func quarterAt(tokens []Token, i int, today time.Time) (Span, int) {
	n, quarter, year := 1, 0, today.Year()
	if m := quarterShape.FindStringSubmatch(tokens[i].Low); m != nil {
		quarter = int(m[2][0] - '0')
		if y, err := strconv.Atoi(m[1] + m[3]); err == nil {
			return months(y, time.Month(3*quarter-2), 3), n
		}
	} else if low(tokens, i+1) == "quarter" {
		n, quarter = 2, slices.Index(ordinals, tokens[i].Low)+1
	}
	if quarter < 1 || quarter > 4 {
		return Span{}, 0
	}
	of := 0
	if low(tokens, i+n) == "of" {
		of = 1
	}
	if y, ok := yearAt(tokens, i+n+of, today); ok {
		year, n = y, n+of+1
	}
	return months(year, time.Month(3*quarter-2), 3), n
}

var ordinals = []string{"first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"}

// Place reads the place in a list that a short answer names: "the second one",
// "2", "3rd". It is 0 when the word names none.
func Place(w string) int {
	if n, err := strconv.Atoi(strings.TrimRight(w, "stndrh")); err == nil {
		return n
	}
	return slices.Index(ordinals, w) + 1
}

// dayAt reads "1 March 2026" and "March 1st, 2026".
func dayAt(tokens []Token, i int, today time.Time) (Span, int) {
	d, hasDay := dayOf(low(tokens, i))
	m, hasMonth := monthOf(low(tokens, i+1))
	if !hasDay || !hasMonth {
		m, hasMonth = monthOf(low(tokens, i))
		d, hasDay = dayOf(low(tokens, i+1))
	}
	n := 2
	year, ok := yearAt(tokens, i+2, today)
	if ok {
		n = 3
	} else if y, ok := yearAt(tokens, i+3, today); ok && low(tokens, i+2) == "," {
		year, n = y, 4
	}
	at := date(year, m, d)
	if !hasDay || !hasMonth || at.Day() != d { // 31 April
		return Span{}, 0
	}
	return Span{at, at.AddDate(0, 0, 1)}, n
}

// monthAt reads a month. Alone it is a date only after a preposition of time:
// "may" and "march" are other words too.
func monthAt(tokens []Token, i int, today time.Time) (Span, int) {
	m, ok := monthOf(tokens[i].Low)
	year, dated := yearAt(tokens, i+1, today)
	switch {
	case ok && dated:
		return months(year, m, 1), 2
	case ok && slices.Contains([]string{"in", "before", "after", "since", "until", "by", "during", "due"}, low(tokens, i-1)):
		return months(year, m, 1), 1
	}
	return Span{}, 0
}

func yearAt(tokens []Token, i int, today time.Time) (int, bool) {
	if i < len(tokens) && tokens[i].IsYear() {
		return int(tokens[i].Amount.Value), true
	}
	return today.Year(), false
}

// IsYear reports whether a number is written like a year.
func (t Token) IsYear() bool {
	return t.Kind == Number && len(t.Text) == 4 && t.Amount.Value >= 1900 && t.Amount.Value < 2200 && !t.Amount.Money
}

var dayShape = regexp.MustCompile(`^(\d{1,2})(?:st|nd|rd|th)?$`)

// dayOf reads "1", "1st", "22nd" as a day of a month.
func dayOf(w string) (int, bool) {
	n, err := strconv.Atoi(dayShape.ReplaceAllString(w, "$1"))
	return n, err == nil && n >= 1 && n <= 31 && len(w) <= 4
}

func monthOf(w string) (time.Month, bool) {
	for m := time.January; m <= time.December; m++ {
		full := strings.ToLower(m.String())
		if w == full || w == full[:3] || w == "sept" && m == time.September {
			return m, true
		}
	}
	return 0, false
}
