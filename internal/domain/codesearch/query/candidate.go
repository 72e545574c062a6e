package query

import (
	"cmp"
	"slices"

	"countersign.dev/internal/domain/codesearch/tally"
)

// candidates is how many chunks become places at most, beside those that define a name of the query which is of several
// words or written as names are.
const candidates = 400

// greatest keeps the chunks with the greatest scores of those that it is offered.
type greatest struct {
	most  int
	least float32 // what is less than this is not among them; 0: not known
	kept  []scored
}

// scored is a chunk with the score that decides whether it becomes a candidate.
type scored struct {
	score float32
	match
}

// match is a chunk with what it has of the query.
type match struct {
	chunkID
	tally.Match
	defines float64 // what it is worth that it defines a name of the query, in parts of the best score
}

// before reports whether a chunk comes before another: of equal scores the first one does.
func (s scored) before(other scored) bool {
	if s.score != other.score {
		return s.score > other.score
	}
	return s.chunkID < other.chunkID
}

// spare is how many times as many as are wanted are kept until they are reduced to these: to put each
// into its order would take longer.
const spare = 2

func (g *greatest) offer(score float32, m match) {
	if g.kept = append(g.kept, scored{score, m}); len(g.kept) == spare*g.most {
		g.reduce()
	}
}

// reduce keeps no more than are wanted.
func (g *greatest) reduce() {
	moveFirst(g.kept, g.most)
	g.kept = g.kept[:g.most]
	g.least = slices.MinFunc(g.kept, func(a, b scored) int { return cmp.Compare(a.score, b.score) }).score
}

// take returns what was kept, in any order.
func (g *greatest) take() []scored {
	if len(g.kept) > g.most {
		g.reduce()
	}
	return g.kept
}

// moveFirst moves the first n in their order to the front, in any order (Hoare's selection).
func moveFirst(all []scored, n int) {
	for len(all) > 1 {
		pivot, i, j := middle(all), 0, len(all)-1
		for i <= j {
			for all[i].before(pivot) {
				i++
			}
			for pivot.before(all[j]) {
				j--
			}
			if i <= j {
				all[i], all[j] = all[j], all[i]
				i, j = i+1, j-1
			}
		}
		switch { // what is between the two is the pivot
		case n <= j:
			all = all[:j+1]
		case n > i:
			all, n = all[i:], n-i
		default:
			return
		}
	}
}

// middle is the middle one of the first, the last and the one between.
func middle(all []scored) scored {
	three := [3]scored{all[0], all[len(all)/2], all[len(all)-1]}
	slices.SortFunc(three[:], func(a, b scored) int {
		if a.before(b) {
			return -1
		}
		return 1
	})
	return three[1]
}

// candidate is a chunk while the signals order it.
type candidate struct {
	Hit
	match
	file   int
	score  float64
	saying float64 // how much it may have of a phrase of the query
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
