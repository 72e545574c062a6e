// Package wish reads what a person asks for: whether their words, or those of a text, ask
// for what a tool does. Start with [AskedFor].
package wish

import (
	"slices"
	"strings"

	"countersign.dev/internal/guard/wording"
	"countersign.dev/internal/result"
)

// alike are groups of verbs with which people ask for the same.
var alike = [][]string{
	strings.Fields("delete remove terminate erase drop purge wipe dismiss fire offboard"),
	strings.Fields("close resolve solve finish complete settle"),
	strings.Fields("update change set adjust modify edit correct raise increase lower reduce cut bump give promote"),
	strings.Fields("approve accept authorize authorise release okay sign"),
	strings.Fields("reject decline deny refuse"),
	strings.Fields("create add open file log make register write"),
	strings.Fields("send email mail notify message tell forward post transfer"),
	strings.Fields("assign reassign move escalate"),
	strings.Fields("cancel revert undo withdraw"),
}

// endings are those of a verb's other forms, behind the verb without its last e.
var endings = strings.Fields("e s es ed d ing al als ion ions ation ations ment ments ure led ling er")

// AskedFor reports whether one of the texts asks for what a tool does: it has the
// verb of the tool's name or title, a declared synonym, or a verb like it.
func AskedFor(t result.ToolInfo, texts []string) bool {
	verbs := verbsOf(t)
	return slices.ContainsFunc(texts, func(text string) bool { return hasVerb(wording.Words(text), verbs) })
}

// NamedIn reports whether a text names a tool: by its name, or with its verb and the
// thing that it changes in one sentence.
func NamedIn(t result.ToolInfo, text string) bool {
	name := strings.Join(nameWords(t), " ")
	verbs, things := verbsOf(t), thingsOf(t)
	for _, sentence := range wording.Sentences(text) {
		words := wording.Words(sentence)
		if strings.Contains(" "+strings.Join(words, " ")+" ", " "+name+" ") {
			return true
		}
		thing := func(w string) bool { return slices.Contains(things, wording.Stem(w)) }
		if hasVerb(words, verbs) && slices.ContainsFunc(words, thing) {
			return true
		}
	}
	return false
}

// nameWords are the words of a tool's name, without its server's.
func nameWords(t result.ToolInfo) []string {
	_, name, foreign := strings.Cut(t.Name, ".")
	if !foreign {
		name = t.Name
	}
	return wording.Words(name)
}

// verbsOf are the verbs that ask for a tool: the first words of its name, title and
// synonyms, and those like them.
func verbsOf(t result.ToolInfo) (verbs []string) {
	phrases := [][]string{nameWords(t), wording.Words(t.Title)}
	if t.Fields != nil {
		for _, synonym := range t.Fields.Synonyms {
			phrases = append(phrases, wording.Words(synonym))
		}
	}
	for _, phrase := range phrases {
		if len(phrase) == 0 {
			continue
		}
		verbs = append(verbs, phrase[0])
		for _, group := range alike {
			if slices.Contains(group, phrase[0]) {
				verbs = append(verbs, group...)
			}
		}
	}
	return verbs
}

// thingsOf are the stems of the other words of a tool's name and title.
func thingsOf(t result.ToolInfo) (things []string) {
	for _, phrase := range [][]string{nameWords(t), wording.Words(t.Title)} {
		for _, word := range phrase[min(1, len(phrase)):] {
			if len(word) > 3 {
				things = append(things, wording.Stem(word))
			}
		}
	}
	return things
}

func hasVerb(words, verbs []string) bool {
	return slices.ContainsFunc(words, func(word string) bool {
		return slices.ContainsFunc(verbs, func(verb string) bool {
			rest, ok := strings.CutPrefix(word, strings.TrimSuffix(verb, "e"))
			return word == verb || ok && slices.Contains(endings, rest)
		})
	})
}
