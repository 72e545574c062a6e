package match

import (
	"slices"
	"strings"
	"time"

	"countersign.dev/internal/agent"
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
	unread use = iota
	idle       // carries nothing
	meant      // a word of the tool's own vocabulary
	given      // an argument, or part of one
)

// Reading is how one tool would understand one clause of a question.
type Reading struct {
	Clause
	Tool    *Tool
	Args    map[string]any
	Target  *Target            // the thing that it is about, to be looked up; of another tool: that whose rows it is kept to
	Filters []Entity           // values that narrow a list
	Step    *Step              // a change relative to the present value
	Measure Measure            // what is asked of all rows at once
	Asked   language.Set       // stems of the words that ask for something in the answer
	Beyond  map[string]float64 // numbers that a column must lie beyond: the input that narrows the list lets them pass
	Strong  bool               // a word names what the tool is about
	Plural  bool               // that word is in the plural
	Score   int

	c        *Catalog
	x        *language.Lexicon
	uses     []use
	anchored bool // a word names what the tool is about
}

// Target is a thing whose id an input of a tool needs.
type Target struct {
	Tool   *Tool
	Input  *Field
	Self   bool // the person who asks
	Entity Entity
	at     int // where a word asked for a relation
}

// Step is a change given as a difference or in per cent.
type Step struct {
	Input *Field
	By    language.Amount
	Down  bool
}

// Read reads a clause as the tool would; nil unless every word is explained.
func (c *Catalog) Read(t *Tool, clause Clause) *Reading {
	if t.Writes() && !t.isOrdered(c.Words, clause) || !t.Writes() && (clause.negated || c.commands(clause)) {
		return nil
	}
	r := c.Attempt(t, clause)
	if len(r.left()) > 0 || (names{reader{r}}).waits() || !(r.anchored || r.Target != nil && r.Target.Self || r.presents()) {
		return nil
	}
	if i := r.Order; i >= 0 && !t.Writes() && r.uses[i] == meant && c.Words.Is(r.Verb, "action") && !c.Words.Is(r.Verb, "reading") &&
		r.low(i+1) != "of" && !strings.HasPrefix(strings.ToLower(t.Info.Description), r.Verb+" ") {
		return nil // "email Ada" asks for no address
	}
	return r
}

// Attempt reads a clause as far as it goes, whatever its intent. Each step
// explains more of the words; what a step has taken, those after it leave alone.
func (c *Catalog) Attempt(t *Tool, clause Clause) *Reading {
	r := &Reading{Clause: clause, Tool: t, Args: map[string]any{}, Asked: language.Set{}, Beyond: map[string]float64{}, c: c, x: c.Words,
		uses: make([]use, len(clause.Tokens))}
	if t.Writes() && t.isOrdered(c.Words, clause) {
		onlyIDs := t.First(func(f *Field) bool { return f.Required && !f.Is(ID) }) == nil
		r.uses[r.Order], r.Score, r.anchored = meant, weightName, onlyIDs || t.verb == r.Verb && !c.Words.Is(r.Verb, "vague")
	}
	w := reader{r}
	v, n := values{w}, names{w}
	for _, step := range []func(){v.ranges, v.choices, v.due, v.numbers, n.relations, w.measures, w.vocabulary, n.assign, n.selves, w.remark, w.shape, w.topFirst} {
		step()
	}
	return r
}

// commands reports whether a clause begins with the verb of a tool that writes:
// then no tool that only reads is meant, whatever other words it shares.
func (c *Catalog) commands(clause Clause) bool {
	return clause.Order >= 0 && !clause.Tokens[clause.Order].Owns && !c.Words.Is(clause.Verb, "reading") &&
		slices.ContainsFunc(c.All(), func(t *Tool) bool { return t.Writes() && t.verb == clause.Verb })
}

// isAnchor reports whether the i-th word names what the tool is about.
func (r *Reading) isAnchor(i int) bool {
	return r.low(i) != "" && (r.Tool.name[r.Tokens[i].Stem] || r.Tool.synonyms[r.Tokens[i].Stem])
}

// left returns the tokens that nothing explains.
func (r *Reading) left() (out []int) {
	for i, u := range r.uses {
		if u == unread && r.Tokens[i].Kind != language.Mark {
			out = append(out, i)
		}
	}
	return out
}

// Obstacle is the one piece of the question that keeps a list from answering it.
func (r *Reading) Obstacle() string {
	left := r.left()
	if len(left) == 0 || left[len(left)-1]-left[0] >= 4 || !r.Tool.Lists() || !r.Strong || r.Target != nil {
		return ""
	}
	first := left[0]
	for first > 0 && r.uses[first-1] != meant {
		first--
	}
	return language.Text(r.Tokens[first : left[len(left)-1]+1])
}

// Many reports whether a tool that handles one thing is asked about many.
func (r *Reading) Many() bool {
	if r.Tool.Writes() && r.Bulk {
		return true
	}
	if r.Target != nil || r.Tool.First(func(f *Field) bool { return f.Is(ID) && f.Required && r.Args[f.Name] == nil }) == nil {
		return false
	}
	return r.Bulk || r.Measure.Kind != "" || slices.ContainsFunc(r.Tokens, func(t language.Token) bool {
		return t.Kind == language.Word && language.Plural(t.Low) && !t.Owns && (r.Tool.name[t.Stem] || !r.Tool.Writes() && r.Asked[t.Stem])
	})
}

// Narrow reports whether anything narrows the answer.
func (r *Reading) Narrow() bool { return r.Target != nil || len(r.Args)+len(r.Filters) > 0 }

// AsksWhether reports whether a clause asks to be answered by yes or no.
func (r *Reading) AsksWhether() bool { return slices.Contains([]string{"is", "are", "does"}, r.low(0)) }

// presents reports "show Cleo" or "where does Cleo work": nothing but a name.
func (r *Reading) presents() bool {
	if r.Tool.Writes() || r.Target == nil || !r.Target.Input.Required || r.Target.Self || r.Asks && len(language.Lows(r.Tokens)) > 6 || slices.Contains(r.uses, meant) {
		return false
	}
	r.Asked["wher"] = r.has("where")
	return r.x.Is(r.Verb, "present")
}

// Relevance counts how far the question's words ask for a column; other words of
// its name count against it, and the tool's own noun seldom tells columns apart.
func (r *Reading) Relevance(key string) int {
	hits, words, col := 0, language.Identifier(key), r.Tool.Column(key)
	for _, w := range words {
		switch s := language.Stem(w); {
		case s == r.Tool.head && !r.Tool.Own:
		case r.Asked[s]:
			hits += 4
		case r.x.Among(r.Asked, s):
			hits += 3
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
