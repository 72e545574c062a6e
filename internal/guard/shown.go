package guard

import (
	"math"
	"slices"

	"countersign.dev/internal/guard/mention"
)

// Bounds of what is computed of figures that the answer itself shows.
const (
	window = 12  // apart, of two
	maxRun = 100 // in a sum, before and after

	maxSupposed = 4 // per cents
	maxTotals   = 24
	maxSteps    = 3 // of what is computed of what was computed
)

// fromStated reports whether a figure is computed of proven figures beside it and of
// the question's: a sum of several, or a difference, sum, product, ratio or share of two.
func (f *figures) fromStated(c mention.Mention, mentions []mention.Mention, proven []bool, i int) bool {
	from, to := max(0, i-maxRun), min(len(mentions), i+maxRun)
	around, known := mentions[from:to], proven[from:to]
	if c.Unit == 'd' && f.spanStated(c, around, known) || f.isAge(c, around, known) {
		return true
	}
	beside := slices.Clone(f.asked)
	for j := max(0, i-window); j < min(len(mentions), i+window/2+1); j++ {
		if j != i && proven[j] && (mentions[j].Kind == mention.Figure || mentions[j].Kind == mention.Spelled) {
			beside = append(beside, mentions[j].Value)
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
		v.shares(a)
		for _, total := range f.totals() {
			v.ratio(a, total)
		}
	}
	v.inRange(beside)
	v.weighted(around, known)
	v.runs(mentions, proven, i, f.asked)
	computed := v.values
	if c.Unit == '%' {
		computed = v.percents
	}
	below, above := c.Slack()
	return slices.ContainsFunc(computed, func(value float64) bool { // asked once: sorting would cost more
		return value >= abs(c.Value)-below && value <= abs(c.Value)+above
	})
}

// shares adds a part of an amount for each of a few, and what is a month's, a quarter's
// or a week's of a year's, and a year's of these.
func (v *derived) shares(amount float64) {
	if amount < 100 {
		return
	}
	for n := 2.0; n <= 12; n++ {
		v.amount(amount / n)
	}
	v.amount(amount/26, amount/52, amount*12, amount*4)
}

// inRange adds how far figures are between two that follow each other, in per cent: a
// salary in its grade's range.
func (v *derived) inRange(beside []float64) {
	for k := 1; k < len(beside); k++ {
		low, high := beside[k-1], beside[k]
		if low < 100 || high <= low {
			continue
		}
		for _, a := range beside {
			if a > low && a < high {
				v.percents = append(v.percents, 100*(a-low)/(high-low))
			}
		}
	}
}

// weighted adds the sum of the amounts of lines, each times the per cent of its line.
func (v *derived) weighted(mentions []mention.Mention, proven []bool) {
	sum, line, amount := 0.0, -1, 0.0
	for i, c := range mentions {
		if c.Kind != mention.Figure || !proven[i] {
			continue
		}
		switch {
		case c.Unit != '%' && c.Value >= 100:
			line, amount = c.Line, c.Value
		case c.Unit == '%' && c.Line == line:
			sum, line = sum+amount*c.Value/100, -1
			v.amount(sum)
		}
	}
}

// runs adds the sums of figures that follow each other before or after the mention:
// in the text, and in the same place of their lines; and what they lack, each, to a figure
// of the question.
func (v *derived) runs(mentions []mention.Mention, proven []bool, i int, asked []float64) {
	for _, step := range []int{-1, 1} {
		sum, column, last, n := 0.0, 0.0, 0.0, 0.0
		for j := i + step; j >= max(0, i-maxRun) && j < min(len(mentions), i+maxRun); j += step {
			other := mentions[j]
			if other.Kind != mention.Figure || !proven[j] {
				continue
			}
			if other.Unit == mentions[i].Unit {
				sum, n = sum+other.Value, n+1
				v.amount(sum)
				for _, goal := range asked {
					v.amount(n*goal - sum)
				}
			}
			if other.Line != mentions[i].Line && other.Column == mentions[i].Column {
				column += other.Value
				v.amount(column)
			}
			if other.Line != mentions[i].Line && other.Last {
				last += other.Value
				v.amount(last)
			}
		}
	}
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

func total(column []float64) (sum float64) {
	for _, value := range column {
		if !math.IsNaN(value) {
			sum += value
		}
	}
	return sum
}
