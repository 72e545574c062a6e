package match

import (
	"slices"

	"countersign.dev/internal/llm/rehearsal/language"
)

// Intent is how a part of a question asks: does it order something, and does it
// take that back in the same sentence?
type Intent struct {
	Order  int    // index of the first word after politeness; -1 when there is none
	Verb   string // that word
	Asks   bool   // it is a question, whatever it asks
	Bulk   bool   // it is about all of them
	Remark string // the text behind a colon or behind "because"

	negated, unsure bool
}

// ReadIntent returns the intent of a part, and the part without its politeness
// and its reason.
func ReadIntent(x *language.Lexicon, part []language.Token) ([]language.Token, Intent) {
	var m Intent
	part, m.Remark = cutReason(part)
	at, polite := politeness(x, part)
	m.Order, m.Asks = -1, !polite && len(part) > 0 && part[len(part)-1].Text == "?"
	part = part[at:]
	for i, t := range part {
		if t.Kind != language.Word {
			continue
		}
		if m.Order < 0 {
			m.Order, m.Verb = i, t.Low
		}
		named := t.Capital && i > 0 // "Will" and "May" are names too
		m.negated = m.negated || x.Is("negation", t.Low) && !named
		m.unsure = m.unsure || x.Is("condition", t.Low) && !named
		m.Bulk = m.Bulk || slices.Contains([]string{"all", "every", "everyone", "everybody", "each", "both", "everything"}, t.Low)
	}
	return part, m
}

// politeness counts the tokens that open a request without being part of it.
// asked is true when they are themselves a question ("can you …?").
func politeness(x *language.Lexicon, part []language.Token) (n int, asked bool) {
	for n < len(part) {
		k := x.Phrase("polite", lowsFrom(part, n))
		asked = asked || k > 0
		if k == 0 && !x.Is("polite", part[n].Low) && part[n].Kind != language.Mark {
			break
		}
		n += max(k, 1)
	}
	return n, asked
}

// cutReason takes what follows "because" off a request.
func cutReason(part []language.Token) (rest []language.Token, reason string) {
	i := slices.IndexFunc(part, func(t language.Token) bool { return t.Kind == language.Word && t.Low == "because" })
	if i < 1 {
		return part, ""
	}
	return part[:i], language.Text(part[i+1:])
}

// lowsFrom returns up to six words from the i-th token to the next punctuation.
func lowsFrom(part []language.Token, i int) (out []string) {
	for _, t := range part[min(i, len(part)):] {
		if t.Kind == language.Mark || len(out) == 6 {
			break
		}
		out = append(out, t.Low)
	}
	return out
}

// Harmless reports whether a part orders nothing and takes nothing back.
func Harmless(x *language.Lexicon, part []language.Token) bool {
	for _, t := range part {
		if x.Is("action", t.Low) && !x.Is("reading", t.Low) && t.Low != "open" || x.Any(t.Low, "negation", "condition") {
			return false
		}
	}
	return len(language.Lows(part)) > 1
}

// OpensAnew reports whether a part has its own verb. One without goes on with
// the order of the part before it.
func OpensAnew(x *language.Lexicon, part []language.Token) bool {
	_, m := ReadIntent(x, part)
	return m.Asks || x.Any(m.Verb, "reading", "action")
}

// isOrdered reports whether a part asks, in plain imperative, for the change that a
// tool makes: no question, no negation, no condition, and a verb that the
// declaration explains.
func (t *Tool) isOrdered(x *language.Lexicon, part []language.Token, m Intent) bool {
	if m.Order < 0 || m.Asks || m.negated || m.unsure || part[m.Order].Owns {
		return false
	}
	if m.Verb != "give" && m.Verb != "grant" {
		return t.OrderedBy(x, m.Verb)
	}
	article := false // "give Ada a raise": the verb is a noun behind "a"
	for _, w := range part {
		if article && w.Kind == language.Word && x.Is("action", w.Low) && t.OrderedBy(x, w.Low) {
			return true
		}
		article = article && w.Kind == language.Number || w.Low == "a" || w.Low == "an"
	}
	return false
}

// OrderedBy reports whether a verb orders the tool's change.
func (t *Tool) OrderedBy(x *language.Lexicon, verb string) bool {
	if t.orders[verb] {
		return true
	}
	if !x.Is("action", verb) {
		return false
	}
	for v := range t.orders {
		if x.Is("action", v) && x.Among(language.Set{language.Stem(v): true}, language.Stem(verb)) {
			return true
		}
	}
	return false
}
