package rehearsal

// A relation is an optional id of a list by which its rows belong to somebody:
// manager_id with "the people who report directly to this manager: that
// manager's team". Its description's words, "report" or "team", ask for it.

// relation returns the list's input of that sort, or nil.
func (f *form) relation() *property {
	if !f.lists() {
		return nil
	}
	return f.first(func(p *property) bool {
		return p.isID() && !p.required && stem(p.noun()) != f.head && len(p.about) > 0
	})
}

// triggers reports whether a word asks for the relation. The name of the other
// side ("manager") does not: it asks who that is.
func (en *english) triggers(f *form, p *property, s string) bool {
	if f.name[s] || p.stems[s] || en.stems["person"][s] || s == "identifi" || s == "uniqu" || s == "filter" {
		return false
	}
	return p.about[s]
}

// relations finds a word that asks for a relation. Its value is the person who
// asks when "my" or "me" stands close, or the value that is assigned next.
func (r *reading) relations() {
	p := r.f.relation()
	if p == nil || r.asksUpwards() {
		return
	}
	for i, t := range r.part {
		if r.uses[i] != unread || t.kind != word || !r.p.en.triggers(r.f, p, t.stem) && !r.ledBy(p, i) {
			continue
		}
		r.give(i, 1, 5)
		if r.target == nil {
			r.target, r.relation = &target{prop: p}, i
		}
	}
}

// ledBy reports "managed by Ben" and "whose manager is Ben": the name of the
// other side with its value right behind.
func (r *reading) ledBy(p *property, i int) bool {
	after := r.lowAt(i + 1)
	if r.serves(p, i) {
		return true
	}
	if !r.p.en.among(p.stems, r.part[i].stem) || r.part[i].owns {
		return false
	}
	return after == "by" || after == "is" && (r.lowIn("whose") || r.lowIn("with"))
}

// serves reports "works for Ben" and "work under Ben".
func (r *reading) serves(p *property, i int) bool {
	after := r.lowAt(i + 1)
	if !r.p.en.is("serve", r.part[i].low) || after != "for" && after != "under" || i+2 >= len(r.part) {
		return false
	}
	for noun := range r.p.en.stems["superior"] {
		if p.stems[noun] {
			return !r.p.en.is("idle", r.part[i+2].low)
		}
	}
	return false
}

// asksUpwards reports "who does Ben report to", which asks for the other
// side and not for the rows.
func (r *reading) asksUpwards() bool {
	return (r.lowIn("does") || r.lowIn("do")) && r.lowAt(r.lastWord()) == "to"
}

// turnUpwards rewrites "who does Ben report to" as "who is Ben's
// manager".
func (p *planner) turnUpwards(part []token) []token {
	end := len(part)
	for end > 0 && part[end-1].kind == mark {
		end--
	}
	if end < 5 || part[end-1].low != "to" || part[1].low != "does" && part[1].low != "do" || !p.en.is("upwards", part[end-2].low) {
		return part
	}
	out := append([]token{part[0], wordToken("is")}, part[2:end-2]...)
	if last := &out[len(out)-1]; last.low == "i" {
		*last = wordToken("my")
	} else {
		last.owns = true
	}
	for noun := range p.en.words["superior"] {
		out = append(out, wordToken(noun))
	}
	return out
}

func wordToken(w string) token { return token{text: w, low: w, stem: stem(w)} }

// restrict explains "my team" or "Ben's reports" in a question to a list that
// has no such input, as a group that another list knows. The answer is then
// kept to the rows of that group.
func (p *planner) restrict(r *reading) {
	if !r.f.lists() || r.f.closed {
		return
	}
	for _, from := range p.forms {
		rel := from.relation()
		if rel == nil || from == r.f || r.f.idOf(from) == nil {
			continue
		}
		if within, at, n := r.groupOf(from, rel); n > 0 {
			r.within, r.from = within, from
			r.give(at, n, 1)
			return
		}
	}
}

// groupOf finds "my" or an owner right before words that ask for the other
// list's relation: "my direct reports".
func (r *reading) groupOf(from *form, rel *property) (within *target, at, n int) {
	for i, t := range r.part {
		mine := r.p.en.is("self", t.low)
		if r.uses[i] != unread || !mine && !t.owns {
			continue
		}
		n := 1
		for i+n < len(r.part) && r.uses[i+n] == unread && r.p.en.triggers(from, rel, r.part[i+n].stem) && !r.f.name[r.part[i+n].stem] {
			n++
		}
		if n == 1 {
			continue
		}
		at, s := i, span{text: t.text, words: nameWords(t)}
		for !mine && at > 0 && r.part[at-1].capital && at > 1 && r.uses[at-1] == unread {
			at, n = at-1, n+1
			s.text, s.words = r.part[at].text+" "+s.text, append(nameWords(r.part[at]), s.words...)
		}
		return &target{prop: rel, self: mine, span: s}, at, n
	}
	return nil, 0, 0
}
