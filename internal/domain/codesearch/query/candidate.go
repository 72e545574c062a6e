package query

// candidate is a chunk while the signals order it.
type candidate struct {
	Hit
	file  int
	score float64
}

type fileKey struct{ shard, file int }

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
