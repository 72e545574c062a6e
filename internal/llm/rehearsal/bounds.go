package rehearsal

import (
	"slices"
	"strings"
)

// bound is a number that a column of the rows must lie beyond: the input that
// narrows the list lets the number itself pass.
type bound struct {
	column string
	value  float64
}

// side is a way to bound a number: the phrases before and after it, and the
// words that name such an input.
type side struct {
	before, after string
	edges         []string
}

var sides = []side{{"above", "ormore", []string{"min", "minimum", "least"}}, {"below", "orless", []string{"max", "maximum", "most"}}}

// comparisons fills "over 200k" and "at most 500" into the inputs of a list
// that bound a number.
func (r *reading) comparisons() {
	if r.f.writes() {
		return
	}
	for i := range r.part {
		low := lowsFrom(r.part, i)
		for _, s := range sides {
			if n := r.p.en.phrase(s.before, low); n > 0 {
				r.compare(i, n, s.edges)
			}
			if n := r.p.en.phrase(s.after, lowsFrom(r.part, i+1)); n > 0 && r.compare(i, 0, s.edges) {
				r.give(i+1, n, 0)
			}
		}
		if r.lowAt(i) == "between" && i+3 < len(r.part) && r.lowAt(i+2) == "and" && r.part[i+3].kind == number {
			r.between(i)
		}
	}
}

// compare bounds by the number behind the n tokens from i.
func (r *reading) compare(i, n int, edges []string) bool {
	at := i + n
	if at >= len(r.part) || r.part[at].kind != number || r.uses[at] != unread || r.part[at].amount.percent {
		return false
	}
	p := r.edge(edges)
	if p == nil {
		return false
	}
	a := r.part[at].amount
	r.give(i, n+1, 3)
	r.args[p.name] = wholeOr(a.value, p.typ)
	if r.p.en.says("strictly", lows(r.part[i:at])) {
		r.beyond = append(r.beyond, bound{columnOf(p, edges), a.value})
	}
	return true
}

func (r *reading) between(i int) {
	low, high := r.edge(sides[0].edges), r.edge(sides[1].edges)
	if low == nil || high == nil || r.part[i+1].kind != number {
		return
	}
	r.args[low.name], r.args[high.name] = wholeOr(r.part[i+1].amount.value, low.typ), wholeOr(r.part[i+3].amount.value, high.typ)
	r.give(i, 4, 3)
}

// edge is the one number input that has such a word in its name.
func (r *reading) edge(edges []string) *property {
	var fit *property
	for _, p := range r.f.props {
		if _, taken := r.args[p.name]; taken || !p.isNumber() || !slices.ContainsFunc(p.words, func(w string) bool { return slices.Contains(edges, w) }) {
			continue
		}
		if fit != nil {
			return nil
		}
		fit = p
	}
	return fit
}

// columnOf is the column that the input bounds: "value" of min_value.
func columnOf(p *property, edges []string) string {
	words := slices.DeleteFunc(slices.Clone(p.words), func(w string) bool { return slices.Contains(edges, w) })
	return strings.Join(words, "_")
}

// beyondBounds reports whether a row lies beyond every bound. One without the number
// stays: the list has judged it.
func (r *reading) beyondBounds(one row) bool {
	for _, b := range r.beyond {
		if v, ok := numberOf(one.values[b.column]); ok && v == b.value {
			return false
		}
	}
	return true
}
