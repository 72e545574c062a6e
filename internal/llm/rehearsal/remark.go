package rehearsal

// A remark is what stands behind a colon in an order: "close it: the cable was
// loose". It is one text for one input, taken as it was written and never read
// as part of the order.

// remarked plans an order with a remark, or nothing when the question is none.
func (p *planner) remarked(tokens []token) choice {
	for i, t := range tokens {
		if t.kind != mark || t.low != ":" || i == 0 || t.rest == "" {
			continue
		}
		c := p.choose(tokens[:i], t.rest)
		for _, r := range c.readings {
			if !r.f.writes() {
				return choice{}
			}
		}
		return c
	}
	return choice{}
}

// remarks keeps the text of a remark or a reason where the tool has an input
// for it: one that it needs, or one that is named like it.
func (r *reading) remarks() {
	text := r.mood.reason
	if r.mood.remark != "" {
		text = r.mood.remark
	}
	if text == "" || r.f.closed {
		return
	}
	p := r.remarkable()
	if p == nil {
		r.score, r.anchored = 0, false // a reason that would be lost
		return
	}
	r.args[p.name] = text
}

func (r *reading) remarkable() *property {
	var fit *property
	for _, p := range r.f.props {
		switch {
		case !p.isText() || r.args[p.name] != nil:
		case p.required && p.isProse() && r.f.writes():
			return p
		case fit == nil && (p.stems["reason"] || p.stems["comment"] || p.stems["not"]):
			fit = p
		}
	}
	return fit
}

// isProse reports whether an input takes sentences rather than a name.
func (p *property) isProse() bool { return p.isText() && p.longest >= 200 && !p.isTitle() }
