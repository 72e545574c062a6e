package query

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

// coverTable is the part of the query, by rarity, that a set of groups is: one
// table for each byte of a mask.
type coverTable [4][256]float32

// part is what a set of groups is of the query.
func (c *coverTable) part(mask uint32) float32 {
	return c[0][mask&255] + c[1][mask>>8&255] + c[2][mask>>16&255] + c[3][mask>>24]
}

// IsSymbol reports whether a text names something rather than asking about it.
func IsSymbol(text string) bool { return parse(text, 0).symbol }
