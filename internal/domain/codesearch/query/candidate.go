package query

import "cmp"

// candidate is a chunk while the signals order it.
type candidate struct {
	Hit
	file  int
	score float64
}

func (c *candidate) multiply(signal, detail string, factor float64) {
	if factor == 1 {
		return
	}
	c.score *= factor
	if c.Why != nil {
		c.Why = append(c.Why, reason(signal, detail, factor))
	}
}

// add adds what a signal is worth.
func (c *candidate) add(signal, detail string, value float64) {
	if value == 0 {
		return
	}
	c.score += value
	if c.Why != nil {
		c.Why = append(c.Why, reason(signal, detail, value))
	}
}

// better orders candidates; equal ones by their place, so that pages agree.
func better(a, b *candidate) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.order, b.order))
}
