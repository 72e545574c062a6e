// Package english cuts names and texts into English words, and words into stems, so
// that every search and every planner agrees on what is the same word. It knows no
// tool and no domain.
package english

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Singular cuts the ending of a plural: "salaries", "boxes", "deals", but not "status", "gas" or "class".
// It is asked for every word of a question and every tool, so it cuts without a regular expression.
func Singular(word string) string {
	if stem, cut := strings.CutSuffix(word, "ies"); cut && utf8.RuneCountInString(stem) >= 2 {
		return stem + "y"
	}
	stem, cut := strings.CutSuffix(word, "es")
	if cut && slices.ContainsFunc([]string{"ss", "x", "ch", "sh"}, func(end string) bool { return strings.HasSuffix(stem, end) }) {
		return stem
	}
	stem, cut = strings.CutSuffix(word, "s")
	if cut && utf8.RuneCountInString(stem) >= 3 && !strings.ContainsRune("siu", rune(stem[len(stem)-1])) {
		return stem
	}
	return word
}

// Plural reports whether a word has the ending of a plural.
func Plural(word string) bool { return Singular(word) != word }

// Count writes a number of things: "1 deal", "3 deals".
func Count(n int, plural string) string {
	if n == 1 {
		plural = Singular(plural)
	}
	return fmt.Sprintf("%d %s", n, plural)
}

// Words cuts a name like employee_id or bookTitle, or a text, into words in lower case.
// It is asked for every field of every row, so it cuts without a regular expression.
func Words(text string) []string {
	var spaced strings.Builder
	lower := false // the letter before
	for _, r := range text {
		if lower && unicode.IsUpper(r) {
			spaced.WriteByte(' ')
		}
		lower = unicode.IsLower(r)
		spaced.WriteRune(r)
	}
	return Prose(spaced.String())
}

// Prose cuts running text into words in lower case. A capital within a word parts nothing.
func Prose(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// LastWord is the last word of a name; empty when it has none.
func LastWord(name string) string {
	words := append([]string{""}, Words(name)...)
	return words[len(words)-1]
}

// Numbers are the words for 2 to 20.
var Numbers = strings.Fields("two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty")

// Begins reports whether a text begins some words of another: "nin" those of Nina Patel.
func Begins(words, with string) bool {
	return strings.Contains(" "+strings.ToLower(words), " "+strings.ToLower(with))
}

// Function are the words that say nothing of what a text is about: articles, pronouns,
// prepositions, auxiliary verbs and question words.
var Function = strings.Fields(`a an the this that these those there here it its they them their theirs is are was were be been being am do
	does did has have had having can could may might will shall and or also as so then too just only both each per
	than such very of in on at to for from with within by into onto about under below above over among between
	inside near via what which who whom whose where when how much many all any every some us we our ours you your
	yours up out`)
