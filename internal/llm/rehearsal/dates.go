package rehearsal

import (
	"strconv"
	"strings"
	"time"
)

// civil is a day, at midnight UTC.
type civil struct{ time.Time }

func day(t time.Time) civil {
	y, m, d := t.UTC().Date()
	return civil{time.Date(y, m, d, 0, 0, 0, 0, time.UTC)}
}

func (c civil) plus(n int) civil { return civil{c.AddDate(0, 0, n)} }

func (c civil) String() string { return c.Format(time.DateOnly) }

func isoDate(text string) (civil, bool) {
	t, err := time.Parse(time.DateOnly, text)
	return civil{t}, err == nil
}

// joinDates turns "1 March 2026", "March 1st", "next month" and "today" into
// dates. A bare month is a date only where it cannot be another word: after a
// preposition of time, or with a day or year.
func (en *english) joinDates(tokens []token, today civil) []token {
	out := tokens[:0:0]
	for i := 0; i < len(tokens); {
		d, n := dateAt(tokens, i, today)
		if n == 0 {
			out = append(out, tokens[i])
			i++
			continue
		}
		texts := make([]string, 0, n)
		for _, t := range tokens[i : i+n] {
			texts = append(texts, t.text)
		}
		text := strings.Join(texts, " ")
		out = append(out, token{text: text, low: strings.ToLower(text), kind: date, days: d, owns: tokens[i+n-1].owns})
		i += n
	}
	return out
}

// dateAt reads a date at the i-th token and says how many tokens it takes.
func dateAt(tokens []token, i int, today civil) (days, int) {
	if d, n := relativeAt(tokens, i, today); n > 0 {
		return d, n
	}
	if d, n := quarterAt(tokens, i, today); n > 0 {
		return d, n
	}
	month, isMonth := monthOf(tokens[i].low)
	dayFirst, hasDay := dayOf(tokens[i])
	switch {
	case hasDay && i+1 < len(tokens):
		if m, ok := monthOf(tokens[i+1].low); ok {
			year, n := yearAt(tokens, i+2, today)
			return oneDay(year, m, dayFirst, 2+n)
		}
	case isMonth:
		return monthAt(tokens, i, month, today)
	}
	return days{}, 0
}

func monthAt(tokens []token, i int, m time.Month, today civil) (days, int) {
	if i+1 < len(tokens) {
		if d, ok := dayOf(tokens[i+1]); ok {
			at := i + 2
			if at < len(tokens) && tokens[at].text == "," {
				at++
			}
			year, n := yearAt(tokens, at, today)
			if n == 0 {
				at = i + 2
			}
			return oneDay(year, m, d, at-i+n)
		}
	}
	year, n := yearAt(tokens, i+1, today)
	timely := i > 0 && strings.Contains(" in before after since until by during due ", " "+tokens[i-1].low+" ")
	if n == 0 && !timely {
		return days{}, 0
	}
	first := civil{time.Date(year, m, 1, 0, 0, 0, 0, time.UTC)}
	return days{first, civil{first.AddDate(0, 1, 0)}}, 1 + n
}

func oneDay(year int, m time.Month, d, n int) (days, int) {
	at := civil{time.Date(year, m, d, 0, 0, 0, 0, time.UTC)}
	if at.Day() != d { // 31 April
		return days{}, 0
	}
	return days{at, at.plus(1)}, n
}

func yearAt(tokens []token, i int, today civil) (year, n int) {
	if i < len(tokens) && tokens[i].kind == number {
		if v := tokens[i].amount.value; v >= 1900 && v < 2200 && len(tokens[i].text) == 4 {
			return int(v), 1
		}
	}
	return today.Year(), 0
}

// dayOf reads "1", "1st", "22nd" as a day of a month.
func dayOf(t token) (int, bool) {
	text := t.low
	if t.kind == code {
		for _, end := range []string{"st", "nd", "rd", "th"} {
			text = strings.TrimSuffix(text, end)
		}
	}
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= 1 && n <= 31 && len(text) <= 2
}

func monthOf(w string) (time.Month, bool) {
	if len(w) < 3 {
		return 0, false
	}
	for m := time.January; m <= time.December; m++ {
		full := strings.ToLower(m.String())
		if w == full || w == full[:3] || w == "sept" && m == time.September {
			return m, true
		}
	}
	return 0, false
}

func relativeAt(tokens []token, i int, today civil) (days, int) {
	switch tokens[i].low {
	case "today":
		return days{today, today.plus(1)}, 1
	case "tomorrow":
		return days{today.plus(1), today.plus(2)}, 1
	case "yesterday":
		return days{today.plus(-1), today}, 1
	}
	step, ok := map[string]int{"this": 0, "next": 1, "last": -1}[tokens[i].low]
	if !ok || i+1 >= len(tokens) {
		return days{}, 0
	}
	y, m, _ := today.Date()
	at := func(y int, m time.Month) civil { return civil{time.Date(y, m, 1, 0, 0, 0, 0, time.UTC)} }
	switch tokens[i+1].low {
	case "week":
		monday := today.plus(-(int(today.Weekday())+6)%7 + 7*step)
		return days{monday, monday.plus(7)}, 2
	case "month":
		return days{at(y, m+time.Month(step)), at(y, m+time.Month(step)+1)}, 2
	case "quarter":
		first := (m-1)/3*3 + 1 + time.Month(3*step)
		return days{at(y, first), at(y, first+3)}, 2
	case "year":
		return days{at(y+step, 1), at(y+step+1, 1)}, 2
	}
	return days{}, 0
}

// rangeOf fills a first and a last day: "this month" means all of it, "after
// March" only what follows. It reports whether the list has such inputs.
func (r *reading) rangeOf(i int) bool {
	from, to := r.f.ends()
	if from == nil || to == nil || r.f.writes() || r.args[from.name] != nil || r.args[to.name] != nil {
		return false
	}
	d := r.part[i].days
	switch r.lowAt(i - 1) {
	case "after":
		r.args[from.name] = d.to.String()
	case "since", "from":
		r.args[from.name] = d.from.String()
	case "before":
		r.args[to.name] = d.from.plus(-1).String()
	case "by", "until", "till":
		r.args[to.name] = d.to.plus(-1).String()
	default:
		r.args[from.name], r.args[to.name] = d.from.String(), d.to.plus(-1).String()
	}
	r.give(i, 1, 3)
	if before := i - 1; before >= 0 && r.uses[before] == unread && r.p.en.is("timely", r.lowAt(before)) {
		r.uses[before] = idle
	}
	return true
}

// ends are the inputs for the first and the last day of one thing: closing_from
// and closing_to.
func (f *form) ends() (from, to *property) {
	for _, p := range f.props {
		root, isFrom := strings.CutSuffix(p.name, "from")
		if !isFrom || !p.isDate() {
			continue
		}
		if other := f.prop(root + "to"); other != nil && other.isDate() {
			return p, other
		}
	}
	return nil, nil
}
