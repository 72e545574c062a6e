package rehearsal

// measure is what is asked of many rows at once.
type measure struct {
	kind string // count, sum, average, highest, lowest, or empty
	n    int    // how many rows, for highest and lowest
}

// measures finds "how many", "total", "top 5" and their like, unless they are
// words of the tool itself.
func (r *reading) measures() {
	if !r.f.lists() {
		return
	}
	for i := range r.part {
		low := lowsFrom(r.part, i)
		for _, kind := range []string{"count", "sum", "average", "highest", "lowest"} {
			n := r.p.en.phrase(kind, low)
			if n == 0 || r.measure.kind != "" || r.uses[i] != unread || n == 1 && r.f.name[r.part[i].stem] {
				continue
			}
			r.measure.kind = kind
			for j := range n {
				r.uses[i+j] = given
			}
			r.countOf(i + n)
		}
	}
}

// countOf reads the number after "top".
func (r *reading) countOf(i int) {
	r.measure.n = 1
	if i < len(r.part) && r.part[i].kind == number && r.uses[i] == unread {
		r.measure.n = max(1, min(50, int(r.part[i].amount.value)))
		r.uses[i] = given
	}
}

func lowsFrom(part []token, i int) []string {
	var out []string
	for _, t := range part[i:] {
		if t.kind == mark || len(out) == 4 {
			break
		}
		out = append(out, t.low)
	}
	return out
}

// overNumbers reports whether the measure needs a column of numbers.
func (m measure) overNumbers() bool { return m.kind != "" && m.kind != "count" }

func (m measure) word() string {
	if m.kind == "sum" {
		return "total"
	}
	return m.kind
}
