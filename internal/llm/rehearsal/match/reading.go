package match

import (
	"slices"
	"strings"
	"time"

	"countersign.dev/internal/agent"
	"countersign.dev/internal/english"
	"countersign.dev/internal/llm/rehearsal/language"
	"countersign.dev/internal/result"
)

// Catalog is what a question is read against.
type Catalog struct {
	Words  *language.Lexicon
	Person agent.Person
	Today  time.Time
	Open   []*Tool // the tools that the person may use
	Closed []*Tool // the others
}

// All returns the open and the closed tools.
func (c *Catalog) All() []*Tool { return slices.Concat(c.Open, c.Closed) }

// use is what a token of a question is for.
type use uint8

const (
	unread  use = iota
	read        // an argument, or part of one, or nothing that matters
	meant       // a word of the tool's own vocabulary
	guessed     // a value, if something is found by it
)

// Reading is how one tool would understand one clause of a question.
type Reading struct {
	Clause
	Tool    *Tool
	Args    map[string]any     // a Step is a change of the present value
	Target  *Target            // the thing that it is about, to be looked up; of another tool: that whose rows it is kept to
	Filters []Entity           // values that narrow a list
	Among   map[string][]any   // by column: the values of which a row has one
	Measure Measure            // what is asked of all rows at once
	Asked   language.Set       // stems of the words that ask for something in the answer
	Beyond  map[string]float64 // by column: the bound that a row's number must not equal
	Strong  bool               // a word names what the tool is about
	Plural  bool               // that word is in the plural
	Score   int

	c        *Catalog
	x        *language.Lexicon
	uses     []use
	vague    bool // it has nothing but a name
	anchored bool // a word says what the tool is about, or what it answers
}

// Target is a thing whose id an input of a tool needs.
type Target struct {
	Tool   *Tool
	Input  *Field
	Entity Entity
	at     int // where a word asked for a relation
}

// Step is a change given as a difference or in per cent.
type Step struct {
	By   language.Amount
	Down bool
}

// Read reads a clause as the tool would; nil unless every word is explained.
func (c *Catalog) Read(t *Tool, clause Clause) *Reading {
	if t.Writes() && !t.isOrdered(c.Words, clause) || !t.Writes() && (clause.negated || c.commands(clause)) {
		return nil
	}
	r := c.Attempt(t, clause)
	presents := !t.Writes() && r.Target != nil && r.Target.Input.Required && c.Words.Is(r.Verb, "present")
	r.vague = !r.anchored && (r.Target == nil || !r.Target.Entity.Self) // and so it only presents
	ofMany := t.Writes() && (r.Bulk || r.Target == nil && r.Plural)     // one thing is changed at a time
	if len(r.left()) > 0 || r.waits() || ofMany || r.vague && !presents {
		return nil
	}
	if !t.Writes() && r.Order >= 0 && r.uses[r.Order] == meant && c.Words.Is(r.Verb, "action") && !c.Words.Is(r.Verb, "reading") {
		return nil // "email Ada" asks for no address
	}
	return r
}

// Attempt reads a clause as far as it goes: each step explains more of its words.
func (c *Catalog) Attempt(t *Tool, clause Clause) *Reading {
	r := reader{&Reading{Clause: clause, Tool: t, Args: map[string]any{}, Among: map[string][]any{}, Asked: language.Set{}, Beyond: map[string]float64{}, c: c, x: c.Words,
		uses: make([]use, len(clause.Tokens))}}
	if t.isOrdered(c.Words, clause) {
		onlyIDs := t.First(func(f *Field) bool { return f.Required && !f.Is(ID) }) == nil
		r.uses[r.Order], r.Score, r.anchored = meant, inNoun.weight(), onlyIDs || t.verb == r.Verb && !c.Words.Is(r.Verb, "vague")
	}
	n := names{r}
	r.choices()
	for _, explain := range []func(i int){r.value, r.due, n.relation, r.measure, r.word, n.name} {
		for i := range r.Tokens {
			if r.uses[i] == unread {
				explain(i)
			}
		}
	}
	r.remark()
	r.judge()
	r.Asked[english.Stem("where")] = r.has("where")
	r.topFirst()
	return r.Reading
}

// commands reports whether a clause begins with a writing tool's verb: it asks nothing.
func (c *Catalog) commands(clause Clause) bool {
	return slices.ContainsFunc(c.All(), func(t *Tool) bool { return t.Writes() && t.verb == clause.Verb })
}

// isAnchor reports whether the i-th word names what the tool is about.
func (r *Reading) isAnchor(i int) bool {
	return r.low(i) != "" && r.Tool.place[r.Tokens[i].Stem] >= inSynonym
}

// Ordered reports whether the clause orders what the tool changes.
func (r *Reading) Ordered() bool { return r.Tool.isOrdered(r.x, r.Clause) }

// left returns the tokens that nothing explains.
func (r *Reading) left() (out []int) {
	for i, u := range r.uses {
		if u == unread && r.Tokens[i].Kind != language.Mark {
			out = append(out, i)
		}
	}
	return out
}

// waits reports whether a relation still waits for its person.
func (r *Reading) waits() bool {
	return r.Target != nil && r.Target.Entity.end == 0
}

// Guesses reports whether the reading rests on a value that may be none.
func (r *Reading) Guesses() bool { return r.vague || slices.Contains(r.uses, guessed) }

// Values are the values that the question gives in words.
func (r *Reading) Values() (out []Entity) {
	out = slices.Clone(r.Filters)
	if r.Target != nil {
		out = append(out, r.Target.Entity)
	}
	for _, f := range r.Tool.Inputs {
		if text, isText := r.Args[f.Name].(string); isText && f.IsText() {
			out = append(out, Entity{Text: text})
		}
	}
	return slices.DeleteFunc(out, func(e Entity) bool { return e.Self || e.Text == "" })
}

// Unread are the words that nothing explains for sure.
func (r *Reading) Unread() string {
	var words []language.Token
	for i, u := range r.uses {
		if u == guessed || u == unread {
			words = append(words, r.Tokens[i])
		}
	}
	return language.Text(words)
}

// AsksWhether reports whether a clause asks to be answered by yes or no.
func (r *Reading) AsksWhether() bool { return slices.Contains([]string{"is", "are", "does"}, r.low(0)) }

// Relevance counts how far the question's words ask for a column; other words of
// its name count against it, and the tool's own noun seldom tells columns apart.
func (r *Reading) Relevance(key string) int {
	hits, words, col := 0, english.Words(key), r.Tool.Column(key)
	for _, w := range words {
		if s := english.Stem(w); r.x.Among(r.Asked, s) && (s != r.Tool.head || r.Tool.Own) {
			hits += 4
		}
	}
	for s := range col.also {
		if r.Asked[s] && (s != r.Tool.head || hits == 0) {
			hits += 2
		}
	}
	if hits == 0 || strings.HasSuffix(key, "_at") || col.Show == result.ShowDetail {
		return 0
	}
	return hits*4 - len(words)
}

// Clause is one part of a question, and how it asks.
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

// OpensAnew reports whether the clause has a verb. One without goes on with an order.
func (c Clause) OpensAnew(x *language.Lexicon) bool {
	return c.Asks || x.Is(c.Verb, "reading", "action")
}

// isOrdered reports whether a clause orders, without any doubt, what a tool changes.
func (t *Tool) isOrdered(x *language.Lexicon, c Clause) bool {
	if !t.Writes() || c.Order < 0 || c.Asks || c.negated || c.unsure || c.Tokens[c.Order].Owns {
		return false
	}
	verb := english.Stem(c.Verb)
	return t.orders[verb] || x.Is(c.Verb, "action") && x.Among(t.orders, verb)
}
