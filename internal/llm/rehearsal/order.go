package rehearsal

import (
	"slices"
	"strings"
)

// A list may have an input that orders it. "The top 5", "the largest" and
// "sorted by value" choose among its values; any other word of the question
// chooses none of them, so that "closing this month" stays a matter of dates.

// isOrder reports whether an input says in which order rows come.
func (p *property) isOrder() bool {
	if len(p.enum) == 0 {
		return false
	}
	return slices.ContainsFunc(p.words, func(w string) bool {
		return w == "sort" || w == "order" || w == "sorting" || w == "ordering"
	})
}

// ordering reads what the question says of the order of the rows.
func (r *reading) ordering() {
	p := r.f.first((*property).isOrder)
	if p == nil || r.f.writes() {
		return
	}
	for i := range r.part {
		low := lowsFrom(r.part, i)
		if n := r.p.en.phrase("sorted", low); n > 0 && i+n < len(r.part) {
			r.sortedBy(p, i, n)
		}
		for _, section := range []string{"newest", "oldest"} {
			if n := r.p.en.phrase(section, low); n > 0 && r.uses[i] == unread && r.args[p.name] == nil && p.enumValue(section) != "" {
				r.give(i, n, 2)
				r.args[p.name] = p.enumValue(section)
			}
		}
	}
}

// sortedBy reads "sorted by value", with or without "descending".
func (r *reading) sortedBy(p *property, i, n int) {
	by := r.part[i+n]
	for _, e := range p.enum {
		words, falls := fallingOrder(e)
		if r.uses[i+n] != unread || !slices.ContainsFunc(words, func(w string) bool { return r.p.en.among(set{stem(w): true}, by.stem) }) {
			continue
		}
		r.give(i, n+1, 3)
		r.args[p.name] = e
		if after := r.lowAt(i + n + 1); falls && (after == "descending" || after == "desc") {
			r.give(i+n+1, 1, 1)
		}
		return
	}
}

// fallingOrder takes a value like value_desc or -value apart.
func fallingOrder(value string) (words []string, falls bool) {
	words = identifierWords(value)
	if last := len(words) - 1; last > 0 && (words[last] == "desc" || words[last] == "descending") {
		return words[:last], true
	}
	return words, strings.HasPrefix(value, "-")
}

// topFirst orders a list so that the rows with the highest number come first,
// when the list can: then one page has them.
func (r *reading) topFirst() {
	p := r.f.first((*property).isOrder)
	if p == nil || r.measure.kind != "highest" || r.args[p.name] != nil {
		return
	}
	for _, e := range p.enum {
		words, falls := fallingOrder(e)
		if falls && !r.asksOtherColumn(words) {
			r.args[p.name] = e
			r.measure.ordered, r.measure.column = true, strings.Join(words, "_")
			return
		}
	}
}

// asksOtherColumn reports whether the question names a column of numbers that
// is not the one in words: "the highest probability".
func (r *reading) asksOtherColumn(words []string) bool {
	for c := range r.f.numbers {
		for _, w := range identifierWords(c) {
			if r.asked[stem(w)] && !r.f.name[stem(w)] && !slices.Contains(words, w) {
				return true
			}
		}
	}
	return false
}
