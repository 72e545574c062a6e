package declared

import (
	"slices"
	"time"

	"countersign.dev/internal/language"
	"countersign.dev/internal/language/lexicon"
	"countersign.dev/internal/schema"
)

// Everywhere is the question for each list of some tools whose texts can be searched, of one
// that asks to search and does not say where ("search for logins"), or of a word or a name that
// no tool knows ("logins"). asked reports whether it asks to search.
func Everywhere(x *lexicon.Lexicon, tools []*Tool, knows func(stem string) bool, tokens []language.Token, today time.Time) (questions [][]language.Token, asked bool) {
	what := ""
	if m := lexicon.SearchFor.FindStringSubmatch(language.Text(tokens)); m != nil {
		what, asked = m[1], true
	}
	unknown := func(t language.Token) bool {
		return t.Kind != language.Word || !x.MayBeValue(t.Low) || x.Is(t.Low, "idle") || knows(t.Stem)
	}
	name := !slices.ContainsFunc(tokens, func(t language.Token) bool { return !t.Capital })
	if short := len(tokens) == 1 || len(tokens) == 2 && name; !asked && short && !slices.ContainsFunc(tokens, unknown) {
		what = language.Text(tokens)
	}
	for _, t := range tools {
		named := t.Inputs.First(func(f *Field) bool { return f.Is(schema.Title) || t.Columns.Named(f.Name+"_name") != nil }) != nil
		switch {
		case !t.Lists() || what == "":
		case t.Inputs.First(func(f *Field) bool { return f.Is(schema.Search) && (asked || !f.Also["where"]) }) != nil: // what is asked where something is has no names
			questions = append(questions, language.Read(t.Rows+" about "+what, today))
		case named && name && !asked:
			questions = append(questions, language.Read(t.Rows+" called "+what, today))
		}
	}
	return questions, asked && len(questions) > 0
}
