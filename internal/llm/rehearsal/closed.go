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
