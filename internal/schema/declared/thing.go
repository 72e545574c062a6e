package declared

import (
	"maps"
	"slices"
	"strings"

	"countersign.dev/internal/english"
	"countersign.dev/internal/facts"
	"countersign.dev/internal/language"
	"countersign.dev/internal/result"
	"countersign.dev/internal/schema"
)

// Thing is one of the things that the rows of a list are, or carry.
type Thing struct {
	ID   any // as the rows have it
	Row  result.Row
	Name string
}

// IDIn is the id in a row of a tool's list: of the declared field, of what the row carries, or
// of the row itself.
func IDIn(t *Tool, r result.Row, id *Field) any {
	from, key, _ := strings.Cut(id.From, ":")
	own := slices.IndexFunc(r.Keys, result.IsID)
	switch {
	case from == t.Info.Name && r.Values[key] != nil:
		return r.Values[key]
	case own >= 0 && (t.IsAbout(id.Noun) || r.Values[id.Name] == nil):
		return r.Values[r.Keys[own]]
	}
	return r.Values[id.Name]
}

// Called keeps the things that are called by all the words, or else those whose rows hold them,
// except in what says who did something with them: "Ada" means none of what she approved.
// Of several, one that is called by no other words is meant: INV-001, not INV-2025-001.
func Called(things []Thing, words []string) []Thing {
	by := func(wordsOf func(Thing) []string) []Thing {
		return slices.DeleteFunc(slices.Clone(things), func(t Thing) bool {
			return len(words) == 0 || english.Shared(words, wordsOf(t)) < len(words)
		})
	}
	if named := by(func(t Thing) []string { return english.Prose(t.Name) }); len(named) > 0 {
		longer := func(t Thing) bool { return len(english.Prose(t.Name)) != len(words) }
		if whole := slices.DeleteFunc(slices.Clone(named), longer); len(whole) == 1 {
			return whole
		}
		return named
	}
	return by(func(t Thing) []string {
		t.Row.Keys = slices.DeleteFunc(slices.Clone(t.Row.Keys), func(k string) bool { return english.LastWord(k) == "by" })
		return facts.Words(t.Row)
	})
}

// ListerOf is the list whose rows carry an id, best the one that the id declares; nil for none.
func ListerOf(tools []*Tool, id *Field) (best *Tool) {
	declared, _, _ := strings.Cut(id.From, ":")
	for _, t := range tools {
		if t.Lists() && (t.Info.Name == declared || best == nil && t.IsAbout(id.Noun)) {
			best = t
		}
	}
	return best
}

// Settle works out the arguments that are given relative to what the row of a thing has now, as
// tokens, and leaves out what it cannot work out.
func Settle(row result.Row, args map[string]any) {
	for name, arg := range args {
		if step, relative := arg.(language.Token); relative {
			args[name] = facts.Raised(row, name, step.Value, step.Percent)
		}
	}
	maps.DeleteFunc(args, func(_ string, arg any) bool { return arg == nil })
}

// ReadsMore reports whether one of some tools reads texts of one thing of a list that the list
// does not have, such as the lines of a report.
func ReadsMore(tools []*Tool, list *Tool) bool {
	more := func(f *Field) bool { return f.Is(schema.Text) && list.Columns.Named(f.Name) == nil }
	return slices.ContainsFunc(tools, func(t *Tool) bool {
		return t.Head == list.Head && !t.Lists() && !t.Writes() && t.Columns.First(more) != nil
	})
}

// Identify sets of what sort the ids among tokens are, and writes numbers as such ids: "ticket 4" is TICK-004.
func Identify(tools []*Tool, tokens []language.Token) {
	for i, t := range tokens {
		for _, tool := range tools {
			if id := tool.Inputs.First(func(f *Field) bool { return f.IsIn(tokens, i) }); id != nil {
				text := id.Spelled(t.Text)
				low := strings.ToLower(text)
				tokens[i] = t.As(language.Token{Text: text, Low: low, Stem: low, Kind: language.Code, Owns: t.Owns, Sort: english.Stem(id.Noun)})
				break
			}
		}
	}
}
