package english

import (
	"regexp"
	"slices"
	"strings"
)

var labelled = regexp.MustCompile(`^(?: *: *| +)`)

// Remark is a text behind its label, "resolution: …", without the quotation marks around
// what it begins with.
func Remark(text, label string) string {
	if rest, found := strings.CutPrefix(text, label); found && label != "" {
		text = rest[len(labelled.FindString(rest)):]
		if rest == text { // a longer word
			text = label + rest
		}
	}
	for opening, closing := range map[string]string{`"`: `"`, "“": "”"} {
		if quoted, begins := strings.CutPrefix(text, opening); begins {
			text = strings.Replace(quoted, closing, "", 1)
		}
	}
	return text
}

// clauses are parted by marks and by words that join them.
var clauses = regexp.MustCompile(`[.,;:!?]|\b(?:and|but|so|because)\b`)

// denials are what turns a clause round, as [Prose] cuts it: "isn't" ends in a word "t".
var denials = []string{"not", "no", "never", "t", "nor", "neither", "without", "cannot", "nothing"}

// Affirms reports whether a text says some words, in any form and one behind the other, and
// does not deny them before in the same clause.
func Affirms(text string, words []string) bool {
	for _, clause := range clauses.Split(strings.ToLower(text), -1) {
		said := Prose(clause)
		for i := range said {
			denied := slices.ContainsFunc(said[:i], func(w string) bool { return slices.Contains(denials, w) })
			if len(words) > 0 && !denied && i+len(words) <= len(said) && slices.EqualFunc(words, said[i:i+len(words)], func(a, b string) bool { return Stem(a) == Stem(b) }) {
				return true
			}
		}
	}
	return false
}
