package query

import "countersign.dev/internal/domain/codesearch/words"

// Plan is a query that is understood and weighed: what candidates are found by. Its
// ranking is the same for candidates from wherever they are.
type Plan struct {
	Request
	parsed
	chunks  int
	idf     []float64 // by group
	total   float64   // of the idfs with the groups' weights
	covered coverTable
}

// NewPlan parses a query, adds related words and computes how rare each word is. It
// asks only for statistics, and for the same ones when it is repeated.
func NewPlan(r Request, stats Statistics) *Plan {
	p := &Plan{Request: r, parsed: parse(r.Text, r.Without), chunks: stats.Chunks()}
	if p.Empty() {
		return p
	}
	if r.Without&Expansion == 0 {
		p.expand(stats)
	}
	p.weigh(stats)
	return p
}

// Empty reports whether nothing can be found.
func (p *Plan) Empty() bool { return p.chunks == 0 || len(p.groups) == 0 }

// Term is a word that counts.
type Term struct {
	Text   string
	Group  int     // the words of one group count together
	Weight float64 // of the word in its group, and of the group by how rare it is
}

// Terms are the words that count.
func (p *Plan) Terms() (all []Term) {
	for i, g := range p.groups {
		for _, t := range g.terms {
			all = append(all, Term{t.text, i, g.weight * p.idf[i] * t.weight})
		}
	}
	return all
}

// Names are the definitions that the query may mean, and the types that these belong to, as
// [words.Whole] writes them, with their weights.
func (p *Plan) Names() map[string]float64 {
	all := map[string]float64{}
	if p.Without&Definitions != 0 {
		return all
	}
	for _, n := range p.names {
		all[n.whole] = max(all[n.whole], n.weight)
		if n.owner != "" {
			owner := words.Whole(n.owner)
			all[owner] = max(all[owner], n.weight/2)
		}
	}
	return all
}

// coverTable is the part of the query, by rarity, that a set of groups is: one
// table for each byte of a mask.
type coverTable [4][256]float32

// part is what a set of groups is of the query.
func (c *coverTable) part(mask uint32) float32 {
	return c[0][mask&255] + c[1][mask>>8&255] + c[2][mask>>16&255] + c[3][mask>>24]
}

// IsSymbol reports whether a text names something rather than asking about it.
func IsSymbol(text string) bool { return parse(text, 0).symbol }
