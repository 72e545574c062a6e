package rehearsal

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// A period is a quarter, a month or a year. An input takes it in its own form:
// as text ("Q1 2026"), as one of its values ("Q1") beside a year, as a year, or
// as a first and a last day.

// quarterAt reads "Q4", "Q2 2026", "2026-Q1" and "fourth quarter of 2025".
// Without a year it is today's.
func quarterAt(tokens []token, i int, today civil) (days, int) {
	if year, q, ok := quarterIn(tokens[i].low, today); ok {
		n := 1
		if !strings.Contains(tokens[i].low, "-") {
			of := 0
			if i+1 < len(tokens) && tokens[i+1].low == "of" {
				of = 1
			}
			if y, k := yearAt(tokens, i+1+of, today); k > 0 {
				year, n = y, 1+of+k
			}
		}
		return quarterOf(year, q), n
	}
	if i+1 >= len(tokens) || tokens[i+1].low != "quarter" {
		return days{}, 0
	}
	for q, names := range ordinals[:4] {
		for _, name := range names {
			if name == tokens[i].low && name[0] > '9' {
				y, k := yearAt(tokens, i+2, today)
				return quarterOf(y, q+1), 2 + k
			}
		}
	}
	return days{}, 0
}

var quarterShape = regexp.MustCompile(`^(?:(\d{4})-)?q([1-4])(?:-(\d{4}))?$`)

func quarterIn(low string, today civil) (year, q int, ok bool) {
	m := quarterShape.FindStringSubmatch(low)
	if m == nil {
		return 0, 0, false
	}
	year, q = today.Year(), int(m[2][0]-'0')
	if y := m[1] + m[3]; len(y) == 4 {
		year, _ = strconv.Atoi(y)
	}
	return year, q, true
}

func quarterOf(year, q int) days {
	from := civil{time.Date(year, time.Month(3*q-2), 1, 0, 0, 0, 0, time.UTC)}
	return days{from, civil{from.AddDate(0, 3, 0)}}
}

// isQuarter, isMonth and isYear tell which period a span of days is.
func (d days) isQuarter() bool { return d.lasts(3) && d.from.Month()%3 == 1 }
func (d days) isMonth() bool   { return d.lasts(1) }
func (d days) isYear() bool    { return d.lasts(12) && d.from.Month() == time.January }

func (d days) lasts(months int) bool {
	return d.from.Day() == 1 && d.from.AddDate(0, months, 0).Equal(d.to.Time)
}

func (d days) quarter() int { return (int(d.from.Month())-1)/3 + 1 }

// spellings are the ways to write a period, the plainest first.
func (d days) spellings(unit string) []string {
	year := d.from.Year()
	switch {
	case unit == "quarter" && d.isQuarter():
		return []string{fmt.Sprintf("Q%d %d", d.quarter(), year), fmt.Sprintf("%d-Q%d", year, d.quarter()), fmt.Sprintf("Q%d-%d", d.quarter(), year), fmt.Sprintf("%dQ%d", year, d.quarter())}
	case unit == "month" && d.isMonth():
		return []string{d.from.Format("2006-01"), d.from.Format("January 2006"), d.from.Format("01/2006")}
	case unit == "year" && d.isYear():
		return []string{strconv.Itoa(year)}
	}
	return nil
}

// periods fills inputs that are named by a period with the one that is asked
// for, and the year beside it.
func (r *reading) periods() {
	for i, t := range r.part {
		if t.kind != date || r.uses[i] != unread {
			continue
		}
		if r.periodIn(t.days) {
			r.give(i, 1, 4)
		}
	}
}

func (r *reading) periodIn(d days) bool {
	for _, p := range r.f.props {
		if _, taken := r.args[p.name]; taken {
			continue
		}
		if value, ok := p.periodValue(d); ok {
			r.args[p.name] = value
			if len(p.enum) > 0 {
				r.yearOf(d)
			}
			return true
		}
	}
	return false
}

// periodValue is how the input writes the period; ok is false when it takes none.
func (p *property) periodValue(d days) (value any, ok bool) {
	for _, unit := range []string{"quarter", "month", "year"} {
		if !p.stems[stem(unit)] {
			continue
		}
		names := d.spellings(unit)
		switch {
		case len(names) == 0:
		case len(p.enum) > 0:
			short, _, _ := strings.Cut(names[0], " ")
			if e := p.enumValue(short); e != "" {
				return e, true
			}
		case p.isNumber() && unit == "year":
			return int64(d.from.Year()), true
		case p.isText():
			for _, name := range names {
				if p.pattern == nil || p.pattern.MatchString(name) {
					return name, true
				}
			}
		}
	}
	return nil, false
}

func (p *property) enumValue(text string) string {
	for _, e := range p.enum {
		if strings.EqualFold(e, text) {
			return e
		}
	}
	return ""
}

// yearOf gives the year of a quarter to the input for years.
func (r *reading) yearOf(d days) {
	for _, p := range r.f.props {
		if _, taken := r.args[p.name]; p.isNumber() && p.stems["year"] && !taken {
			r.args[p.name] = int64(d.from.Year())
		}
	}
}
