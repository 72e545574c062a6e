package plan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"countersign.dev/internal/agent"
	"countersign.dev/internal/english"
	"countersign.dev/internal/language"
	"countersign.dev/internal/language/lexicon"
	"countersign.dev/internal/llm/rehearsal/match"
	"countersign.dev/internal/llm/rehearsal/speak"
	"countersign.dev/internal/result"
	"countersign.dev/internal/schema"
	"countersign.dev/internal/schema/declared"
)

// planner works out one question against what is known so far.
type planner struct {
	*match.Catalog
	thread
	ended    func() error    // whether the request has ended
	question string          // what the person wants
	said     string          // the last message of the person, whatever it belongs to
	answers  []string        // their answers to our questions about it, still to be used
	known    []*speak.Answer // the answers of the calls for it
	reads    []agent.Call    // the calls that are still missing
	writes   []agent.Call    // and those that change something
	meant    string          // the whole question, of one that goes on with the one before it
	paging   bool            // what was named is not to be named again
	last     bool            // not the next ones, but the last
	few      int             // how many of the next ones are asked for; 0 for as many as usual
	refers   bool            // the question says so of a thing that was named before
	guesses  bool            // words that nothing explains may be values
}

// end is how a plan ended, and what it said. A plan is straight code that is replayed: where it cannot go on, it panics with its end, and run recovers that.
type end struct {
	waits bool // for calls
	none  bool // nothing was found by a value of the question
	vague bool // and the value was a guess
	shut  bool // where it would be found is closed to the person
	fails bool // a tool could not answer
	text  string
}

// stopped ends all plans of a request that has ended.
type stopped struct{}

// run carries a plan out as far as it goes.
func run(plan func() string) (e end) {
	defer func() {
		switch early := recover().(type) {
		case nil:
		case end:
			e = early
		default: // a fault of the planner's own
			panic(early)
		}
	}()
	return end{text: plan()}
}

// latest is the tool of the last list; an empty one when there was none, or it is not open any more.
func latest(p *planner) *declared.Tool {
	return p.Named(append(p.lists, &speak.Answer{})[max(0, len(p.lists)-1)].Tool)
}

// onward joins what goes on with a question to it: "which of them are paid?", "how many are there?", "sort them by date".
func (p *planner) onward(said string) string {
	said, wide := others(p, lexicon.Each.ReplaceAllString(said, "$1 them$2"))
	words, before := language.Lows(language.Read(said, p.Today)), strings.Trim(cmp.Or(wide, p.basis, p.before), " ?!.")
	if by := strings.TrimPrefix(strings.Join(words, " "), "and "); strings.HasPrefix(by, "by ") || p.Words.Phrase("over", strings.Fields(by))+p.Words.Phrase("under", strings.Fields(by)) > 0 && len(p.lists) > 0 { // "over 200k"
		return language.Text(p.Words.Rebound(language.Read(before, p.Today), language.Read(by, p.Today))) + " " + by
	}
	if before == "" || len(words) == 0 {
		return said
	}
	content := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return p.Words.Is(w, "idle", "self") || strings.Trim(w, "0123456789") == "" })
	value := len(content) == 1 && latest(p).Takes(content[0])                                                                         // a priority that is high
	if short := len(content) > 0 && len(content) < 4 && p.Words.Measured(content[:1]); !value && (short || p.Words.Measured(words)) { // "what's the total value?"
		if p.Words.Only("sum", words) && p.Words.Phrase("count", words) == 0 { // "what do they add up to?"
			said = "total"
		}
		return strings.TrimSpace(strings.Trim(lexicon.Theirs.ReplaceAllString(said, "the $1"), " ?!.") + " " + lexicon.Figures.ReplaceAllString(before, ""))
	}
	if of := lexicon.Theirs.FindStringSubmatch(said); of != nil && !p.single {
		return before + " " + of[1]
	}
	if to := lexicon.Narrowed(words); len(to) > 0 {
		if other := instead(p, before, strings.Join(to, " ")); other != "" {
			return other
		}
		kept := p.choose(language.Read(before+" "+strings.Join(to, " "), p.Today), "")
		if words[len(words)-1] == "only" || len(kept) > 0 && slices.Contains(kept[0].Said(), strings.Join(to, " ")) {
			words = append([]string{"only"}, to...)
		}
	}
	if n := p.Words.Phrase("narrow", words); n > 0 && n < len(words) {
		to := strings.TrimSuffix(strings.Join(words[n:], " "), " ones")
		before = cmp.Or(language.Text(p.Joint().About(language.Read(before, p.Today), words[len(words)-1])), before)
		end := append(language.Read(before, p.Today), language.Token{})
		value := len(end) > 1 && (end[len(end)-2].Capital || !p.Knows(end[len(end)-2].Stem)) && !p.Knows(english.Stem(words[n]))
		if value || len(p.choose(language.Read(before+" "+to, p.Today), "")) == 0 { // "only sales"
			to = "in " + to
		}
		return before + " " + to
	}
	if m := lexicon.Holds.FindStringSubmatch(strings.Join(words, " ")); m != nil && p.Words.Is(m[1], lexicon.Measures...) && len(p.lists) > 0 {
		return strings.Join(words, " ") + " " + lexicon.Counts.ReplaceAllString(before, "")
	}
	if m := lexicon.HowManyIn.FindStringSubmatch(strings.Join(words, " ")); m != nil && len(p.nouns) > 0 { // "how many in Seattle?"
		return m[1] + " " + p.nouns[0] + " " + said[strings.Index(strings.ToLower(said), " "+m[2]+" ")+1:]
	}
	shown := func(w string) bool { // a column of what was shown
		return !p.Lists(w) && latest(p).Columns.First(func(f *declared.Field) bool { return f.Says(english.Stem(w)) }) != nil
	}
	if n := len(content); n > 0 && n < 3 && !slices.Contains(words, "my") && !slices.Contains(words, "i") && len(words) <= n+3 && !p.single && p.Words.Phrase("follow", words) == 0 && len(p.lists) > 0 && !lexicon.Them.MatchString(said) && !slices.ContainsFunc(content, func(w string) bool { return !shown(w) }) { // "salaries"
		return before + " with " + strings.Join(content, " ")
	}
	if p.single || p.Words.Is(words[0], "action") {
		return said
	}
	before = lexicon.Counts.ReplaceAllString(before, "")
	if ask, which := lexicon.Kept(said); which != "" && (lexicon.OfThem.MatchString(said) || !slices.ContainsFunc(language.Read(which, p.Today), p.Joint().Noun)) {
		return ask + " of " + before + " " + which
	}
	return lexicon.Them.ReplaceAllString(said, before)
}

// others is how a question counts others of the rows of which some were counted, and the question that had these.
func others(p *planner, said string) (ask, of string) {
	if which := lexicon.CountsSome(said); which != "" && p.wide != "" {
		return "how many of them are " + which, p.wide
	}
	return said, ""
}

// instead is a question with another value in the place of one that the same input takes; empty where it has none.
func instead(p *planner, question, value string) string {
	for _, r := range p.choose(language.Read(question, p.Today), "") {
		for _, said := range slices.Concat(r.Values, r.Said()) {
			if r.Tool.Takes(said, value) {
				return strings.Replace(language.Text(r.Tokens), said, value, 1)
			}
		}
	}
	return ""
}

// ofOne is the question for a field of the thing that was named last, if the words name no more than the field: "the due date?"
func ofOne(p *planner, words []string) string {
	named := append(lexicon.FieldOf.FindStringSubmatch(strings.Join(words, " ")), "", "")[1]
	last, goesOn := english.LastWord(named), func(w string) bool {
		return w != "who" && p.Words.Is(w, "further", "present", "action", "highest", "lowest")
	}
	if !p.single || named == "" || last == "it" || words[0] == "and" || !p.Knows(english.Stem(last)) || p.Lists(last) || slices.ContainsFunc(words, goesOn) {
		return ""
	}
	return "what is the " + named + " of " + p.subject
}

// orWait is the end's text; an end that waits ends the plan around it too.
func (e end) orWait() string {
	if e.waits {
		panic(e)
	}
	return e.text
}

func (p *planner) next() (answer string, given bool) {
	if len(p.answers) > 0 {
		answer, p.answers, given = p.answers[0], p.answers[1:], true
	}
	return answer, given
}

// fetch returns the answer of a call; where it is not known, the plan waits for it.
func (p *planner) fetch(t *declared.Tool, args map[string]any) *speak.Answer {
	raw, _ := json.Marshal(args) // keys sorted; plain values always encode
	for _, a := range slices.Backward(p.known) {
		if known, _ := json.Marshal(a.Args); a.Tool == t.Info.Name && string(known) == string(raw) {
			return a
		}
	}
	wanted := map[bool]*[]agent.Call{false: &p.reads, true: &p.writes}[t.Writes()]
	if !slices.ContainsFunc(*wanted, func(w agent.Call) bool { return w.Tool == t.Info.Name && string(w.Args) == string(raw) }) {
		*wanted = append(*wanted, agent.Call{Tool: t.Info.Name, Args: raw})
	}
	panic(end{waits: true})
}

const maxPages = 6 // of a list that is counted, or in which something is looked for

// fetchPages reads some pages of a list as one answer. A failure ends the plan.
func (p *planner) fetchPages(t *declared.Tool, args map[string]any, pages int) *speak.Answer {
	all := *p.fetch(t, args)
	if all.Fault != nil {
		panic(end{fails: true, text: speak.Failure(&all)})
	}
	if input, value := all.Following(); input != "" && pages > 1 {
		rest := p.fetchPages(t, with(args, input, value), pages-1)
		all.Rows, all.Page = slices.Concat(all.Rows, rest.Rows), rest.Page
	}
	return &all
}

func with(args map[string]any, name string, value any) map[string]any {
	more := maps.Clone(args)
	more[name] = value
	return more
}

// all carries out n parts, and puts their answers one below the other.
func all(n int, part func(i int) string) string {
	if n == 1 {
		return part(0)
	}
	var whole end
	for i := range n {
		e := run(func() string { return part(i) })
		if e.vague {
			panic(e)
		}
		if whole.waits = whole.waits || e.waits; !e.waits && e.text != "" {
			whole.text += e.text + "\n\n"
		}
	}
	return strings.TrimSpace(whole.orWait())
}

// each answers several questions, of which one has an answer at least, or else all. It is empty, and asks for no call, where that is not so, or where one is not understood.
func each(p *planner, questions [][]language.Token, strictly bool, reply func([]language.Token) string) string {
	texts, found, waits, before := []string(nil), false, false, len(p.reads)
	for _, one := range questions {
		e := run(func() string { return reply(one) })
		if e.none && (strictly || e.vague) {
			p.reads = p.reads[:before]
			return ""
		}
		found, waits = found || !e.none, waits || e.waits
		if !slices.Contains(texts, e.text) {
			texts = append(texts, e.text)
		}
	}
	if text := strings.TrimSpace(strings.Join(slices.DeleteFunc(texts, func(t string) bool { return t == "" }), "\n\n")); !found || text != "" && !waits {
		return map[bool]string{true: text}[found]
	}
	panic(end{waits: waits}) // no further page has a row
}

// choice is what a part may mean, best first; all open to the person, or all closed.
type choice []*match.Reading

// choose finds the tools that explain every word of a part and use its remark.
func (p *planner) choose(tokens []language.Token, remark string) choice {
	if p.ended() != nil {
		panic(stopped{})
	}
	clause := p.Words.Clause(tokens, remark)
	var open, closed choice
	for _, t := range p.All() {
		switch r := p.Read(t, clause); {
		case r == nil || t.Closed && !r.Strong && r.Searches() || t.Writes() && !r.Strong && r.Target == nil && (t.Closed || len(r.Values) == 0 && clause.Remark == "") || r.Guesses() && (!p.guesses || t.Closed && !(r.Strong && len(p.Open) > 0)):
		case !t.Writes() && r.Target == nil && (t.Missing(r.Args).Is(schema.ID) || t.LacksOne(r.Args) || (!t.Lists() && r.Plural && len(r.Values) == 0 || !r.Strong && !t.Missing(r.Args).Is(schema.Search)) && t.Missing(r.Args) != nil): // something of many, which it tells of one
		case t.Closed:
			closed = append(closed, r)
		default:
			open = append(open, r)
		}
	}
	for _, c := range []choice{open, closed} {
		slices.SortStableFunc(c, func(a, b *match.Reading) int { return p.rank(b) - p.rank(a) })
	}
	them := func(t language.Token) bool {
		return p.Words.Is(t.Low, "people") || t.Low == "it" || t.Low == "those" || t.Low == "these"
	}
	if len(open) == 0 && len(closed) > 0 && !closed[0].Strong && len(p.lists)+len(p.before) > 0 && slices.ContainsFunc(tokens, them) {
		return nil // what was shown is not closed
	}
	if len(open) == 0 || len(closed) > 0 && closed[0].Strong && closed[0].Score >= open[0].Score+4 { // clearly
		return closed
	}
	return open
}

// rank is how likely a reading is: by its words, then by what it is about. Figures, the asker's own record and the last list are likelier than others that say as much.
func (p *planner) rank(r *match.Reading) int {
	coded := slices.ContainsFunc(r.Tokens, func(t language.Token) bool { return t.Sort != "" }) // which one that tells it is about
	listed := latest(p) == r.Tool && !coded
	likelier := listed || r.Measure.Kind != "" || r.Target != nil && r.Target.Entity.Self
	searched := r.Guesses() && r.Searches() && !r.Strong // texts with a word, which is no more than a guess
	return 3*r.Score - map[bool]int{true: 1}[r.Guesses() && len(r.Filters) > 1] - map[bool]int{true: 6}[searched] + map[bool]int{true: 7}[listed && p.refers] + map[bool]int{true: 2}[r.Strong] + map[bool]int{true: 1}[likelier]
}

// decline says what cannot be done, and what to ask instead.
func decline(c *match.Catalog, tokens []language.Token) string {
	clause := c.Words.Clause(tokens, "")
	lacks := lacking(c, tokens)
	likely := ranked(c, clause)
	ordered := slices.DeleteFunc(slices.Clone(likely), func(r *match.Reading) bool { return !r.Strong || !r.Tool.IsOrdered(c.Words, clause) })
	plainly := clause // a denial or a question is no lack of a tool
	plainly.Negations, plainly.Unsure, plainly.Asks = 0, false, false
	orders := c.Words.Is(clause.Verb, "action") && !clause.Asks && !c.Words.Is(clause.Verb, "reading", "present", "inventing")
	known := slices.ContainsFunc(c.Open, func(t *declared.Tool) bool { return t.IsOrdered(c.Words, plainly) })
	why := map[bool]string{true: fmt.Sprintf(" because I have no way to %q this", result.Markdown(clause.Verb))}[orders && !known]
	for i, r := range append(ordered, likely...) {
		unread := result.Markdown(r.Unread())
		switch closed := r.Tool.Closed && (r.Tool.IsOrdered(c.Words, clause) && (r.Strong || r.Target != nil) || r.Strong && !r.Tool.Writes() && !orders); {
		case lacks != "":
			return "I can't do that here. " + lacks + "; " + offer(c, clause)
		case i < 3 && r.Tool.Closed && r.Tool.Lists() && !c.Words.Is(clause.Verb, "action") && r.Tool.Columns.First(func(f *declared.Field) bool {
			return len(f.Roles) > 0 && r.Relevance(f.Name) > 4 && (len(f.Words) == 1 || r.Asked.Means(english.Stem(english.LastWord(f.Name))))
		}) != nil, i == 0 && closed && len(c.Open) > 0: // to one for whom nothing is open, no role tells what is missing
			return refuse(c, r)
		case c.Words.Is(clause.Verb, "inventing"):
			why = " because I invent no texts: I only pass yours on"
		case why == "" && unread != "" && !r.Tool.Closed && !r.Tool.Writes():
			why = fmt.Sprintf(" because I do not understand %q", unread)
		}
	}
	return "I can't do that here" + why + "; " + offer(c, clause)
}

// lacking tells what is not kept or done here, if a question asks for that.
func lacking(c *match.Catalog, tokens []language.Token) (tell string) {
	for all, question, i := c.All(), strings.Join(language.Lows(tokens), " "), 0; tell == "" && i < len(all); i++ {
		tell = result.Markdown(all[i].Lacking(question))
	}
	return tell
}

// ranked are the readings of a clause by all tools, the likeliest first.
func ranked(c *match.Catalog, clause lexicon.Clause) (likely []*match.Reading) {
	for _, t := range c.All() {
		likely = append(likely, c.Attempt(t, clause))
	}
	slices.SortStableFunc(likely, func(a, b *match.Reading) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), strings.Compare(b.Tool.Ask, a.Tool.Ask))
	})
	return likely
}

// offer names the three likeliest questions that tools declare, before what others do.
func offer(c *match.Catalog, clause lexicon.Clause) string {
	var asks, others []string
	for _, r := range ranked(c, clause) {
		switch t := r.Tool; {
		case t.Closed, t.Writes():
		case t.Ask == "":
			others = append(others, "“"+result.Markdown(t.Purpose())+"”")
		default:
			asks = append(asks, "“"+result.Markdown(t.Ask)+"”")
		}
	}
	asks = append(asks, others...)
	return map[bool]string{true: "you may ask me: "}[len(asks) > 0] + cmp.Or(result.Join(asks[:min(3, len(asks))], "or"), "none of this company's data is open to you here") + "."
}

// refuse names what is closed, the roles that it takes, and what one may ask instead.
func refuse(c *match.Catalog, r *match.Reading, of ...string) string {
	key := cmp.Or(r.Tool.Columns.First(func(f *declared.Field) bool { return len(f.Roles) > 0 && r.Relevance(f.Name) > 0 }), r.Tool.Column(speak.Column(r))).Name // "salaries of the sales department"
	what, roles, instead := map[bool]string{true: "change of the "}[r.Tool.Writes()]+append(of, r.Tool.Noun)[0], r.Tool.Info.Roles, offer(c, r.Clause)
	if shown := r.Tool.Column(key); len(shown.Roles) > 0 && (len(shown.Words) == 1 || r.Asked.Means(english.Stem(english.LastWord(key)))) { // who may list people need not see their pay
		what, roles = shown.Head(key), shown.Roles
		if t := r.Target; t != nil && t.Entity.Self && !r.Tool.Lists() { // which all employees see of themselves
			roles = r.Tool.Info.Roles
		} else if r.TellsOwn(key) {
			instead = "you can ask for your own " + what + "."
		}
	}
	return fmt.Sprintf("I'm sorry, “%s” is not open to you. For the %s it takes one of these roles: %s; %s", result.Markdown(language.Said(r.Tokens)), what, result.Join(roles, "or"), instead)
}
