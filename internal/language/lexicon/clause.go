package lexicon

import (
	"slices"

	"countersign.dev/internal/language"
)

// Clause is one part of a question, and how it asks.
type Clause struct {
	Tokens []language.Token // without politeness and without the reason
	Order  int              // index of the first word; -1 when there is none
	Verb   string           // that word
	Asks   bool             // it is a question, whatever it asks
	Bulk   bool             // it is about all of them
	Remark string           // the text behind a colon or behind "because"

	Negations int  // how many words say that it is not so
	Unsure    bool // it says "if", "should" or the like
}

// Clause reads how a part asks; the remark was taken off it before.
func (x *Lexicon) Clause(part []language.Token, remark string) Clause {
	c := Clause{Tokens: part, Order: -1, Remark: remark, Asks: len(part) > 0 && part[len(part)-1].Text == "?"}
	for len(c.Tokens) > 0 {
		n := x.Phrase("polite", c.Lows(0)) // "can you …?" asks for no information
		if c.Asks = c.Asks && n < 2; n == 0 && c.Tokens[0].Kind != language.Mark {
			break
		}
		c.Tokens = c.Tokens[max(n, 1):]
	}
	for i, t := range c.Tokens {
		article := slices.ContainsFunc(c.Tokens[max(0, i-2):i], func(t language.Token) bool { return t.Low == "a" || t.Low == "an" })
		if c.Order < 0 || article && x.Is(c.Verb, "light") && x.Is(t.Low, "action") { // "give Ada a 5% raise"
			c.Order, c.Verb = i, t.Low
		}
		named := t.Capital && i > 0 // "Will" and "May" are names too
		if x.Is(t.Low, "negation") && !named {
			c.Negations++
		}
		c.Unsure = c.Unsure || x.Is(t.Low, "condition") && !named
		c.Bulk = c.Bulk || x.Is(t.Low, "bulk")
	}
	return c
}

// Low is the i-th word in lower case; empty where there is none.
func (c Clause) Low(i int) string {
	if i < 0 || i >= len(c.Tokens) || c.Tokens[i].Kind != language.Word {
		return ""
	}
	return c.Tokens[i].Low
}

// Lows are the words from the i-th, as many as a phrase may have.
func (c Clause) Lows(i int) []string { return language.Run(c.Tokens[min(i, len(c.Tokens)):]) }

// Any reports whether a word of the clause has such a stem.
func (c Clause) Any(fits func(stem string) bool) bool {
	return slices.ContainsFunc(c.Tokens, func(t language.Token) bool { return fits(t.Stem) })
}

// Has reports whether a word of the clause is one of these.
func (c Clause) Has(words ...string) bool {
	return slices.ContainsFunc(c.Tokens, func(t language.Token) bool { return slices.Contains(words, t.Low) })
}

// OpensAnew reports whether the clause has a verb. One without goes on with an order.
func (c Clause) OpensAnew(x *Lexicon) bool {
	return c.Asks || x.Is(c.Verb, "reading", "present", "action")
}

// Others reports whether a question is the one before it about somebody else: "what about
// mine?", "and Ada's?"
func (x *Lexicon) Others(tokens []language.Token) bool {
	n := x.Phrase("follow", language.Lows(tokens))
	rest := language.After(tokens, n)
	return n > 0 && len(language.Lows(rest)) == 1 && (x.Is(rest[0].Low, "self") || rest[0].Owns || rest[0].Capital)
}

// Narrowed are the words to which a question keeps what was shown, or nil: "Sales only", "and
// the open ones".
func Narrowed(words []string) (to []string) {
	last := len(words) - 1
	if last < 1 || words[last] != "only" && (words[last] != "ones" || last > 3) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(words[:last]), func(w string) bool { return slices.Contains([]string{"and", "for", "the", "only", "just", "now"}, w) })
}
