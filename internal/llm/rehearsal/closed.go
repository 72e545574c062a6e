package rehearsal

import "slices"

// Of a closed tool only its name and one sentence are known, and any value of a
// question could be one of its inputs. So a refusal asks for more than an
// answer does: it must be plain that this tool was meant.

// plainlyMeant reports whether a reading for a closed tool may end in a refusal.
func (r *reading) plainlyMeant() bool {
	named, other := false, false
	for i, t := range r.part {
		if r.uses[i] != meant || t.owns {
			continue
		}
		switch {
		case !r.p.en.among(r.f.name, t.stem):
			other = other || i != r.mood.order
		case r.p.en.is("upwards", t.low) && len(r.f.name) > 1:
		default:
			named = true
		}
	}
	if !r.f.writes() {
		return named || other && !r.onlyUpwards()
	}
	return named || !r.mood.bulk && r.onlyOneOrdered()
}

// besideClosedNoun reports whether a word may be a value for a closed tool: it
// stands before the tool's noun, or after a preposition that follows one.
func (r *reading) besideClosedNoun(i int) bool {
	t := r.part[i]
	en := r.p.en
	if i <= r.mood.order || en.is("judgement", t.low) || en.is("condition", t.low) || en.is("negation", t.low) {
		return false
	}
	if i+1 < len(r.part) && r.f.isAnchor(r.part[i+1]) {
		return true
	}
	before := r.lowAt(i - 1)
	if !r.valueLike(t) || !en.is("owner", before) && !en.is("place", before) {
		return false
	}
	return i > 1 && r.f.isAnchor(r.part[i-2])
}

// onlyUpwards reports whether the one word for the tool can also say whom
// somebody reports to.
func (r *reading) onlyUpwards() bool {
	return slices.ContainsFunc(r.part, func(t token) bool { return r.p.en.is("upwards", t.low) })
}

// onlyOneOrdered reports whether no other tool could be meant by the verb.
func (r *reading) onlyOneOrdered() bool {
	for _, f := range r.p.everyForm() {
		if f != r.f && f.writes() && r.p.en.orderedBy(f, r.mood.verb) {
			return false
		}
	}
	return true
}
