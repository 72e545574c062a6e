package calendar

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"countersign.dev/internal/english"
)

const (
	year  = `(?P<y>\d{4})`
	month = `(?P<m>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)`
	day   = `(?P<d>\d{1,2})(?:st|nd|rd|th)?`
)

// shapes are the ways to write a span.
var shapes = []*regexp.Regexp{
	whole(`(?P<day>yesterday|today|tomorrow)`),
	whole(`(?P<step>last|this|next) (?:fiscal )?(?P<unit>week|month|quarter|year)`),
	whole(`(?P<step>last|past|next) (?P<n>[1-9]\d{0,2}|` + strings.Join(english.Numbers, "|") + `) (?P<units>day|week|month|year)s`),
	whole(`(?:the )?(?P<end>end) of (?:the |this )?(?P<unit>week|month|quarter|year)`),
	whole(`(?:(?P<step>last|this|next) )?(?P<weekday>monday|tuesday|wednesday|thursday|friday|saturday|sunday)`),
	whole(`past (?P<units>week|month|year)`),
	whole(`(?:` + year + `-)?(?:q(?P<q>[1-4])|(?P<rank>first|second|third|fourth) quarter)(?:(?:-| of | )(?P<of>\d{4}))?`),
	whole(year + `-(?P<m>\d\d)-(?P<d>\d\d)`),
	whole(day + ` ` + month + `(?:,? ` + year + `)?`),
	whole(month + ` ` + day + `(?:,? ` + year + `)?`),
	whole(month + `(?: ` + year + `)?`),
	whole(`(?:fy)?(?P<y>(?:19|20)\d\d)`),
}

// whole is a shape that ends where a word ends.
func whole(shape string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:` + shape + `)(?:'s)?[.,;:?!)]*(?:\s|$)`)
}

// Read reads the span at the beginning of a text, and how long its words are; 0 when
// it begins with none. What has no year of its own is in today's.
func Read(text string, today time.Time) (s Span, length int) {
	for _, shape := range shapes {
		at := shape.FindStringSubmatchIndex(text)
		if at == nil {
			continue
		}
		parts := map[string]string{}
		for i, name := range shape.SubexpNames() {
			parts[name] = strings.ToLower(text[max(0, at[2*i]):max(0, at[2*i+1])])
		}
		if s = span(parts, today.UTC()); s != (Span{}) {
			return s, len(strings.TrimSuffix(strings.TrimRight(text[:at[1]], ".,;:?!) \t\r\n"), "'s"))
		}
	}
	return s, 0
}

// span is what the parts of a shape mean; the zero one for 31 April.
func span(parts map[string]string, today time.Time) Span {
	step := slices.Index([]string{"last", "this", "next"}, parts["step"]) - 1
	n := cmp.Or(Ordinal(parts["n"]), 2+slices.Index(english.Numbers, parts["n"])) // 1 when it is not said
	y, m, d := cmp.Or(Ordinal(parts["y"]+parts["of"]), today.Year()), monthOf(parts["m"]), Ordinal(parts["d"])
	from := time.Date(y, time.Month(m), max(1, d), 0, 0, 0, 0, time.UTC)
	switch {
	case parts["day"] != "":
		return Day(today, slices.Index([]string{"yesterday", "today", "tomorrow"}, parts["day"])-1)
	case parts["weekday"] != "" && parts["step"] == "":
		return named(today, parts["weekday"])
	case parts["weekday"] != "" && step < 0: // before today
		return Day(named(Day(today, -1).From, parts["weekday"]).From, 0)
	case parts["weekday"] != "": // of this week, or of the next one
		return Day(named(Week(today, step).Last(), parts["weekday"]).From, 0)
	case parts["units"] != "" && parts["step"] == "next":
		return Span{From: Day(today, 0).From, To: later(today, n, parts["units"])}
	case parts["units"] != "":
		return Span{From: later(today, -n, parts["units"]), To: Day(today, 0).To}
	case parts["end"] != "" && parts["unit"] == "week":
		return Day(Week(today, 0).Last(), 0)
	case parts["end"] != "":
		return Day(Period(today, map[string]int{"month": 1, "quarter": 3, "year": 12}[parts["unit"]], 0).Last(), 0)
	case parts["unit"] == "week":
		return Week(today, step)
	case parts["unit"] != "":
		return Period(today, map[string]int{"month": 1, "quarter": 3, "year": 12}[parts["unit"]], step)
	case parts["m"]+parts["q"]+parts["rank"] == "":
		return Period(time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC), 12, 0)
	case parts["m"] == "":
		return Period(time.Date(y, time.Month(3*Ordinal(parts["q"]+parts["rank"])), 1, 0, 0, 0, 0, time.UTC), 3, 0)
	case parts["d"] == "":
		return Period(from, 1, 0)
	case from.Day() == d && int(from.Month()) == m:
		return Day(from, 0)
	}
	return Span{}
}

// named is the last day of a weekday's name, a day included.
func named(day time.Time, weekday string) Span {
	s := Day(day, 0)
	for s.Weekday = true; strings.ToLower(s.From.Weekday().String()) != weekday; {
		s.From, s.To = s.From.AddDate(0, 0, -1), s.From
	}
	return s
}

// later is the day after so many units of time from a day's end, before it where n is negative.
func later(day time.Time, n int, unit string) time.Time {
	switch to := Day(day, 0).To; unit {
	case "day":
		return to.AddDate(0, 0, n)
	case "week":
		return to.AddDate(0, 0, 7*n)
	case "month":
		return to.AddDate(0, n, 0)
	default:
		return to.AddDate(n, 0, 0)
	}
}

// First is the first day of a month or a year that is written like 2026-03 or 2026.
func First(period string) string { return period + "2026-01-01"[min(len(period), len("2026-01-01")):] }

// monthOf reads a month's number, or its name.
func monthOf(text string) int {
	return cmp.Or(Ordinal(text), (4+strings.Index("jan feb mar apr may jun jul aug sep oct nov dec", text[:min(3, len(text))]))/4)
}

var ordinals = strings.Fields("first second third fourth fifth sixth seventh eighth")

// Ordinal reads a whole number or a rank: "second", "2", "3rd". It is 0 for others.
func Ordinal(word string) int {
	if n, err := strconv.Atoi(strings.TrimRight(word, "stndrh")); err == nil {
		return n
	}
	return slices.Index(ordinals, word) + 1
}

// The words behind which a month may be alone in a sentence, and a year: "may" is a verb, 2019 a number.
var (
	beforeMonth = strings.Fields("in before after since until by during due between and of for from my our the their to")
	beforeYear  = beforeMonth[:5]
)

// Within is Read for a text inside a sentence, behind the word before: there a month or a year alone is read only
// where that word says that it is one.
func Within(text, before string, today time.Time) (Span, int) {
	span, n := Read(text, today)
	month := span.Months == 1 && !strings.ContainsAny(text[:n], "0123456789 ")
	year := span.Months == 12 && n == len("2019")
	if month && !slices.Contains(beforeMonth, before) || year && !slices.Contains(beforeYear, before) {
		return Span{}, 0
	}
	return span, n
}
