// Package arithmetic computes what the figures that stand beside a figure give together,
// and reads the equations that a text writes out. A figure is known only as far as it
// is written, so what is computed of it has the room that its rounding leaves.
// Start with [Beside.Give] and [Equations].
package arithmetic

import (
	"math"

	"countersign.dev/internal/guard/mention"
)

// Bounds of what is computed.
const (
	Window = 12  // figures apart, of two
	maxRun = 100 // in a sum, before and after
)

// value is a figure, and how far the true one may be from it.
type value struct{ of, off float64 }

// valueOf is a figure as it is written. One without decimals that is no amount of money
// counts something, or was chosen: it is what it says.
func valueOf(c mention.Mention) value {
	if c.Unit != '$' && c.Step >= 1 {
		return value{of: c.Value}
	}
	return value{c.Value, c.Step / 2}
}

func (a value) plus(b value) value   { return value{a.of + b.of, a.off + b.off} }
func (a value) minus(b value) value  { return value{a.of - b.of, a.off + b.off} }
func (a value) by(n float64) value   { return value{a.of * n, math.Abs(a.off * n)} }
func (a value) times(b value) value  { return value{a.of * b.of, a.spread(b, a.of*b.of)} }
func (a value) over(b value) value   { return value{a.of / b.of, a.spread(b, a.of/b.of)} }
func (a value) raised(b value) value { return a.times(value{1 + b.of/100, b.off / 100}) }

// spread is how far a product or a ratio may be off: by both parts, each of its own.
func (a value) spread(b value, of float64) float64 {
	part := 0.0
	for _, v := range []value{a, b} {
		if v.off > 0 && v.of != 0 {
			part += v.off / math.Abs(v.of)
		}
	}
	return math.Abs(of) * part
}

// Beside is a figure among those of its text.
type Beside struct {
	Mentions []mention.Mention
	Proven   []bool // of the mentions: only these are computed with
	At       int
	Asked    []float64 // figures of the question
	Totals   []float64 // of what was read: what a figure can be a share of
	Rounded  bool      // the others are computed with as they are written, and not looked up
}

// working is what was computed.
type working struct{ amounts, percents []value }

func (w *working) amount(all ...value) { w.amounts = append(w.amounts, all...) }

// ratio adds a of b in per cent, by how much a is more, and how many times.
func (w *working) ratio(a, b value) {
	if b.of != 0 {
		times := a.over(b)
		w.percents = append(w.percents, times.by(100), times.minus(value{of: 1}).by(100))
		w.amount(times)
	}
}

// Give reports whether the figures beside it give the figure, read as c: as a sum of several,
// or as a difference, sum, mean, product, ratio or share of two.
func (b Beside) Give(c mention.Mention) bool {
	w := &working{}
	near, units := b.near()
	for k, a := range near {
		for l, other := range near {
			if k != l {
				w.pair(a, other, units[k] == '%' && units[l] == '%')
			}
		}
		w.shares(a)
		for _, total := range b.Totals {
			w.ratio(a, value{of: total})
		}
	}
	w.inRange(near)
	w.weighted(b)
	w.runs(b)
	computed := w.amounts
	if c.Unit == '%' {
		computed = w.percents
	}
	below, above := c.Slack()
	for _, v := range computed { // asked once: sorting would cost more
		if of := math.Abs(v.of); of >= math.Abs(c.Value)-below-v.off && of <= math.Abs(c.Value)+above+v.off {
			return true
		}
	}
	return false
}

// near are the proven figures around it and those of the question, with their units.
func (b Beside) near() (near []value, units []byte) {
	for _, asked := range b.Asked {
		near, units = append(near, value{of: asked}), append(units, 0)
	}
	for j := max(0, b.At-Window); j < min(len(b.Mentions), b.At+Window/2+1); j++ {
		if c := b.Mentions[j]; j != b.At && b.Proven[j] && (c.Kind == mention.Figure || c.Kind == mention.Spelled) {
			near, units = append(near, b.value(c)), append(units, c.Unit)
		}
	}
	return near, units
}

// value is one of the figures beside it. That a figure of five digits is rounded can be
// seen in what is computed of it, and lets no other figure pass.
func (b Beside) value(c mention.Mention) value {
	v := valueOf(c)
	if !b.Rounded && v.off > exact*math.Abs(v.of) {
		v.off = 0
	}
	return v
}

// exact is how far a figure may be off, in parts of it, and always be computed with as it is.
const exact = 5e-5

// pair adds what two figures give. Two per cents give points.
func (w *working) pair(a, b value, percents bool) {
	part := a.times(b).by(0.01)
	w.amount(a.minus(b), a.plus(b), a.plus(b).by(0.5), a.times(b), a.raised(b), a.raised(b.by(-1)), part)
	w.ratio(a, b)
	if percents {
		w.percents = append(w.percents, a.plus(b), a.minus(b))
	}
}

// shares adds a part of an amount for each of a few, and what is a quarter's, a month's, a
// week's, a day's or an hour's of a year's, and a year's of these.
func (w *working) shares(amount value) {
	if amount.of < 100 {
		return
	}
	for n := 2.0; n <= 12; n++ {
		w.amount(amount.by(1 / n))
	}
	for _, n := range []float64{1.0 / 26, 1.0 / 52, 1.0 / 260, 1.0 / 365, 1.0 / 2080, 12, 4} {
		w.amount(amount.by(n))
	}
}

// inRange adds how far figures are between two that follow each other, in per cent: a
// salary in its grade's range.
func (w *working) inRange(near []value) {
	for k := 1; k < len(near); k++ {
		low, high := near[k-1], near[k]
		if low.of < 100 || high.of <= low.of {
			continue
		}
		for _, a := range near {
			if a.of > low.of && a.of < high.of {
				w.percents = append(w.percents, value{of: 100 * (a.of - low.of) / (high.of - low.of)})
			}
		}
	}
}

// weighted adds the sum of the amounts of lines, each times the per cent of its line.
func (w *working) weighted(b Beside) {
	sum, line, amount := value{}, -1, value{}
	from, to := b.around()
	for i := from; i < to; i++ {
		c := b.Mentions[i]
		if c.Kind != mention.Figure || !b.Proven[i] {
			continue
		}
		switch {
		case c.Unit != '%' && c.Value >= 100:
			line, amount = c.Line, b.value(c)
		case c.Unit == '%' && c.Line == line:
			sum, line = sum.plus(amount.times(b.value(c)).by(0.01)), -1
			w.amount(sum)
		}
	}
}

func (b Beside) around() (from, to int) {
	return max(0, b.At-maxRun), min(len(b.Mentions), b.At+maxRun)
}

// runs adds the sums of figures that follow each other before or after it: in the text,
// and in the same place of their lines; and what they lack, each, to a figure of the
// question.
func (w *working) runs(b Beside) {
	here := b.Mentions[b.At]
	from, to := b.around()
	for _, step := range []int{-1, 1} {
		sum, column, last, n := 0.0, 0.0, 0.0, 0.0
		for j := b.At + step; j >= from && j < to; j += step {
			other := b.Mentions[j]
			if other.Kind != mention.Figure || !b.Proven[j] {
				continue
			}
			if other.Unit == here.Unit {
				sum, n = sum+other.Value, n+1
				w.amount(value{of: sum})
				for _, goal := range b.Asked {
					w.amount(value{of: n*goal - sum})
				}
			}
			if other.Line != here.Line && other.Column == here.Column {
				column += other.Value
				w.amount(value{of: column})
			}
			if other.Line != here.Line && other.Last {
				last += other.Value
				w.amount(value{of: last})
			}
		}
	}
}
