package rehearsal

import (
	"cmp"
	"slices"
)

// mood is how a part of a question speaks: does it order something, and does it
// take that back in the same breath?
type mood struct {
	order   int    // index of the first word after politeness; -1 when there is none
	verb    string // that word
	asks    bool   // it is a question, whatever it asks
	negated bool
	unsure  bool // conditional, hypothetical
	bulk    bool // speaks of all of them
	reason  string
	remark  string // what stands behind a colon
}

// listen tells the mood of a part and returns the part without its politeness
// and without the reason at its end, which is nothing but a reason.
func (en *english) listen(part []token) ([]token, mood) {
	part, reason := cutReason(part)
	low := make([]string, len(part))
	for i, t := range part {
		low[i] = t.low
	}
	at, polite := en.politeness(low)
	m := mood{order: -1, reason: reason}
	m.asks = !polite && len(part) > 0 && part[len(part)-1].text == "?"
	part = part[at:]
	for i, t := range part {
		if t.kind != word {
			continue
		}
		if m.order < 0 {
			m.order, m.verb = i, t.low
		}
		named := t.capital && i > 0 // "Will" and "May" are names too
		m.negated = m.negated || en.is("negation", t.low) && !named
		m.unsure = m.unsure || en.is("condition", t.low) && !named
		m.bulk = m.bulk || slices.Contains([]string{"all", "every", "everyone", "everybody", "each", "both", "everything"}, t.low)
	}
	return part, m
}

// politeness counts the words that open a request without being part of it.
// asked is true when they are themselves a question ("can you …?").
func (en *english) politeness(low []string) (n int, asked bool) {
	for n < len(low) {
		if k := en.phrase("polite", low[n:]); k > 0 {
			n, asked = n+k, true
			continue
		}
		if !en.is("polite", low[n]) && !slices.Contains([]string{",", "!", "."}, low[n]) {
			break
		}
		n++
	}
	return n, asked
}

// cutReason takes what follows "because" off a request.
func cutReason(part []token) (rest []token, reason string) {
	for i, t := range part {
		if i > 0 && t.kind == word && t.low == "because" {
			return part[:i], textOf(part[i+1:])
		}
	}
	return part, ""
}

// textOf joins tokens as they were written, near enough.
func textOf(tokens []token) string {
	text := ""
	for _, t := range tokens {
		written := cmp.Or(t.said, t.text)
		if t.kind == mark && t.text != "?" && t.text != "!" || text == "" {
			text += written
			continue
		}
		if t.kind != mark {
			text += " " + written
		}
		if t.owns {
			text += "'s"
		}
	}
	return text
}

// orders reports whether a part asks, in plain imperative, for what the tool
// changes: no question, no negation, no condition, and a verb that the tool's
// own name or description explains.
func (en *english) orders(f *form, part []token, m mood) bool {
	if m.order < 0 || m.asks || m.negated || m.unsure || part[m.order].owns {
		return false
	}
	if m.verb == "give" || m.verb == "grant" {
		return en.gives(f, part)
	}
	return en.orderedBy(f, m.verb)
}

func (en *english) orderedBy(f *form, verb string) bool {
	if f.verbs[verb] {
		return true
	}
	if !en.is("action", verb) {
		return false
	}
	for v := range f.verbs {
		if en.is("action", v) && en.groups[stem(verb)][stem(v)] {
			return true
		}
	}
	return false
}

// gives reports "give Ada a raise": the verb stands as a noun behind "a".
func (en *english) gives(f *form, part []token) bool {
	article := false
	for _, t := range part {
		if article && t.kind == word && en.is("action", t.low) && en.orderedBy(f, t.low) {
			return true
		}
		article = article && t.kind == number || t.low == "a" || t.low == "an"
	}
	return false
}

// commands reports whether a part begins with a verb of action: then no tool
// that only reads is meant, whatever other words it shares.
func (p *planner) commands(m mood, part []token) bool {
	if m.order < 0 || part[m.order].owns || p.en.is("reading", m.verb) {
		return false
	}
	for _, f := range p.everyForm() {
		if f.writes() && f.order == m.verb {
			return true
		}
	}
	return false
}
