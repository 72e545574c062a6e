package query

import (
	"math"

	"countersign.dev/internal/domain/codesearch/words"
)

// Plan is a query that is understood and weighed: what candidates are found by. Its
// ranking is the same for candidates from wherever they are.
type Plan struct {
	Request
	parsed
	chunks  int
	idf     []float64 // by group
	nowhere []bool    // by group: no chunk has it
	total   float64   // of the idfs with the groups' weights
	covered coverTable
	more    bool // see More
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

// More reports, after Rank, whether more chunks have words of the query than become places.
func (p *Plan) More() bool { return p.more }

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

// HasWords reports whether a text has a word that can be sought: numbers, signs and single letters are in no index.
func HasWords(text string) bool { return len(parse(text, 0).groups) > 0 }

// IsSymbol reports whether a text names something rather than asking about it.
func IsSymbol(text string) bool { return parse(text, 0).symbol }

// weigh computes how rare each group is, over all shards.
func (p *Plan) weigh(stats Statistics) {
	p.idf, p.nowhere = make([]float64, len(p.groups)), make([]bool, len(p.groups))
	for i, g := range p.groups {
		n := 0
		for _, t := range g.terms {
			if t.weight >= 1 {
				n += stats.Frequency(t.text)
			}
		}
		p.idf[i] = Rarity(n, p.chunks)
		if n == 0 { // a word that is nowhere says less than a rare one
			p.idf[i], p.nowhere[i] = math.Log(1+float64(p.chunks)/10), true
		}
		p.total += p.idf[i] * g.weight
	}
	p.covered = newCoverTable(p)
}

// Rarity is the inverse document frequency of what n chunks of all have.
func Rarity(n, all int) float64 {
	return math.Log(1 + (float64(all-min(n, all))+0.5)/(float64(n)+0.5))
}

func newCoverTable(p *Plan) (table coverTable) {
	for i, g := range p.groups {
		table[i/8][1<<(i%8)] = float32(p.idf[i] * g.weight / p.total)
	}
	for i := range table {
		for set := 1; set < 256; set++ {
			low := set & -set
			if set != low {
				table[i][set] = table[i][low] + table[i][set-low]
			}
		}
	}
	return table
}
