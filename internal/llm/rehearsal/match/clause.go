package match

import (
	"maps"
	"slices"

	"countersign.dev/internal/llm/rehearsal/language"
)

// Clause is one part of a question, and how it asks: does it order something,
// and does it take that back in the same sentence?
type Clause struct {
	Tokens []language.Token // without politeness and without the reason
	Order  int              // index of the first word; -1 when there is none
	Verb   string           // that word
	Asks   bool             // it is a question, whatever it asks
	Bulk   bool             // it is about all of them
	Remark string           // the text behind a colon or behind "because"

	negated, unsure bool
}

// NewClause reads how a part asks; the remark was taken off it before.
func NewClause(x *language.Lexicon, part []language.Token, remark string) Clause {
	c := Clause{Tokens: part, Order: -1, Remark: remark, Asks: len(part) > 0 && part[len(part)-1].Text == "?"}
	for len(c.Tokens) > 0 {
		n := x.Phrase("polite", c.lows(0)) // "can you …?" asks for no information
		if c.Asks = c.Asks && n < 2; n == 0 && c.Tokens[0].Kind != language.Mark {
			break
		}
		c.Tokens = c.Tokens[max(n, 1):]
	}
	for i, t := range c.Tokens {
		if t.Kind != language.Word {
			continue
		}
		if c.Order < 0 {
			c.Order, c.Verb = i, t.Low
		}
		named := t.Capital && i > 0 // "Will" and "May" are names too
		c.negated = c.negated || x.Is(t.Low, "negation") && !named
		c.unsure = c.unsure || x.Is(t.Low, "condition") && !named
		c.Bulk = c.Bulk || x.Is(t.Low, "bulk")
	}
	return c
}

// low is the i-th token when it is a word.
func (c Clause) low(i int) string {
	if i < 0 || i >= len(c.Tokens) || c.Tokens[i].Kind != language.Word {
		return ""
	}
	return c.Tokens[i].Low
}

// lows returns up to six words from the i-th token to the next punctuation.
func (c Clause) lows(i int) (out []string) {
	for ; i < len(c.Tokens) && c.Tokens[i].Kind != language.Mark && len(out) < 6; i++ {
		out = append(out, c.Tokens[i].Low)
	}
	return out
}

func (c Clause) has(words ...string) bool {
	return slices.ContainsFunc(c.Tokens, func(t language.Token) bool { return slices.Contains(words, t.Low) })
}

// Subject is what the clause is about in its own words, without those around it
// that carry nothing.
func (c Clause) Subject(x *language.Lexicon) string {
	about := func(t language.Token) bool { return t.Kind != language.Word || !x.Is(t.Low, "idle", "reading") }
	first := max(0, slices.IndexFunc(c.Tokens, about))
	return language.Text(c.Tokens[first:])
}

// OpensAnew reports whether the clause has a verb. One without goes on with an order.
func (c Clause) OpensAnew(x *language.Lexicon) bool {
	return c.Asks || x.Is(c.Verb, "reading", "action")
}

// isOrdered reports whether a clause orders the change that a tool makes: without
// question, negation or condition, by a verb that the declaration explains.
func (t *Tool) isOrdered(x *language.Lexicon, c Clause) bool {
	if !t.Writes() || c.Order < 0 || c.Asks || c.negated || c.unsure || c.Tokens[c.Order].Owns {
		return false
	}
	actions := slices.DeleteFunc(slices.Collect(maps.Keys(t.orders)), func(order string) bool { return !x.Is(order, "action") })
	return t.orders[c.Verb] || x.Is(c.Verb, "action") && x.Among(language.Stems(actions...), language.Stem(c.Verb))
}
