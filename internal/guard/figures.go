package guard

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"countersign.dev/internal/guard/claim"
)

// Invented begins the line about figures and names that are in no result.
const Invented = "Not from the data: "

// maxShown bounds how many figures and names a line lists.
const maxShown = 8

// invented returns the line about figures and names that are in no result.
func invented(s stated, e Evidence, results func() *data) (c Correction) {
	if len(s.claims)+len(s.names) == 0 { // nothing rests on the results
		return c
	}
	d := results()
	if d.partial {
		return c
	}
	var odd []string
	if len(s.claims) > 0 {
		odd = newFigures(d, e, s.text).unproven(s.claims)
	}
	odd = append(odd, s.unknownNames(d.tokens)...)
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

	text     string    // of the answer
	scale    float64   // of figures that the answer writes "in thousands"; 1: none
	relative bool      // the answer or its question speaks of time as seen from today
	asked    []float64 // figures of the question
	supposed []float64 // per cents of the question: "what if everyone gets 3 % more"
}

func newFigures(d *data, e Evidence, text string) *figures {
	f := &figures{d: d, e: e, words: map[string]bool{}, text: text, scale: scaleOf(text)}
	f.words[strconv.Itoa(e.Today.Year())] = true // what no year is said of
	for _, said := range []string{text, e.Question} {
		for _, w := range wordsOf(said) {
			f.words[stem(w)] = true
			f.words[strings.TrimPrefix(w, "un")] = true
		}
		for token := range tokensOf(said) {
			small := strings.ToLower(strings.TrimSuffix(token, "'s"))
			f.words[small], f.words["="+small] = true, true
			f.words[fiscalYear(small, e.Today)] = true
		}
	}
	for _, c := range claim.Of(e.Question) {
		if (c.Kind == claim.Figure || c.Kind == claim.Spelled) && len(f.asked) < window {
			f.asked = append(f.asked, c.Value)
		}
		if c.Unit == '%' && len(f.supposed) < maxSupposed {
			f.supposed = append(f.supposed, c.Value)
		}
	}
	if supposing.MatchString(text) {
		for _, c := range claim.Of(text) {
			if c.Unit == '%' && len(f.supposed) < maxSupposed {
				f.supposed = append(f.supposed, c.Value)
			}
		}
	}
	f.relative = slices.ContainsFunc(seenFromToday, func(w string) bool { return f.words[stem(w)] })
	for _, t := range d.tables {
		f.rows += len(t.rows)
	}
	return f
}

// unproven returns the claims that no result gives, as they are written.
func (f *figures) unproven(claims []claim.Claim) (odd []string) {
	proven := make([]bool, len(claims))
	if f.rows == 0 { // nothing was read: what an example shows is no fact
		for i, line := range strings.Split(f.text, "\n") {
			for k, c := range claims {
				proven[k] = proven[k] || c.Line == i && example.MatchString(line)
			}
		}
	}
	prove := func(i int, by func(claim.Claim) bool) {
		for _, reading := range append([]claim.Claim{claims[i]}, claims[i].Or...) {
			if !proven[i] && by(reading) {
				claims[i], proven[i] = reading, true
			}
		}
	}
	for i := range claims {
		prove(i, f.proves)
	}
	for range 2 { // what was proven by others proves more
		for i := range claims {
			prove(i, func(c claim.Claim) bool { return c.Kind == claim.Figure && f.fromStated(c, claims, proven, i) })
		}
	}
	for i, c := range claims {
		if !proven[i] && !slices.Contains(odd, c.Text) {
			odd = append(odd, c.Text)
		}
	}
	return odd
}

func (f *figures) proves(c claim.Claim) bool {
	switch c.Kind {
	case claim.Spelled:
		return true
	case claim.Exact:
		return f.d.tokens[strings.ToLower(c.Text)]
	case claim.Dated:
		return f.provesDate(c.Day)
	}
	return f.provesFigure(c)
}

func (f *figures) provesFigure(c claim.Claim) bool {
	whole := c.Value == math.Trunc(c.Value) && c.Step >= 1
	year := int(c.Value)
	if c.Unit == 'h' {
		if c.Unit = 0; f.rows == 0 { // advice: a meeting of 30 minutes
			return true
		}
	}
	switch {
	case near(f.d.numbers, c):
		return true
	case whole && c.Unit == 0 && (year <= max(f.rows, 3) || f.rows == 0 && year <= 10): // a count
		return true
	case whole && c.Unit == 0 && f.d.tails[c.Text]:
		return true
	case whole && c.Unit == 0 && year >= 1900 && year <= 2100:
		return f.hasYear(year)
	case f.scale > 1 && c.Unit != '%' && near(f.d.numbers, claim.Claim{Value: c.Value * f.scale, Step: c.Step * f.scale, About: c.About}):
		return true
	case c.Unit == '%' && (c.Value == 100 || near(f.d.numbers, claim.Claim{Value: c.Value / 100, Step: c.Step / 100, About: c.About})):
		return true
	}
	if f.derived == nil {
		f.derived = derive(f.d, f.words, f.supposed, f.e.Today)
	}
	switch c.Unit {
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
		if d.Year == year {
			return true
		}
	}
	return false
}

// fiscalYear is the year of FY2025 or FY25, and the one before for "last".
func fiscalYear(word string, today time.Time) string {
	if word == "last" || word == "previous" || word == "letztes" || word == "letzten" || word == "vorjahr" {
		return strconv.Itoa(today.Year() - 1)
	}
	year := strings.TrimPrefix(strings.TrimPrefix(word, "fy"), "'")
	if year == word || len(year) != 2 {
		return year
	}
	return "20" + year
}

var example = regexp.MustCompile(`(?i)\b(?:for example|for instance|e\.g\.|such as|zum beispiel|z\. ?b\.)`)

// supposing matches what speaks of per cents that are not yet so.
var supposing = regexp.MustCompile(`(?i)\b(?:if|would|assuming|suppose|wenn|falls|angenommen)\b|würde`)

// inScale matches what says in which unit an answer or a column of it writes its figures.
var inScale = regexp.MustCompile(`(?i)\bin (thousand|million|tausend|tsd|mio|[$€]?[km]\b)|\([$€]?\s?([km]|mio|tsd)\.?\s?[$€]?\)`)

func scaleOf(text string) float64 {
	m := inScale.FindStringSubmatch(text)
	switch {
	case m == nil:
		return 1
	case strings.HasPrefix(strings.ToLower(strings.TrimLeft(m[1]+m[2], "$€")), "m"):
		return 1e6
	}
	return 1e3
}

var seenFromToday = strings.Fields("today tomorrow yesterday week weekend fortnight day days ago monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun heute morgen gestern woche tag tage montag dienstag mittwoch donnerstag freitag samstag sonntag")

func (f *figures) provesSpan(c claim.Claim) bool {
	_, unit, _ := strings.Cut(c.Text, " ")
	in := claim.DaysIn[unit]
	for _, days := range f.derived.days {
		if gap := days/in - c.Value; gap > -1 && gap < 1 { // a begun or an ended one
			return true
		}
	}
	return near(f.derived.values, c)
}

// provesDate reports whether the date is in the data, or is near to today in a text
// that counts from it: a reader can see what "by Friday, November 27" rests on.
func (f *figures) provesDate(day claim.Date) bool {
	for known := range f.d.dates {
		if day.Matches(known) || (known.Day == 0 || known.Year == 0) && known.Matches(day) {
			return true
		}
	}
	if day.Day == 0 {
		return false
	}
	if day.Year == 0 {
		day.Year = f.e.Today.Year()
	}
	for known := range f.d.dates { // its anniversary
		if years := day.Year - f.e.Today.Year(); known.Month == day.Month && known.Day == day.Day && years >= 0 && years <= 1 {
			return true
		}
	}
	gap := day.Time().Sub(claim.DateOf(f.e.Today).Time())
	if f.relative && gap >= -7*24*time.Hour && gap <= 31*24*time.Hour {
		return true
	}
	return day.Day == 1 || day.Time().AddDate(0, 0, 1).Day() == 1 // the end of a month
}

// Bounds of what is computed of figures that the answer itself shows.
const (
	window = 12  // apart, of two
	maxRun = 100 // in a sum

	maxSupposed = 4 // per cents
)

// fromStated reports whether a figure is computed of proven figures beside it and of
// the question's: a sum of several, or a difference, sum, product, ratio or share of two.
func (f *figures) fromStated(c claim.Claim, claims []claim.Claim, proven []bool, i int) bool {
	beside := slices.Clone(f.asked)
	for j := max(0, i-window); j < min(len(claims), i+window/2+1); j++ {
		if j != i && proven[j] && (claims[j].Kind == claim.Figure || claims[j].Kind == claim.Spelled) {
			beside = append(beside, claims[j].Value)
		}
	}
	v := &derived{}
	for k, a := range beside {
		for l, b := range beside {
			if k != l {
				v.amount(a-b, a+b, a*b, a*(1+b/100), a*(1-b/100), a*b/100)
				v.ratio(a, b)
			}
		}
	}
	v.runs(claims, proven, i)
	slices.Sort(v.values)
	slices.Sort(v.percents)
	if c.Unit == '%' {
		return near(v.percents, c)
	}
	return near(v.values, c)
}

// runs adds the sums of figures that follow each other before or after the claim:
// in the text, and in the same place of their lines.
func (v *derived) runs(claims []claim.Claim, proven []bool, i int) {
	for _, step := range []int{-1, 1} {
		sum, column, last := 0.0, 0.0, 0.0
		for j := i + step; j >= max(0, i-maxRun) && j < min(len(claims), i+maxRun); j += step {
			other := claims[j]
			if other.Kind != claim.Figure || !proven[j] {
				continue
			}
			if other.Unit == claims[i].Unit {
				sum += other.Value
				v.amount(sum)
			}
			if other.Line != claims[i].Line && other.Column == claims[i].Column {
				column += other.Value
				v.amount(column)
			}
			if other.Line != claims[i].Line && other.Last {
				last += other.Value
				v.amount(last)
			}
		}
	}
}
