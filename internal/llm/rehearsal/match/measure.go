package match

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"countersign.dev/internal/english"
	"countersign.dev/internal/language"
	"countersign.dev/internal/language/lexicon"
	"countersign.dev/internal/result"
	"countersign.dev/internal/schema"
	"countersign.dev/internal/schema/declared"
)

// measure finds "how many", "total", "top 5", "budget against spend".
func (r reader) measure(i int) {
	words := r.Lows(i)
	if called := r.Tool.Called(english.Stem(r.Low(i + 1))); r.Low(i) == "by" && called != "" && r.Low(i+2) == "" && r.Measure.Kind == "" && r.Tool.Lists() { // "employees by surname"
		limit, _ := r.Args["limit"].(float64)
		r.Measure = Measure{Kind: "sort", Count: cmp.Or(int(limit), 1<<30), Column: called}
		delete(r.Args, "limit")
		r.take(read, i, 2, 1)
		return
	}
	if (r.Low(i) == "by" || r.Low(i) == "per") && r.Low(i+1) != "" && r.Low(i+2) == "" && r.Measure.Kind == "" && r.Tool.Lists() { // "spend by vendor", "customers by revenue"
		kind := map[bool]string{true: "sum", false: "count"}[r.Tool.Columns.Found(func(f *declared.Field) bool { return f.Quantity() && r.Any(f.Says) }).Name != ""]
		r.Measure = Measure{Kind: kind}
		limit, limited := r.Args["limit"].(float64)
		if r.extent(i); r.Measure.By == "" {
			r.Measure = Measure{}
		}
		if limited && r.Measure.By != "" { // "list 5 tasks by priority"
			r.Asked[r.Tokens[i+1].Stem], r.Measure = true, Measure{Kind: "sort", Count: int(limit)}
		} else if r.Tool.Columns.Found(func(f *declared.Field) bool {
			return f.Is(schema.Number, schema.Date) && f.Says(english.Stem(r.Low(i+1)))
		}).Name != "" {
			r.Measure = Measure{Kind: "sort", Count: 1 << 30}
			r.take(read, i, 1, 0)
		}
	}
	if slices.Contains(strings.Fields("per each every by"), r.Low(i)) && slices.Contains(strings.Fields("day week month quarter year"), r.Low(i+1)) && r.Tool.Lists() && r.Measure.By == "" && r.Measure.Kind != "sort" {
		r.Negations++ // days are not put together to months
	}
	for _, kind := range lexicon.Measures {
		n := r.x.Phrase(kind, words)
		switch {
		case !r.Tool.Lists() || n == 0 || i > 0 && r.Tokens[i].Capital || (r.Low(i) == "low" || r.Low(i) == "high") && r.Tool.Columns.Found(func(f *declared.Field) bool { return f.Is(schema.Number) && f.Says(english.Stem(r.Low(i+1))) }).Name == "" || n == 1 && r.Tool.Names(r.Tokens[i].Stem) || kind == "compare" && r.Tool.Columns.Found((*declared.Field).Quantity).Name == "":
		case kind != "upcoming" && (r.Measure.Kind == "" || r.Measure.Kind == "sum" && !strings.Contains("count sum average", kind)): // "how much was the last one?"
			r.Measure = Measure{Kind: kind, Count: map[bool]int{true: 1 << 30, false: 1}[kind == "sort"]}
			r.take(read, i, n, 0)
			r.extent(i + n)
		case kind == "upcoming" && r.Measure.Kind == "" && (r.Tool.Said(r.Tokens[i].Stem) < declared.InColumns || !r.Tokens[max(0, i-1)].Owns && !r.x.Is(r.Low(i-1), "self")): // the nearest of the days to come
			due := r.Tool.Columns.Found(func(f *declared.Field) bool { return f.Is(schema.Date) && f.Has("due", "expected") }).Name
			if r.Low(i) == "soon" && r.Tool.Columns.Found(func(f *declared.Field) bool { return f.Has("due") }).Name != "" { // what is late is due soon, too
				continue
			}
			if r.among(schema.Date, due, func(day string, _ float64) bool {
				return day >= r.c.Today.Format(time.DateOnly) || strings.HasPrefix(due, "next_") && r.Low(i) != "upcoming" // what is late comes next, too
			}) {
				r.Measure = Measure{Kind: "oldest", Count: map[bool]int{true: 5, false: 1}[r.Low(i) == "soon"], Column: r.Filters[len(r.Filters)-1].Column}
				r.take(read, i, n, 1)
				r.extent(i + n)
			}
			latest := r.Tool.Inputs.First(func(f *declared.Field) bool {
				return f.Is(schema.Date) && f.Side == upper && f.Has("due") && !r.taken(f)
			})
			if strings.HasPrefix(due, "next_") && latest != nil { // by which there is one row of each
				r.Args[latest.Name] = r.c.Today.AddDate(2, 0, 0).Format(time.DateOnly)
			}
		case kind == "sum" || kind == "sort": // "how many … in total", "sorted by value, largest first"
			r.take(read, i, n, 0)
		}
	}
}

// extent reads how many rows "top" asks for, and of what; its phrase ends at end.
func (r reader) extent(end int) {
	m := &r.Measure
	if m.Kind != "sort" && (r.Low(1) == "are" || r.isAnchor(end+1) && english.Plural(r.Low(end+1)) && r.Low(end) != "" && r.uses[end] == given || english.Plural(r.Low(end)) && (r.isAnchor(end) || r.Tool.Said(r.Tokens[end].Stem) >= declared.InColumns && r.Low(end-1) != "most")) { // not "who has the most days?"
		m.Count = 5 // are "the biggest orders"
	}
	if limit, ok := r.Args["limit"].(float64); ok {
		m.Count = int(limit)
		delete(r.Args, "limit") // the rows are chosen among all of them
	}
	named := func(t language.Token) bool { return r.Tool.Said(t.Stem) >= declared.InSynonym }
	for at, t := range r.Tokens {
		whose := r.x.Is(t.Low, "who")
		each := slices.Contains([]string{"each", "per", "every", "by"}, r.Low(at-1))
		literal := func(f *declared.Field) bool { return slices.Contains(f.Words, english.Singular(t.Low)) }
		found := r.Tool.Columns.Found(func(f *declared.Field) bool {
			ours := f.Is(schema.Title) && !r.x.IsOurs(r.Tool.Head) && len(f.Words) > 0 && r.x.IsOurs(english.Stem(f.Words[0])) // employee_name
			return f.Is(schema.Text, schema.Choice) && (f.Says(t.Stem) || whose && r.x.Is(append(f.Words, "")[0], "holder")) || whose && ours
		})
		name := r.Tool.Columns.Found(func(f *declared.Field) bool {
			return (len(f.Words) == 2 && f.Words[1] == "name" || r.x.Is(f.Name, "holder")) && f.Says(t.Stem)
		}).Name // customer_name for "customers"
		done := map[bool]string{true: declared.DoneBy(r.Tool, english.Stem(r.Low(at+1)))}[whose]                              // "who approved the most?"
		of := cmp.Or(done, map[bool]string{false: found.Name}[name != "" && !literal(found) && literal(r.Tool.Column(name))]) // "reviewer" is of reviewer_name, and not of review_period
		switch {
		case r.free(at) && m.OverDates() && each && r.Low(at-1) != "by" && of+name != "":
			r.Negations++ // the last one of each
		case whose && r.Has("most", "fewest") && done == "" && r.Tool.Columns.Found(func(f *declared.Field) bool { return f.Has("created") && f.Also[english.Stem(r.Low(at+1))] }).Name != "":
			r.Negations++ // who opened them is not said
		case !r.free(at) || m.OverDates() || m.Kind == "sort":
		case of+name != "" && each && (strings.Contains("count sum average", m.Kind) || (m.Kind == "highest" || m.Kind == "lowest") && m.Count == 1 && of != "" && !r.isAnchor(at)):
			if m.By != "" && r.Has("and") { // "by vendor and by department" are two questions
				r.Negations++
			}
			m.By, m.Of, m.Each = cmp.Or(of, name), t.Low, (m.Kind == "highest" || m.Kind == "lowest") && (r.Low(at-1) != "by" || !r.Has("which")) // "which is the highest payroll by department?"
			r.take(read, at-1, 2, 1)
		case r.Has("most", "fewest") && (whose || r.Low(at-1) == "which") && of+name != "" && !r.isAnchor(at) && (slices.ContainsFunc(r.Tokens, named) || slices.Contains(r.uses, given)):
			m.By, m.Of, m.Count = cmp.Or(of, name), "of them", 1 // "which department has the most invoices?"
			m.Column = map[bool]string{true: r.Tool.Rows}[slices.ContainsFunc(r.Tokens[end:], func(t language.Token) bool {
				return named(t) && english.Plural(t.Low) || t.Low == "people" && r.OfPeople()
			}) && !r.Any(r.Tool.Column(r.Tool.Amount()).Says)]
			r.take(read, at, 1, 4)
		case m.Kind != "count" && m.Kind != "compare" && result.IsAmount(r.Tool.Amount()) && name != "" && (english.Plural(t.Low) || r.Low(at+1) == "") && !r.isAnchor(at) && (!r.isAnchor(end) || at == end+1):
			m.By, m.Of, m.Count = name, t.Low, map[bool]int{true: m.Count, false: 1}[english.Plural(t.Low)]
			r.take(read, at, 1, 4)
		case of != "" && r.Low(at-1) == "which" && m.Kind == "highest" && r.Tool.Amount() == "": // "which department is the biggest?"
			m.By, m.Of, m.Count, m.Column = of, t.Low, 1, r.Tool.Rows
			r.take(read, at, 1, 4)
		}
	}
}

// topFirst has a list put the highest amounts first, if it can: one page has them. Of those in a state, the last came into it last.
func (r reader) topFirst() {
	for _, f := range r.Tool.Inputs {
		if state, is := r.Args[f.Name].(string); is && f.Is(schema.Choice) && r.Measure.OverDates() && r.Measure.Column == "" {
			r.Measure.Column = declared.Since(r.Tool, state)
		}
	}
	amount := r.Tool.Amount()
	f := r.Tool.Inputs.First(func(f *declared.Field) bool { return f.Is(schema.Order) && slices.Contains(f.Enum, amount+"_desc") })
	other := r.Tool.Columns.Found(func(f *declared.Field) bool {
		return f.Is(schema.Number) && f.Name != amount && r.Relevance(f.Name) > 0
	})
	if f != nil && r.Measure.Kind == "highest" && r.Measure.By == "" && !r.taken(f) && other.Name == "" {
		r.Args[f.Name], r.Measure.Column = amount+"_desc", amount
	}
}
