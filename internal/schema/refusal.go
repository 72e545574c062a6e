package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"countersign.dev/internal/fault"
)

// Words are what a declaration says about a wrong value of one field.
type Words struct {
	Suggest string // to a model: the next step
	Via     string // the tool that Suggest sends it to; empty: none
	Tell    string // to a person, instead of a remark that names the field
}

// misfit is one thing that is wrong with an input, as programs and as people read it.
type misfit struct {
	fault.Input

	top      string // the top-level field; empty: the input itself
	declared bool   // the declaration has the sentence
	says     string // to people, who know no fields; empty: nothing without naming one
}

// remarks collects what is wrong with an input.
type remarks struct {
	words    map[string]Words // by field
	declared []string         // the names of all fields
	all      []misfit
}

// refusal words the faults of an input twice: a remark for each is for models ("limit:
// must be at most 50; …"), and sentences are for people. The message is theirs, too, where
// the declaration has one for each.
func refusal(wrong []misfit) *fault.Error {
	inputs := make([]fault.Input, len(wrong))
	var declared, said []string
	unsaid := ""
	for i, m := range wrong {
		inputs[i] = m.Input
		switch {
		case m.says == "":
			unsaid = fault.Unfit
		case !slices.Contains(said, m.says):
			said = append(said, m.says)
		}
		if m.declared {
			declared = append(declared, m.says)
		}
	}
	f := fault.WrongInputs(inputs...)
	if len(declared) == len(wrong) && len(wrong) > 0 {
		f.Message = strings.Join(said, " ")
	}
	return f.Tell("%s", cmp.Or(strings.Join(said, " "), unsaid, fault.Unfit))
}

// topOf are the top-level fields with a remark.
func topOf(wrong []misfit) []string {
	var names []string
	for _, m := range wrong {
		if m.top != "" {
			names = append(names, m.top)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (r *remarks) collect(e *jsonschema.ValidationError) {
	r.visit(e)
	slices.SortFunc(r.all, func(a, b misfit) int { return cmp.Or(cmp.Compare(a.Field, b.Field), cmp.Compare(a.Wrong, b.Wrong)) })
	r.all = slices.CompactFunc(r.all, func(a, b misfit) bool { return a == b })
}

func (r *remarks) visit(e *jsonschema.ValidationError) {
	for _, cause := range e.Causes {
		r.visit(cause)
	}
	if len(e.Causes) > 0 {
		return
	}
	where := clip(strings.Join(e.InstanceLocation, "."))
	switch k := e.ErrorKind.(type) {
	case *kind.Required:
		for _, name := range k.Missing {
			r.add(join(where, name), "is required", "", r.missing(join(where, name)))
		}
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			r.add(join(where, clip(name)), "is not a field of this tool", "", "")
			if where == "" && len(r.all) <= fault.MaxNames {
				r.all[len(r.all)-1].Advice = r.meant(name)
			}
		}
	default:
		wrong, detail := remark(e.ErrorKind)
		r.add(where, wrong, detail, cmp.Or(r.words[where].Tell, sentence(where, e.ErrorKind)))
	}
}

// meant asks whether an undeclared name was another. It is for models alone: a person
// names no fields.
func (r *remarks) meant(name string) string {
	if near := nearest(name, r.declared); near != "" {
		return "Did you mean " + near + "?"
	}
	return ""
}

// missing asks for a field that is required. What is said of a wrong id ("I find no
// employee with that id.") is not true of one that is missing.
func (r *remarks) missing(where string) string {
	noun, isID := strings.CutSuffix(where, "_id")
	switch declared := r.words[where].Tell; {
	case strings.Contains(where, "."):
		return ""
	case isID:
		return "Which " + strings.ReplaceAll(noun, "_", " ") + " is meant?"
	case declared != "":
		return declared
	}
	return "The " + strings.ReplaceAll(where, "_", " ") + " is missing."
}

func (r *remarks) add(where, wrong, detail, says string) {
	words := r.words[where]
	top, _, _ := strings.Cut(where, ".")
	r.all = append(r.all, misfit{fault.Input{Field: cmp.Or(where, "input"), Wrong: wrong, Detail: detail, Advice: words.Suggest, Via: words.Via}, top, words.Tell != "" && says != "", says})
}

// sentence says to people what is wrong with a value; it is empty where that cannot be
// said in their words.
func sentence(where string, k jsonschema.ErrorKind) string {
	if where == "" || strings.Contains(where, ".") {
		return ""
	}
	the := "The " + strings.ReplaceAll(where, "_", " ")
	switch k := k.(type) {
	case *kind.Minimum, *kind.Maximum, *kind.MinLength, *kind.MaxLength:
		wrong, _ := remark(k)
		return the + " " + wrong + "."
	case *kind.Enum:
		values := make([]string, len(k.Want))
		for i, v := range k.Want {
			values[i] = strings.ToLower(strings.ReplaceAll(fmt.Sprint(v), "_", " "))
		}
		return the + " must be one of " + strings.Join(values, ", ") + "."
	case *kind.Format:
		if k.Want == dates.Name {
			return fmt.Sprintf("Which day? Say one of the years %d to %d, like 2026-01-31.", firstYear, lastYear)
		}
	case *kind.Type:
		switch {
		case len(k.Want) != 1:
		case k.Want[0] == "null":
			return "" // the other alternative says it
		case plainTypes[k.Want[0]] != "":
			return the + " must be " + plainTypes[k.Want[0]] + "."
		}
	}
	if strings.HasSuffix(where, "_id") {
		return "I find nothing with that id."
	}
	return the + " is not written as it should be."
}

// plainTypes are types of JSON as people name them.
var plainTypes = map[string]string{"integer": "a whole number", "number": "a number", "string": "a text", "boolean": "yes or no", "array": "a list"}
