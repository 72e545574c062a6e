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
	m := Intent{Order: -1}
	if i := slices.IndexFunc(part, func(t language.Token) bool { return t.Kind == language.Word && t.Low == "because" }); i > 0 {
		part, m.Remark = part[:i], language.Text(part[i+1:])
	}
	m.Asks = len(part) > 0 && part[len(part)-1].Text == "?"
	for len(part) > 0 {
		n := x.Phrase("polite", lowsFrom(part, 0)) // "can you …?" asks for no information
		if m.Asks = m.Asks && n == 0; n == 0 && !x.Is(part[0].Low, "polite") && part[0].Kind != language.Mark {
			break
		}
		part = part[max(n, 1):]
	}
	for i, t := range part {
		if t.Kind != language.Word {
			continue
		}
		if m.Order < 0 {
			m.Order, m.Verb = i, t.Low
		}
		named := t.Capital && i > 0 // "Will" and "May" are names too
		m.negated = m.negated || x.Is(t.Low, "negation") && !named
		m.unsure = m.unsure || x.Is(t.Low, "condition") && !named
		m.Bulk = m.Bulk || slices.Contains([]string{"all", "every", "everyone", "everybody", "each", "both", "everything"}, t.Low)
	}
	return part, m
}

// lowsFrom returns up to six words from the i-th token to the next punctuation.
func lowsFrom(part []language.Token, i int) (out []string) {
	for ; i < len(part) && part[i].Kind != language.Mark && len(out) < 6; i++ {
		out = append(out, part[i].Low)
	}
	return out
}

// Harmless reports whether a part orders nothing and takes nothing back.
func Harmless(x *language.Lexicon, part []language.Token) bool {
	return len(language.Lows(part)) > 1 && !slices.ContainsFunc(part, func(t language.Token) bool {
		return x.Is(t.Low, "action") && !x.Is(t.Low, "reading") && t.Low != "open" || x.Is(t.Low, "negation", "condition")
	})
}

// OpensAnew reports whether a part has its own verb. One without goes on with
// the order of the part before it.
func OpensAnew(x *language.Lexicon, part []language.Token) bool {
	_, m := ReadIntent(x, part)
	return m.Asks || x.Is(m.Verb, "reading", "action")
}

// isOrdered reports whether a part asks, in plain imperative, for the change that
// a tool makes: no question, no negation, no condition, and a verb that the
// declaration explains.
func (t *Tool) isOrdered(x *language.Lexicon, part []language.Token, m Intent) bool {
	if m.Order < 0 || m.Asks || m.negated || m.unsure || part[m.Order].Owns {
		return false
	}
	if m.Verb != "give" && m.Verb != "grant" {
		return t.orderedBy(x, m.Verb)
	}
	article := false // "give Ada a raise": the verb is a noun behind "a"
	for _, w := range part {
		if article && w.Kind == language.Word && x.Is(w.Low, "action") && t.orderedBy(x, w.Low) {
			return true
		}
		article = article && w.Kind == language.Number || w.Low == "a" || w.Low == "an"
	}
	return false
}

func (t *Tool) orderedBy(x *language.Lexicon, verb string) bool {
	if t.orders[verb] || !x.Is(verb, "action") {
		return t.orders[verb]
	}
	for v := range t.orders {
		if x.Is(v, "action") && x.Among(language.Stems(v), language.Stem(verb)) {
			return true
		}
	}
	return false
}
