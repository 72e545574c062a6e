package match

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"countersign.dev/internal/calendar"
	"countersign.dev/internal/english"
	"countersign.dev/internal/language"
	"countersign.dev/internal/language/lexicon"
	"countersign.dev/internal/result"
	"countersign.dev/internal/schema"
	"countersign.dev/internal/schema/declared"
)

// value fills "over 200k", "this month", or a new amount into its input.
func (r reader) value(i int) {
	t, b := r.Tokens[i], r.x.Bounds(r.Clause, i)
	if b.Side == lower && r.Low(b.At) == "from" && t.Kind == language.Date && t.Span.Months > 0 && !r.x.Is(r.Low(i+1), "upto") && r.Low(i+1) != "to" {
		b.Side = none // "invoices from last quarter" are of that quarter
	}
	if b.Side == upper && !b.Beyond || r.Has("due", "expected", "closing", "upcoming", "will") { // Friday is to come
		t.Span = t.Span.Next(r.c.Today)
	}
	switch {
	case t.Kind == language.Date && happened(r, b, b.Keeps(t.Span)):
	case t.Kind == language.Date && (r.period(t.Span, b) || r.days(t.Span, b)):
		r.take(given, b.At, b.End-b.At, 3) // which says nothing of what is asked for
		r.Score++
		than := func(t language.Token) bool { return slices.Contains([]string{"than", "versus", "vs"}, t.Low) }
		if r.Low(b.At-1) != "more" && slices.ContainsFunc(r.Tokens[:b.At], func(t language.Token) bool { return t.Kind == language.Date }) && slices.ContainsFunc(r.Tokens[:b.At], than) {
			r.Negations++ // "more this year than last year"
		}
		if r.Low(b.At-1) == "or" && b.At > 1 && r.Tokens[b.At-2].Kind == language.Date || r.Low(b.At) == "and" && b.At > 0 && r.Tokens[b.At-1].Kind == language.Date && r.x.Bounds(r.Clause, b.At-1).Side != lower { // "this week and last week" are two questions
			r.Negations++
		}
	case t.Kind == language.Number:
		r.number(i, b)
	}
}

func (r reader) number(i int, b lexicon.Bounds) {
	t, f := r.Tokens[i], r.numberFor(i, b.Side)
	rest := []string{"left", "remaining", "remains", "unused", "unspent", "available"}
	if b.Side != none && r.Tool.Lists() && (t.Percent && r.Has(rest...) && r.Tool.Columns.First(func(f *declared.Field) bool { return f.Unit == "percent" && f.Has(rest...) }) == nil || slices.ContainsFunc(r.Tokens[i+1:min(i+3, len(r.Tokens))], r.c.Joint().Noun)) {
		r.Negations++ // "less than 10% left" is no share that was used, and "more than 2 open deals" no value
	}
	figure := strconv.FormatFloat(t.Value, 'f', -1, 64)
	switch {
	case f != nil && f.Side != none && !r.Tool.Writes():
		if r.Args[f.Name] = result.Cents(t.Value); b.Beyond {
			r.Filters = append(r.Filters, Filter{Entity: Entity{Column: f.Base}, Keeps: func(_ string, n float64) bool { return n != t.Value }})
		}
		r.Tokens[i].Text = r.Tool.Column(f.Base).Figure(figure, "")
		r.take(given, b.At, b.End-b.At, 3)
	case f != nil:
		r.Args[f.Name] = result.Cents(t.Value)
		moves := r.x.Is(r.Low(i+1), "rising", "falling") || slices.Contains([]string{"of", "with"}, r.Low(i-1)) && slices.ContainsFunc(r.Tokens, func(t language.Token) bool { return r.x.Is(t.Low, "rising", "falling") }) // "a raise of $2,000"
		if r.Tool.Writes() && (t.Percent || r.Low(i-1) == "by" || moves) {
			t.Value *= map[bool]float64{true: -1, false: 1}[r.x.Is(r.Verb, "falling")]
			r.Args[f.Name] = t
		}
		r.take(given, i, 1, 2)
	case r.Tool.Writes() && r.isAnchor(i+1) && english.Plural(r.Low(i+1)) && r.Tool.Missing(r.Args).IsText(): // "three subtasks"
		r.Each = int(t.Value)
		r.take(read, i, 1, 1)
	case r.Tool.Lists() && b.Side == none && (r.isAnchor(i+1) || r.x.Is(r.Low(i-1), lexicon.Measures...) || r.x.Is(r.Low(i+1), lexicon.Measures...)):
		r.Args["limit"] = min(50, max(1, t.Value))
		r.take(read, i, 1, 1)
	case b.Side != none && !yearShape.MatchString(t.Text) && r.among(schema.Number, "", func(_ string, n float64) bool {
		return cmp.Compare(t.Value, n) == int(b.Side) || !b.Beyond && n == t.Value
	}):
		r.Tokens[i].Text = r.Tool.Column(r.Filters[len(r.Filters)-1].Column).Figure(figure, "")
		r.take(given, b.At, b.End-b.At, 3)
	}
}

var yearShape = regexp.MustCompile(`^(19|20|21)\d\d$`)

// numberFor is the free input that a number is for, by the words around it, or that an order still misses.
func (r reader) numberFor(i int, end schema.Side) *declared.Field {
	year := yearShape.MatchString(r.Tokens[i].Text)
	free := func(f *declared.Field) bool {
		return f.Is(schema.Number) && !r.taken(f) && (year || !f.Has("year")) && (r.Tool.Writes() || !r.Tokens[i].Percent || f.Unit == "percent") // "more than 50%" is no amount
	}
	said := func(f *declared.Field) bool {
		return free(f) && (end != none && f.Side == end || f.Has("year", r.Low(i-1), r.Low(i+1)))
	}
	missing := func(f *declared.Field) bool { return free(f) && f.Required && r.Tool.Writes() }
	paid := func(f *declared.Field) bool { return free(f) && f.Amount && r.Tool.Writes() }
	return cmp.Or(r.Tool.Inputs.First(said), r.Tool.Inputs.First(missing), r.Tool.Inputs.First(paid))
}

// period fills inputs named by a period: a year, "Q1 2026", or "Q1" beside a year.
func (r reader) period(s calendar.Span, b lexicon.Bounds) bool {
	unit := map[int]string{1: "month", 3: "quarter", 12: "year"}[s.Months]
	f := r.Tool.Inputs.First(func(f *declared.Field) bool {
		return unit != "" && f.Has(unit) && (f.IsText() || f.Is(schema.Number, schema.Choice)) && (!r.taken(f) || b.Side != none && r.Args[f.Name] == nil)
	})
	if f == nil {
		return false
	}
	written := map[string]any{"month": s.From.Format("2006-01"), "quarter": s.Quarter() + s.From.Format(" 2006"), "year": s.From.Year()}
	if b.Side != none { // of several periods, of which the input takes one
		if within := b.Keeps(s); unit == "quarter" || !r.Tool.Lists() || r.Tool.Columns.Named(f.Name) == nil {
			r.Negations++
		} else {
			r.Filters = append(r.Filters, Filter{Entity: Entity{Column: f.Name}, Keeps: func(text string, n float64) bool { return within(calendar.First(cmp.Or(text, fmt.Sprint(n))), n) }})
		}
		return true
	}
	if r.Args[f.Name] = written[unit]; unit == "quarter" && f.Is(schema.Choice) { // of a year that may have an input of its own
		r.Args[f.Name], s.Months = s.Quarter(), 12
		r.period(s, b)
	}
	return true
}

// days fills the first and the last day of one thing, or the only day that the tool takes. Without such an input, or with more than one, it keeps rows by their dates.
func (r reader) days(s calendar.Span, b lexicon.Bounds) bool {
	s = b.Of(s)
	within := b.Keeps(s)
	fits, last := []*declared.Field(nil), none
	dated := r.Tool.Columns.Found(func(f *declared.Field) bool { return f.Name == r.Tool.DateColumn() && r.Any(r.Tool.Names) })
	for _, f := range r.Tool.Inputs {
		if f.Is(schema.Date) && !r.taken(f) && (b.Side == none || b.Side == f.Side) {
			fits, last = append(fits, f), max(last, f.Side)
		}
	}
	said := func(f *declared.Field) bool {
		return r.Any(func(stem string) bool { return stem != "from" && f.Says(stem) }) && !r.Has("dated")
	}
	usual := func() bool {
		if b.Side == none && dated.Name != "" && declared.States(r.Tool, cmp.Or(map[bool]string{true: r.Low(b.At - 2)}[slices.Contains(english.Function, r.Low(b.At-1))], r.Low(b.At-1))) && !r.Any(func(s string) bool { return dated.Says(s) && !r.Tool.Anchors(s) }) { // "paid in May", of which there is no day
			r.Negations++
			return true
		}
		return r.among(schema.Date, dated.Name, within)
	}
	switch {
	case len(fits) == 0 || fits[0].Base != fits[len(fits)-1].Base || b.Side != lower && fits[0].Side == lower && last != upper:
		return usual()
	case !slices.ContainsFunc(fits, said) && !dated.Has(fits[0].Words...) && dated.Show != result.ShowDetail && usual():
		return true // "invoices of last month" are not those that were due in it
	}
	for _, f := range fits {
		r.Args[f.Name] = f.Day(s)
	}
	if b.Side == none && len(fits) == 1 && last == upper { // by which there are rows of earlier days, too
		r.among(schema.Date, "", within)
	}
	return true
}

// among keeps the rows of a list whose value in the column that a word names, or else in another one, is kept. A word that names that one, too, means it.
func (r reader) among(kind schema.Kind, instead string, keeps func(text string, number float64) bool) bool {
	said := func(f *declared.Field, t language.Token) bool {
		money := t.Kind == language.Number && (t.Value >= 1000 || strings.ContainsAny(t.Text, "$€£")) // "deals under 100k"
		return money && f.Name == r.Tool.Amount() || t.Kind == language.Word && f.Says(t.Stem) && !r.others(t.Stem)
	}
	percent := slices.ContainsFunc(r.Tokens, func(t language.Token) bool { return t.Percent && kind == schema.Number })
	named := func(f *declared.Field) bool {
		return f.Is(kind) && !percent && f.Name != r.Tool.Amount() && slices.ContainsFunc(r.Tokens, func(t language.Token) bool { return t.Kind == language.Word && said(f, t) })
	}
	usual := r.Tool.Columns.Found(func(f *declared.Field) bool { return f.Name == instead && named(f) }).Name
	column := cmp.Or(usual, r.Tool.Columns.Found(named).Name, r.Tool.Columns.Found(func(f *declared.Field) bool {
		return f.Is(kind) && percent == (f.Unit == "percent") && (percent || slices.ContainsFunc(r.Tokens, func(t language.Token) bool { return said(f, t) }))
	}).Name, instead)
	if r.Has("dated") { // "invoices dated this month"
		column = cmp.Or(instead, column)
	}
	if column == "" || !r.Tool.Lists() {
		return false
	}
	r.Filters = append(r.Filters, Filter{Entity: Entity{Column: column}, Keeps: keeps})
	r.Score -= map[bool]int{true: 1}[column == instead]
	return true
}

// choices fills in switches and inputs with a fixed set of values.
func (r reader) choices() {
	dated := slices.ContainsFunc(r.Tokens, func(t language.Token) bool { return t.Kind == language.Date || t.Low == "when" })
	for _, f := range slices.Concat(r.Tool.Inputs, r.Tool.States) {
		for _, p := range f.Phrased {
			for i := range r.Tokens {
				by, extreme := r.Tool.Columns.Named(strings.Join(p.Words, "_")+"_by") != nil && r.Has("who") || r.Low(i+1) == "the" && english.Plural(r.Low(i-1)), f.Is(schema.Number) && r.Has("most", "least") // "who approved it" and "which customers open the most tickets" ask for no state
				named := i > 1 && r.Tokens[i].Capital && r.Tokens[i-1].Capital && !r.x.Is(r.Low(i-1), "idle") && r.Tool.Said(r.Tokens[i-1].Stem) == declared.Nowhere                                             // "Acme Enterprise"
				state := strings.HasSuffix(strings.Join(p.Words, " "), "ed") && !strings.HasSuffix(r.Low(i), "ed")
				happened := f.Is(schema.Choice) && r.Tool.Columns.Found(func(f *declared.Field) bool {
					return f.Is(schema.Date) && (dated && slices.Contains(f.Synonyms, r.Low(i)) || state && !r.Has("did") && r.Low(i) != "" && f.Also[r.Tokens[i].Stem])
				}).Name != "" // "opened this week", "what closes next"
				end := i + len(p.Words)
				if f.Is(schema.Choice) && r.taken(f) && !happened && r.reads(i, p.Words) {
					besides(r, f, p, i)
				}
				if dated && f.Is(schema.Date) && len(p.Words) > 2 && r.reads(i, p.Words) { // "do I have to do today"
					r.take(read, i, len(p.Words), 2)
				}
				first := f.Is(schema.Order) && r.Has("ascending", "asc") || f.Is(schema.Order) && r.x.Is(r.Low(i), lexicon.Measures...) && r.isAnchor(i+1) && !english.Plural(r.Low(i+1)) // "the latest deal"
				bound := r.x.Is(r.Low(i), "over", "under") && end < len(r.Tokens) && r.Tokens[end].Kind != language.Mark
				doer := declared.DoneBy(r.Tool, r.Tokens[i].Stem)
				if e := (Entity{}); doer != "" && (r.Low(i-1) == "i" || r.Low(i-2) == "did" && r.Tokens[i-1].Capital && r.Tool.Column(doer).Show != result.ShowDetail) && r.Tool.Lists() && r.reads(i, p.Words) { // "did I approve"
					e = r.entity(i - 1)
					e.Column = doer
					r.Filters = append(r.Filters, Filter{Entity: e})
					r.take(given, i-1, 1+len(p.Words), 2)
					continue
				}
				one := r.x.Is(r.Low(i), "present") && i == r.Order && slices.ContainsFunc(r.Tokens, func(t language.Token) bool { return t.Sort != "" })
				if one || bound || r.x.Is(r.Low(end), "unit") || strings.HasPrefix(strings.Join(p.Words, " "), "not ") && (r.Low(end) == "to" || r.Low(end) == "by") { // "open ticket 4", "over 5", "our sales team", "not assigned to Ada"
					continue
				}
				done := f.Is(schema.Choice) && (event(r, i) != nil || doer != "" && r.Low(end) == "by") // "approved by Ada", whatever it is by now
				if first || r.taken(f) || by || done || extreme || named || happened || dated && f.Is(schema.Date) || !r.reads(i, p.Words) {
					continue
				}
				if r.take(given, i, len(p.Words), 4); r.x.Is(r.Low(i), "sum") { // "total sales"
					r.uses[i] = unread
				}
				switch {
				case f.Is(schema.Choice) && r.Low(i-1) == "not" && r.Tool.Lists(): // "not solved" is any other value
					r.take(given, i-1, 1+len(p.Words), 0)
					other := func(text string, _ float64) bool { return !slices.Contains(p.Values, any(text)) }
					r.Filters = append(r.Filters, Filter{Entity: Entity{Column: f.Name}, Keeps: other})
				case f.Is(schema.Date): // what is due today is not overdue
					r.Asked[r.Tokens[i].Stem], r.Args[f.Name] = true, r.c.Today.AddDate(0, 0, map[bool]int{true: -1}[p.Values[0] == "yesterday"]).Format(time.DateOnly)
				case slices.Contains([]string{"is", "was", "has", "did"}, r.Low(0)) && r.Low(1) != "there" && r.Low(1) != "any" && i+len(p.Words) == len(language.Lows(r.Tokens)):
					r.take(meant, i, len(p.Words), 0)
					r.Asked[english.Stem(f.Words[0])] = true // "is the order paid?" asks for its state, of whatever state it is
				case len(p.Values) == 1 && r.Tool.Inputs.Named(f.Name) == f:
					r.Args[f.Name], r.Asked[r.Tokens[i].Stem] = p.Values[0], f.Type == "boolean" // "what is blocked, and by what?"
				case r.Tool.Lists():
					r.Filters = append(r.Filters, Filter{Entity: Entity{Column: f.Name}, Values: p.Values})
				}
			}
		}
	}
}

// besides reads a second state of an input. It keeps the rows with one of two that words join, "open and in progress", of which one has several words: others are two questions, and no row has two without such a word.
func besides(r reader, f *declared.Field, p result.Phrase, i int) {
	was, and, enum := []any{r.Args[f.Name]}, []string{"and", "or"}, r.Tool.Column(f.Name).Enum
	for _, by := range r.Filters {
		if by.Column == f.Name && by.Values != nil {
			was = by.Values
		}
	}
	stored := !slices.ContainsFunc(slices.Concat(was, p.Values), func(v any) bool { return !slices.Contains(enum, fmt.Sprint(v)) })
	switch joined := slices.Contains(and, r.Low(i-1)) || slices.Contains(and, r.Low(i+len(p.Words))); {
	case slices.Contains(was, p.Values[0]):
	case joined && stored && r.Args[f.Name] != nil && len(p.Values) == 1 && (len(p.Words)+len(english.Words(fmt.Sprint(was[0]))) > 2 || r.x.Is(fmt.Sprint(was[0]), "present") || r.x.Is(p.Words[0], "present")):
		delete(r.Args, f.Name)
		r.Filters = append(r.Filters, Filter{Entity: Entity{Column: f.Name}, Values: append(was, p.Values...)})
		r.take(given, i, len(p.Words), 4)
	case joined || stored:
		r.Negations++
	}
}

// topic takes all of the text behind "tickets about" as what is searched for, whatever else its words mean. A list is not meant where another one of the same things can be searched for several words.
func (r reader) topic(i int) {
	with := r.Low(i) == "with" && r.Low(i+1) != "" && !r.Tokens[i+1].Capital && r.uses[i+1] == unread && r.Tool.Said(r.Tokens[i+1].Stem) == declared.Nowhere && r.x.MayBeValue(r.Low(i+1)) && !r.x.Is(r.Low(i+1), "idle") && r.Tool.Lists()
	if !with && !r.x.Is(r.Low(i), "topic") && (r.Low(i) != "for" || !r.Has("search")) || !slices.ContainsFunc(r.Tokens[:i], func(t language.Token) bool { return r.Tool.Anchors(t.Stem) }) {
		return
	}
	texts := func(f *declared.Field) bool { return f.Is(schema.Search) }
	if tags := func(f *declared.Field) bool { return f.IsText() && f.Has("tag") }; r.Low(i) == "tagged" && r.alike(tags) {
		texts = tags
	}
	f, searched := r.Tool.Inputs.First(func(f *declared.Field) bool { return texts(f) && !r.taken(f) }), r.alike(texts)
	if f == nil && !searched && (!r.Tool.Lists() || i+1 < len(r.Tokens) && r.Tokens[i+1].Capital) {
		return
	}
	var words []string
	end := i + 1
	for ; end < len(r.Tokens) && !r.leavesTopic(end); end++ {
		if !slices.Contains(english.Function, r.Low(end)) {
			words = append(words, r.Tokens[end].Text)
		}
	}
	text := strings.Join(words, " ")
	if text == "" {
		return
	}
	if slices.ContainsFunc(r.Tokens[i:end], func(t language.Token) bool { return t.Low == "or" }) {
		r.Negations++ // of two texts, which are looked for together
	}
	if f != nil {
		r.Args[f.Name], r.Topic = text, true
	} else if searched && len(words) > 1 { // of which tags would be any
		r.Negations++
	} else { // it is looked for in the rows
		r.Filters = append(r.Filters, Filter{Entity: Entity{Text: text, Words: english.Prose(text)}})
	}
	r.take(read, i, 1, 3)
	r.take(given, i+1, end-i-1, 0)
}

// leavesTopic reports whether a word goes on with the question behind the text that is searched for: a value that narrows it, or a word of its sentence.
func (r reader) leavesTopic(i int) bool {
	t, next := r.Tokens[i], append(slices.Clone(r.Tokens[i+1:]), language.Token{Kind: language.Mark})[0]
	return r.uses[i] == given || t.Kind == language.Date || t.Kind == language.Mark ||
		slices.Contains([]string{"that", "which", "who", "are", "is", "was", "were", "do", "does", "did", "have", "has", "since", "please", "thanks", "thx", "kindly"}, t.Low) ||
		slices.Contains([]string{"in", "from", "by", "with"}, t.Low) && (t.Low != "in" || r.Tool.Columns.Found(func(f *declared.Field) bool { return f.Has("location", "city") }).Name != "") && (next.Capital || next.Kind == language.Date || r.x.Is(next.Low, "self")) ||
		t.Low == "and" && r.x.Is(next.Low, "reading", "present", "self")
}

// relation finds a word for a relation of people ("my team"), of this list or of another whose rows narrow it.
func (r reader) relation(i int) {
	s := r.Tokens[i].Stem
	for _, from := range append([]*declared.Tool{r.Tool}, r.c.Open...) {
		f := from.Relation(s)
		ofNone := r.x.Stems["person"][s] && (i > 0 || r.Low(1) != "of" && r.Low(1) != "under") && !r.Tokens[max(0, i-1)].Owns && !r.x.Is(r.Low(i-1), "self") // "which people"
		if f == nil || ofNone || !r.free(i) || !r.Tool.Lists() || r.Tool.Names(s) || from != r.Tool && r.Tool.Columns.First(from.Identified) == nil {
			continue
		}
		if r.follows(i) && r.x.IsOurs(from.Head) { // "the sales team"
			if from == r.Tool {
				r.Filters = append(r.Filters, Filter{Entity: Entity{Text: r.Tokens[i-1].Text, Words: []string{r.Low(i - 1)}, Located: true, at: i - 1, end: i}})
				r.take(given, i-1, 1, 2)
				r.take(read, i, 1, declared.InNoun.Weight()+1)
			}
			continue
		}
		r.Target = cmp.Or(r.Target, &Target{Tool: from, Input: f, at: i})
		r.take(read, i, 1, map[bool]int{true: declared.InNoun.Weight() + 1, false: 1}[from == r.Tool]) // another's does not tell what is asked for
		return
	}
}

// follows reports whether a team or the like, the i-th token, is of what the word before it says.
func (r reader) follows(i int) bool {
	of := r.Low(i - 1)
	if !r.x.Is(r.Low(i), "unit") || !r.free(i-1) || r.Tokens[i-1].Kind != language.Word || r.Tokens[i-1].Owns {
		return false
	}
	return r.x.MayBeValue(of) && !r.x.IsOurs(r.Tokens[i-1].Stem) && !r.x.Is(of, "present", "reading", "idle", "who", "place", "owner", "bulk") && !slices.Contains(english.Function, of)
}
