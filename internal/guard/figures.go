package guard

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"countersign.dev/internal/guard/arithmetic"
	"countersign.dev/internal/guard/mention"
	"countersign.dev/internal/guard/wording"
	"countersign.dev/internal/pattern"
)

// What begins the lines about figures and names that are in no result.
const (
	Invented   = "Not from the data: "
	Calculated = "Calculated by the model and not checked: "
)

// maxShown bounds how many figures and names a line lists.
const maxShown = 8

// ofTheModel returns the line about figures and names that are in no result, and the one
// about figures that the answer gives for what is not so, or for each of something.
func ofTheModel(s stated, e Evidence, results func() *data) []Correction {
	if len(s.mentions)+len(s.names) == 0 { // the answer states nothing to compare
		return nil
	}
	d := results()
	if d.partial {
		return nil
	}
	var odd, own []string
	if len(s.mentions) > 0 {
		odd, own = newFigures(d, e, s.text).unproven(s.mentions)
	}
	odd = append(odd, s.unknownNames(d.tokens)...)
	verb := "are"
	if len(odd) == 1 {
		verb = "is"
	}
	return []Correction{listed(OfTheModel, Invented, odd, " "+verb+" the model's own"), listed(Computed, Calculated, own, "")}
}

// listed is the line that lists some words of the answer; the zero one for none.
func listed(kind Kind, begin string, about []string, end string) (c Correction) {
	if len(about) == 0 {
		return c
	}
	more := ""
	if n := len(about) - maxShown; n > 0 {
		about, more = about[:maxShown], fmt.Sprintf(" and %d more", n)
	}
	return Correction{kind, begin + strings.Join(about, ", ") + more + end + ".", about}
}

// figures decides which mentions are proven.
type figures struct {
	d       *data
	e       Evidence
	words   map[string]bool
	derived *derived // nil until a mention needs it
	rows    int

	text     string         // of the answer
	scale    float64        // of figures that the answer writes "in thousands"; 1: none
	relative bool           // the answer or its question speaks of time as seen from today
	asked    []float64      // figures of the question
	supposed []float64      // per cents of the question: "what if everyone gets 3 % more"
	whatIf   bool           // the answer speaks of what is not so
	between  []mention.Date // days of the question, in order
	framed   *wording.Text  // nil until a mention needs it
	wide     *derived       // so
	sums     []float64      // so

	equations []arithmetic.Equation // that the answer writes out; nil until a mention needs them
}

func newFigures(d *data, e Evidence, text string) *figures {
	f := &figures{d: d, e: e, words: map[string]bool{}, text: text, scale: scaleOf(text)}
	f.words[strconv.Itoa(e.Today.Year())] = true // what no year is said of
	for _, said := range []string{text, e.Question} {
		for _, w := range wording.Words(said) {
			f.words[wording.Stem(w)] = true
			f.words[strings.TrimPrefix(w, "un")] = true
		}
		for token := range wording.Tokens(said) {
			small := strings.ToLower(strings.TrimSuffix(token, "'s"))
			f.words[small], f.words["="+small] = true, true
			f.words[fiscalYear(small, e.Today)] = true
		}
	}
	for _, c := range mention.Of(e.Question) {
		if day := c.Day; c.Kind == mention.Dated && day.Day > 0 {
			day.Year = cmp.Or(day.Year, e.Today.Year())
			f.between = append(f.between, day)
		}
		if (c.Kind == mention.Figure || c.Kind == mention.Spelled) && len(f.asked) < arithmetic.Window {
			f.asked = append(f.asked, c.Value)
		}
		if c.Unit == '%' && len(f.supposed) < maxSupposed {
			f.supposed = append(f.supposed, c.Value)
		}
	}
	for _, m := range inWord.FindAllStringSubmatch(e.Question, arithmetic.Window) {
		if n, err := strconv.Atoi(m[1]); err == nil {
			f.asked = append(f.asked, float64(n))
		}
	}
	slices.SortFunc(f.between, func(a, b mention.Date) int { return a.Time().Compare(b.Time()) })
	if f.whatIf = supposing.MatchString(text); f.whatIf {
		for _, c := range mention.Of(text) {
			if c.Unit == '%' && len(f.supposed) < maxSupposed {
				f.supposed = append(f.supposed, c.Value)
			}
		}
	}
	f.relative = slices.ContainsFunc(seenFromToday, func(w string) bool { return f.words[wording.Stem(w)] })
	for _, t := range d.tables {
		f.rows += len(t.rows)
	}
	return f
}

// inWord matches a figure that is the end of a word: p95.
var inWord = pattern.New(`\b[A-Za-z]{1,3}(\d{1,4})\b`)

// unproven returns the mentions that no result gives, as they are written: those that the
// answer states as facts, and those that it calculates of what is not so.
func (f *figures) unproven(mentions []mention.Mention) (odd, own []string) {
	proven := make([]bool, len(mentions))
	prove := func(i int, by func(mention.Mention) bool) {
		for _, reading := range append([]mention.Mention{mentions[i]}, mentions[i].Or...) {
			if !proven[i] && by(reading) {
				mentions[i], proven[i] = reading, true
			}
		}
	}
	for i := range mentions {
		prove(i, f.proves)
	}
	for i := range mentions {
		prove(i, func(c mention.Mention) bool { return c.Kind == mention.Dated && f.isOffset(c.Day, mentions) })
	}
	for i := range mentions {
		prove(i, f.isAssumed)
	}
	for step, before := 0, -1; step < maxSteps && before != count(proven); step++ { // each uses what the one before has proven
		before = count(proven)
		for i := range mentions {
			prove(i, func(c mention.Mention) bool { return c.Kind == mention.Figure && f.fromStated(c, mentions, proven, i) })
		}
	}
	for i, c := range mentions {
		switch {
		case proven[i] || slices.Contains(odd, c.Text) || slices.Contains(own, c.Text):
		case f.isAsserted(c):
			odd = append(odd, c.Text)
		case f.isCalculated(c):
			own = append(own, c.Text)
		}
	}
	return odd, own
}

func count(proven []bool) (n int) {
	for _, is := range proven {
		if is {
			n++
		}
	}
	return n
}

func (f *figures) proves(c mention.Mention) bool {
	switch c.Kind {
	case mention.Spelled:
		return true
	case mention.Exact:
		return f.d.tokens[strings.ToLower(c.Text)]
	case mention.Dated:
		return f.provesDate(c.Day)
	}
	return f.provesFigure(c)
}

func (f *figures) provesFigure(c mention.Mention) bool {
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
	case whole && c.Unit == 0 && f.isLeftOut(c.Value):
		return true
	case whole && c.Unit == 0 && f.d.tails[c.Text]:
		return true
	case whole && c.Unit == 0 && year >= 1900 && year <= 2100:
		return f.hasYear(year) || f.isMissing(year, c.Line)
	case f.scale > 1 && c.Unit != '%' && near(f.d.numbers, mention.Mention{Value: c.Value * f.scale, Step: c.Step * f.scale, About: c.About}):
		return true
	case c.Unit == '%' && (slices.Contains(f.asked, c.Value) || slices.Contains(f.asked, 100-c.Value)): // and the rest
		return true
	case c.Unit == '%' && (c.Value == 100 || near(f.d.numbers, mention.Mention{Value: c.Value / 100, Step: c.Step / 100, About: c.About})):
		return true
	}
	if f.derived == nil {
		f.derived = derive(f.d, f.scope())
	}
	switch c.Unit {
	case '%':
		return near(f.derived.percents, c)
	case 'd':
		return f.provesSpan(c)
	}
	return near(f.derived.values, c)
}

// isLeftOut reports whether so many rows are missing in a page to a number of the results: of
// how many there are.
func (f *figures) isLeftOut(rows float64) bool {
	return slices.ContainsFunc(f.d.returned, func(returned int) bool {
		return near(f.d.numbers, mention.Mention{Value: rows + float64(returned), Step: 1})
	})
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

// isMissing reports whether a line says of a year between those of the data that there is
// nothing: "no one joined in 2017".
func (f *figures) isMissing(year, line int) bool {
	before, after := false, false
	for d := range f.d.dates {
		before, after = before || d.Year > 0 && d.Year < year, after || d.Year > year
	}
	lines := strings.Split(f.text, "\n")
	return before && after && line < len(lines) && absent.MatchString(lines[line])
}

var absent = pattern.New(`(?i)\b(?:nobody|no one|none|nothing|no|niemand|kein\pL*)\b`)

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

// supposing matches what speaks of per cents that are not yet so.
var supposing = pattern.New(`(?i)\b(?:if|would|assuming|suppose|wenn|falls|angenommen)\b|würde`)

// inScale matches what says in which unit an answer or a column of it writes its figures.
var inScale = pattern.New(`(?i)\bin (thousand|million|tausend|tsd|mio|[$€]?[km]\b)|\([$€]?\s?([km]|mio|tsd)\.?\s?[$€]?\)`)

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

// provesDate reports whether the date is in the data, or is near to today in a text
// that counts from it: a reader can see what "by Friday, November 27" rests on.
func (f *figures) provesDate(day mention.Date) bool {
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
	if len(f.between) > 1 && f.between[0].Time().Before(day.Time()) && day.Time().Before(f.between[len(f.between)-1].Time()) {
		return true
	}
	gap := day.Time().Sub(mention.DateOf(f.e.Today).Time())
	if f.relative && gap >= -7*24*time.Hour && gap <= 31*24*time.Hour {
		return true
	}
	if day.Month == 12 && day.Day >= 24 && day.Day <= 26 && (f.words[wording.Stem("christmas")] || f.words[wording.Stem("weihnachten")]) {
		return true
	}
	return day.Day == 1 || day.Time().AddDate(0, 0, 1).Day() == 1 // the end of a month
}
