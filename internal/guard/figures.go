package guard

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Invented begins the line about figures and names that are in no result.
const Invented = "Not from the data: "

// maxShown bounds how many figures and names a line lists.
const maxShown = 8

// invented returns the line about figures and names that are in no result.
func invented(a Answer, e Evidence, results func() *data) (c Correction) {
	text := a.Whole()
	claims := claimsOf(text)
	d := results()
	if d.partial {
		return c
	}
	odd := newFigures(d, e, text).unproven(claims)
	odd = append(odd, unknownNames(text, d)...)
	if len(odd) == 0 {
		return c
	}
	more := ""
	if n := len(odd) - maxShown; n > 0 {
		odd, more = odd[:maxShown], fmt.Sprintf(" and %d more", n)
	}
	verb := "are"
	if len(odd) == 1 {
		verb = "is"
	}
	return Correction{OfTheModel, fmt.Sprintf(Invented+"%s%s %s the model's own.", strings.Join(odd, ", "), more, verb), odd}
}

// figures proves claims.
type figures struct {
	d       *data
	e       Evidence
	words   map[string]bool
	derived *derived // nil until a claim needs it
	rows    int

	supposed []float64 // per cents of the question: "what if everyone gets 3 % more"
}

func newFigures(d *data, e Evidence, text string) *figures {
	f := &figures{d: d, e: e, words: map[string]bool{}}
	for _, said := range []string{text, e.Question} {
		for _, w := range wordsOf(said) {
			f.words[stem(w)] = true
			f.words[strings.TrimPrefix(w, "un")] = true
		}
		for token := range tokensOf(said) {
			small := strings.ToLower(strings.TrimSuffix(token, "'s"))
			f.words[small], f.words["="+small] = true, true
		}
	}
	for _, c := range claimsOf(e.Question) {
		if c.unit == '%' && len(f.supposed) < maxSupposed {
			f.supposed = append(f.supposed, c.value)
		}
	}
	for _, t := range d.tables {
		f.rows += len(t.rows)
	}
	return f
}

// unproven returns the claims that no result gives, as they are written.
func (f *figures) unproven(claims []claim) (odd []string) {
	proven := make([]bool, len(claims))
	for i, c := range claims {
		proven[i] = f.proves(c)
	}
	for range 2 { // what was proven by others proves more
		for i, c := range claims {
			proven[i] = proven[i] || c.kind == figure && fromStated(claims, proven, i)
		}
	}
	for i, c := range claims {
		if !proven[i] && !slices.Contains(odd, c.text) {
			odd = append(odd, c.text)
		}
	}
	return odd
}

func (f *figures) proves(c claim) bool {
	switch c.kind {
	case spelled:
		return true
	case exact:
		return f.d.tokens[strings.ToLower(c.text)]
	case dated:
		return f.provesDate(c.day)
	}
	return f.provesFigure(c)
}

func (f *figures) provesFigure(c claim) bool {
	whole := c.value == math.Trunc(c.value) && c.step >= 1
	year := int(c.value)
	switch {
	case near(f.d.numbers, c):
		return true
	case whole && c.unit == 0 && (year <= max(f.rows, 3) || f.rows == 0 && year <= 10): // a count
		return true
	case whole && c.unit == 0 && year >= 1900 && year <= 2100:
		return f.hasYear(year)
	case c.unit == '%' && (c.value == 100 || near(f.d.numbers, claim{value: c.value / 100, step: c.step / 100, about: c.about})):
		return true
	}
	if f.derived == nil {
		f.derived = derive(f.d, f.words, f.supposed, f.e.Today)
	}
	switch c.unit {
	case '%':
		return near(f.derived.percents, c)
	case 'd':
		return f.provesSpan(c)
	}
	return near(f.derived.values, c)
}

func (f *figures) hasYear(year int) bool {
	if diff := year - f.e.Today.Year(); diff >= -1 && diff <= 1 {
		return true
	}
	for d := range f.d.dates {
		if d.year == year {
			return true
		}
	}
	return false
}

// daysIn is how long the units of durations are.
var daysIn = map[string]float64{"day": 1, "week": 7, "month": 30.44, "year": 365.25}

func (f *figures) provesSpan(c claim) bool {
	_, unit, _ := strings.Cut(c.text, " ")
	in := daysIn[strings.TrimSuffix(unit, "s")]
	for _, days := range f.derived.days {
		if gap := days/in - c.value; gap > -1 && gap < 1 { // a begun or an ended one
			return true
		}
	}
	return near(f.derived.values, c)
}

// provesDate reports whether the date is in the data, or is near to today: a
// reader can see what "by Friday, November 27" rests on.
func (f *figures) provesDate(day date) bool {
	for known := range f.d.dates {
		if day.matches(known) || (known.day == 0 || known.year == 0) && known.matches(day) {
			return true
		}
	}
	if day.day == 0 {
		return false
	}
	if day.year == 0 {
		day.year = f.e.Today.Year()
	}
	for known := range f.d.dates { // its anniversary
		if years := day.year - f.e.Today.Year(); known.month == day.month && known.day == day.day && years >= 0 && years <= 1 {
			return true
		}
	}
	gap := day.time().Sub(dateOf(f.e.Today).time())
	if gap >= -7*24*time.Hour && gap <= 31*24*time.Hour {
		return true
	}
	return day.day == 1 || day.time().AddDate(0, 0, 1).Day() == 1 // the end of a month
}

// Bounds of what is computed of figures that the answer itself shows.
const (
	window = 12  // apart, of two
	maxRun = 100 // in a sum

	maxSupposed = 4 // per cents
)

// fromStated reports whether a figure is computed of proven figures beside it: a
// sum of several, or a difference, sum, ratio or share of two.
func fromStated(claims []claim, proven []bool, i int) bool {
	c := claims[i]
	var beside []float64
	for j := max(0, i-window); j < min(len(claims), i+window/2+1); j++ {
		if j != i && proven[j] && (claims[j].kind == figure || claims[j].kind == spelled) {
			beside = append(beside, claims[j].value)
		}
	}
	v := &derived{}
	for k, a := range beside {
		for l, b := range beside {
			if k != l {
				v.amount(a-b, a+b, a*(1+b/100), a*(1-b/100), a*b/100)
				v.ratio(a, b)
			}
		}
	}
	v.runs(claims, proven, i)
	slices.Sort(v.values)
	slices.Sort(v.percents)
	if c.unit == '%' {
		return near(v.percents, c)
	}
	return near(v.values, c)
}

// runs adds the sums of figures that follow each other before or after the claim:
// in the text, and in the same place of their lines.
func (v *derived) runs(claims []claim, proven []bool, i int) {
	for _, step := range []int{-1, 1} {
		sum, column, last := 0.0, 0.0, 0.0
		for j := i + step; j >= max(0, i-maxRun) && j < min(len(claims), i+maxRun); j += step {
			other := claims[j]
			if other.kind != figure || !proven[j] {
				continue
			}
			if other.unit == claims[i].unit {
				sum += other.value
				v.amount(sum)
			}
			if other.line != claims[i].line && other.place == claims[i].place {
				column += other.value
				v.amount(column)
			}
			if other.line != claims[i].line && other.last {
				last += other.value
				v.amount(last)
			}
		}
	}
}
