package result

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"countersign.dev/internal/english"
)

// Fields describes a tool for readers that are no language model: the planner,
// the page and the documentation. It travels only to our own gateway.
type Fields struct {
	Synonyms []string         `json:"synonyms,omitempty"` // other words for what the tool is about, or for what it does
	Ask      string           `json:"ask,omitempty"`      // a question that it answers and that needs nothing more, for people who do not know what to ask
	AskOf    string           `json:"askOf,omitempty"`    // a question that it answers about one thing, whose name is %s in it
	Noun     string           `json:"noun,omitempty"`     // lists: what the rows are, "employees"
	Lacks    []Lack           `json:"lacks,omitempty"`    // what people expect of it and it does not do
	Input    map[string]Field `json:"input,omitempty"`    // by property name
	Output   map[string]Field `json:"output,omitempty"`   // by name, at any depth of the answer
	Preview  map[string]Field `json:"preview,omitempty"`  // writes: of confirmationData, by name
}

// Lack is something that people ask a tool for and that is not kept or done here.
type Lack struct {
	Said string `json:"said"` // how they ask for it: a regular expression (RE2) that a part of the question in lower case matches
	Tell string `json:"tell"` // what a person reads about it, without a full stop
}

// Lacking compiles what the tool lacks: the function says what is not kept or done, if a question in
// lower case asks for that; else it is empty. What is no expression is never asked for.
func (f *Fields) Lacking() func(question string) string {
	if f == nil {
		return func(string) string { return "" }
	}
	said := make([]*regexp.Regexp, len(f.Lacks))
	for i, l := range f.Lacks {
		said[i], _ = regexp.Compile(l.Said)
	}
	return func(question string) string {
		for i, expression := range said {
			if expression != nil && expression.MatchString(question) {
				return f.Lacks[i].Tell
			}
		}
		return ""
	}
}

// Field says of one input or output what its name and schema do not.
type Field struct {
	Label    string              `json:"label,omitempty"`    // the column's head, where the name's own words mislead
	Synonyms []string            `json:"synonyms,omitempty"` // other words that people use for it
	Values   map[string][]string `json:"values,omitempty"`   // other words for one of its values
	Unit     string              `json:"unit,omitempty"`     // an ISO 4217 code, "percent", "days" …
	Show     string              `json:"show,omitempty"`     // one of the Show constants; empty: by its type
	From     string              `json:"from,omitempty"`     // where its values are found: tool:field
	Like     string              `json:"like,omitempty"`     // an id as people write it: "TICK-004"
	All      string              `json:"all,omitempty"`      // the value of a required search that finds everything
	Self     bool                `json:"self,omitempty"`     // an optional id: without it, the answer is about the person who asks
	Amount   bool                `json:"amount,omitempty"`   // the number that is meant when a question names none
	Suggest  string              `json:"suggest,omitempty"`  // to a model, when the value is wrong: the next step
	Tell     string              `json:"tell,omitempty"`     // to a person, when the value is wrong
	Roles    []string            `json:"roles,omitempty"`    // who sees it, as access.Policy.ShownTo has it; empty: every caller of the tool
}

// Spelled writes an id as Like has it: 4 and TICK-4 are TICK-004. Any other text stays as it is.
func (f Field) Spelled(text string) string {
	const digits = "0123456789"
	letters := strings.TrimRight(f.Like, digits)
	number := strings.TrimPrefix(strings.ToUpper(text), letters)
	if f.Like == "" || strings.Trim(number, digits) != "" {
		return text
	}
	return fmt.Sprintf("%s%0*s", letters, len(f.Like)-len(letters), number)
}

// How a value is shown.
const (
	ShowYear   = "year"   // a number without separators
	ShowChange = "change" // a number with its sign
	ShowDetail = "detail" // only among all the fields of one row
	ShowState  = "state"  // a state of work: rows are a board, too, with a column for each
	ShowCode   = "code"   // source text, whose first line is the row's snippet_line or start_line and whose name is its file_path
)

// Shows lists the Show constants.
func Shows() []string { return []string{ShowYear, ShowChange, ShowDetail, ShowState, ShowCode} }

// Signs are what may be said of values that are no choice: of numbers, of none, of a day: today, or the one before.
var Signs = []string{"negative", "zero", "positive", "none", "today", "yesterday"}

// Phrase is what people say for a value of a field, or for several ("open").
type Phrase struct {
	Words  []string // in lower case
	Values []any    // a value of the choice, one of Signs, or true of a switch
}

// Phrases are what people say for the values of a field, the longest first: "past due" says
// more than "due". Those of a choice are said as they are, too; a switch is said by its name.
func (f Field) Phrases(values []string, choice bool, toggle string) (out []Phrase) {
	add := func(text string, value any) {
		words := english.Words(text)
		i := slices.IndexFunc(out, func(p Phrase) bool { return slices.Equal(p.Words, words) })
		if i < 0 {
			i, out = len(out), append(out, Phrase{Words: words})
		}
		out[i].Values = append(out[i].Values, value)
	}
	if toggle != "" {
		for _, text := range append(slices.Clone(f.Synonyms), toggle) {
			add(text, true)
		}
	}
	for _, value := range slices.Concat(values, Signs) {
		if choice && slices.Contains(values, value) {
			add(value, value)
		}
		for _, text := range f.Values[value] {
			add(text, value)
		}
	}
	slices.SortStableFunc(out, func(a, b Phrase) int { return cmp.Compare(len(b.Words), len(a.Words)) })
	return out
}
