package result

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
)

// Refusal says in people's words that one of a tool's roles is needed, and which
// roles see the fields that are hidden from others.
func (i ToolInfo) Refusal() string {
	what := inSentence(i.Title)
	if got, gets := strings.CutPrefix(what, "get "); gets {
		what = "see " + got
	}
	sentence := fmt.Sprintf("You do not have permission to %s: that needs the role %s.", what, Join(i.Roles, "or"))
	for _, seen := range i.hidden() {
		sentence += " " + seen
	}
	return sentence
}

// hidden says who sees the hidden fields of a tool's rows, a sentence for each set
// of roles.
func (i ToolInfo) hidden() (sentences []string) {
	if i.Fields == nil || i.Kind == Write { // what a change would show is not what was asked for
		return nil
	}
	labels := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(i.Fields.Output)) {
		if f := i.Fields.Output[name]; len(f.Roles) > 0 {
			labels[Join(f.Roles, "or")] = append(labels[Join(f.Roles, "or")], f.Head(name))
		}
	}
	for _, roles := range slices.Sorted(maps.Keys(labels)) {
		label := strings.Join(labels[roles], " and ")
		verb := " is"
		if len(labels[roles]) > 1 || strings.HasSuffix(label, "s") {
			verb = " are"
		}
		sentences = append(sentences, strings.ToUpper(label[:1])+label[1:]+verb+" shown to "+roles+".")
	}
	return sentences
}

// Head is a field's name for people, in the middle of a sentence.
func (f Field) Head(name string) string {
	if f.Label != "" {
		return inSentence(f.Label)
	}
	return strings.ReplaceAll(name, "_", " ")
}

// inSentence writes a title or label in the middle of a sentence: its first word is
// small unless it is an abbreviation.
func inSentence(title string) string {
	if len(title) > 1 && unicode.IsUpper(rune(title[1])) {
		return title
	}
	return strings.ToLower(title[:min(1, len(title))]) + title[min(1, len(title)):]
}

// Join lists words as people do: "hr-read, manager or executive".
func Join(words []string, last string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	n := len(words) - 1
	return strings.Join(words[:n], ", ") + " " + last + " " + words[n]
}
