package guard

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"countersign.dev/internal/guard/arithmetic"
	"countersign.dev/internal/guard/mention"
)

// Bounds of what is computed of figures that the answer itself shows.
const (
	maxSupposed = 4 // per cents
	maxTotals   = 24
	maxSteps    = 5 // of what is computed of what was computed
)

// fromStated reports whether a figure is computed of proven figures beside it and of
// the question's, or is the time to or between proven dates.
func (f *figures) fromStated(c mention.Mention, mentions []mention.Mention, proven []bool, i int) bool {
	span := spanWith(c, mentions, i)
	if c.Unit == 'd' && (f.spanStated(span, mentions, proven) || f.provesSpan(span)) || f.isAge(c, mentions, proven) {
		return true
	}
	frame := f.frame(c)
	b := arithmetic.Beside{Mentions: mentions, Proven: proven, At: i, Asked: f.asked, Totals: f.totals(), Rounded: frame.IsSupposed() || frame.IsRate()}
	return b.Give(c) || f.fromEquation(c, mentions, proven)
}

// spanWith is a time together with the larger unit before it, two words away at most: 7
// years and 5 months.
func spanWith(c mention.Mention, mentions []mention.Mention, i int) mention.Mention {
	if i == 0 || mentions[i-1].Unit != 'd' || mentions[i-1].Line != c.Line || c.At-mentions[i-1].To > 2 {
		return c
	}
	_, unit, _ := strings.Cut(c.Text, " ")
	_, larger, _ := strings.Cut(mentions[i-1].Text, " ")
	if mention.DaysIn[larger] > mention.DaysIn[unit] {
		c.Value += mentions[i-1].Value * mention.DaysIn[larger] / mention.DaysIn[unit]
	}
	return c
}

// fromEquation reports whether a figure is the result of an equation that the answer writes
// out, holds, and has operands that are proven; or is one that every calendar has, in such
// an equation.
func (f *figures) fromEquation(c mention.Mention, mentions []mention.Mention, proven []bool) bool {
	if f.equations == nil {
		f.equations = append([]arithmetic.Equation{}, arithmetic.Equations(f.text)...)
	}
	isKnown := func(operand float64) bool {
		return arithmetic.IsCalendar(operand) || slices.Contains(f.asked, operand) || known(operand, mentions, proven)
	}
	return slices.ContainsFunc(f.equations, func(e arithmetic.Equation) bool {
		isPart := c.Value == e.Result.Value || arithmetic.IsCalendar(c.Value) && slices.Contains(e.Operands, c.Value)
		return isPart && !slices.ContainsFunc(e.Operands, func(operand float64) bool { return !isKnown(operand) })
	})
}

// known reports whether a proven mention has a value.
func known(value float64, mentions []mention.Mention, proven []bool) bool {
	for i, m := range mentions {
		if proven[i] && m.Kind != mention.Dated && m.Value == value {
			return true
		}
	}
	return false
}

// isAge reports whether a mention with a decimal is how many years or months a proven date
// of its line is ago, or ahead: a column of tables.
func (f *figures) isAge(c mention.Mention, mentions []mention.Mention, proven []bool) bool {
	if c.Unit != 0 || c.Step >= 1 || c.Value >= 100 {
		return false
	}
	for i, other := range mentions {
		if other.Line != c.Line || other.Kind != mention.Dated || !proven[i] || other.Day.Year == 0 {
			continue
		}
		days := math.Abs(f.e.Today.Sub(other.Day.Time()).Hours() / 24)
		if math.Abs(days/mention.DaysIn["year"]-c.Value) <= c.Step || math.Abs(days/mention.DaysIn["month"]-c.Value) <= c.Step {
			return true
		}
	}
	return false
}

// totals are the sums of the columns that were read, and the figures of results that are no
// list: what a stated figure can be a share of.
func (f *figures) totals() []float64 {
	if f.sums != nil {
		return f.sums
	}
	f.sums = []float64{}
	for _, place := range sortedKeys(f.d.tables) {
		if len(f.d.tables[place].rows) > maxSorted {
			continue
		}
		t := tableOf(f.d.tables[place].rows)
		for _, key := range sortedKeys(t.nums) {
			if sum := total(t.nums[key]); sum > 0 && len(f.sums) < maxTotals {
				f.sums = append(f.sums, sum)
			}
		}
	}
	return f.sums
}

func (f *figures) provesSpan(c mention.Mention) bool {
	isThat := func(days float64) bool { return isSpan(c, days) }
	return slices.ContainsFunc(f.derived.days, isThat) || slices.ContainsFunc(mention.Calendar(f.e.Today), isThat) || near(f.derived.values, c)
}

// spanStated reports whether a mention is as long as from one proven date of the
// answer to another, or to today.
func (f *figures) spanStated(c mention.Mention, mentions []mention.Mention, proven []bool) bool {
	dates := []mention.Date{mention.DateOf(f.e.Today)}
	for i, other := range mentions {
		if day := other.Day; other.Kind == mention.Dated && proven[i] && day.Day > 0 {
			day.Year = cmp.Or(day.Year, f.e.Today.Year())
			if slices.ContainsFunc(dates, func(known mention.Date) bool {
				return isSpan(c, math.Abs(day.Time().Sub(known.Time()).Hours()/24))
			}) {
				return true
			}
			if len(dates) < arithmetic.Window {
				dates = append(dates, day)
			}
		}
	}
	return false
}
