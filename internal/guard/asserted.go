package guard

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"countersign.dev/internal/guard/mention"
	"countersign.dev/internal/guard/wording"
)

// isAsserted reports whether the answer states as a fact what no result gives. What it
// supposes, projects or gives as an example is no fact, nor is what it says of the world
// when nothing was read; a rate is the answer's own arithmetic; and a small number that
// counts nothing can be any: of a level, a version, a line.
func (f *figures) isAsserted(c mention.Mention) bool {
	frame := f.frame(c)
	switch {
	case c.Kind == mention.Exact:
		return f.rows > 0 || !frame.IsSupposed() && !frame.IsVague()
	case frame.IsSupposed() || frame.IsVague() || c.Unit == 'h': // "try again in 10 minutes"
		return false
	case f.rows == 0 && !frame.IsOfSomebody():
		return false
	case c.Kind == mention.Dated:
		return !frame.IsHoliday()
	case c.Unit == 0 && c.Value < 100 && frame.IsPeriod() && len(f.d.dates) > 1: // years, in a column of them
		return false
	case c.Unit != '%' && c.Unit != 'd' && frame.IsRate():
		return false
	}
	if frame.IsAggregate() && f.provesWidely(c) {
		return false
	}
	return f.scale > 1 || !isSmall(c) || frame.IsCount()
}

// isCalculated reports whether a figure that is no fact is calculated of the rows that were
// read: a supposition, a projection or a rate. Advice, examples and numbers that count
// nothing are not.
func (f *figures) isCalculated(c mention.Mention) bool {
	frame := f.frame(c)
	return f.rows > 0 && c.Kind == mention.Figure && (frame.IsSupposed() || frame.IsRate()) && !frame.IsVague() && c.Unit != 'h' && c.Unit != 'd' && !isSmall(c)
}

func (f *figures) frame(c mention.Mention) wording.Frame {
	if f.framed == nil {
		f.framed = wording.Framed(f.text, f.e.Question)
	}
	return f.framed.Of(c)
}

// isAssumed reports whether the answer says that it only assumes a figure: "assuming 52 paid
// weeks". What it computes with it is compared like everything else.
func (f *figures) isAssumed(c mention.Mention) bool {
	return c.Kind == mention.Figure && f.frame(c).IsAssumed()
}

// provesWidely reports whether a figure that is said to be of several rows is one of those
// that a line or a paragraph names, or of the highest or lowest ones.
func (f *figures) provesWidely(c mention.Mention) bool {
	if f.wide == nil {
		s := f.scope()
		s.lines = linesOf(f.text)
		f.wide = derive(f.d, s)
	}
	if c.Unit == '%' {
		return near(f.wide.percents, c)
	}
	return near(f.wide.values, c)
}

// linesOf are the tokens of each line and each paragraph of the answer, as [table.named] asks
// for them.
func linesOf(text string) (sets []map[string]bool) {
	for _, parts := range [][]string{strings.Split(text, "\n"), strings.Split(text, "\n\n")} {
		for _, part := range parts[:min(len(parts), maxNamed)] {
			said := map[string]bool{}
			for token := range wording.Tokens(part) {
				said["="+strings.ToLower(strings.TrimSuffix(token, "'s"))] = true
			}
			sets = append(sets, said)
		}
	}
	return sets
}

// isSmall reports whether a figure is a bare number below a thousand.
func isSmall(c mention.Mention) bool {
	return c.Unit == 0 && c.Value < 1000 && c.Value == math.Trunc(c.Value)
}

// isOffset reports whether a day is as far from a known one as the answer or its question
// says: 30 days from today, ten working days after the invoice.
func (f *figures) isOffset(day mention.Date, mentions []mention.Mention) bool {
	if day.Day == 0 {
		return false
	}
	day.Year = cmp.Or(day.Year, f.e.Today.Year())
	for _, c := range slices.Concat(mentions, mention.Of(f.e.Question)) {
		if c.Unit != 'd' {
			continue
		}
		for known := range f.d.dates {
			gap := math.Abs(day.Time().Sub(known.Time()).Hours() / 24)
			if known.Day > 0 && known.Year > 0 && (isSpan(c, gap) || isSpan(c, gap*5/7)) {
				return true
			}
		}
	}
	return false
}

func (f *figures) scope() scope {
	return scope{words: f.words, supposed: f.supposed, whatIf: f.whatIf, today: f.e.Today}
}

// isSpan reports whether a mention is as long as so many days.
func isSpan(c mention.Mention, days float64) bool {
	_, unit, _ := strings.Cut(c.Text, " ")
	return math.Abs(days/mention.DaysIn[unit]-c.Value) < 1 // a begun or an ended one
}
