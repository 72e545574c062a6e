package words

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// around is how many characters a snippet has on each side of what was found.
const around = 40

// Snippet is the part of a text where the first of the words is found, with marks
// around each word. A text that is found in the title only has the title's mark. A
// word that is nowhere as it was written is marked by its pieces.
func Snippet(words []string, title string, texts ...string) string {
	texts = append(texts, title)
	var shown []string
	for _, word := range words {
		if slices.ContainsFunc(texts, func(text string) bool { return indexAny(strings.ToLower(text), []string{word}) >= 0 }) {
			shown = append(shown, word)
			continue
		}
		shown = append(shown, Of(word)...)
	}
	for _, text := range texts {
		if at := indexAny(strings.ToLower(text), shown); at >= 0 {
			return mark(cut(text, at), shown)
		}
	}
	return ""
}

func indexAny(lower string, words []string) int {
	for _, word := range words {
		if at := strings.Index(lower, strings.ToLower(word)); at >= 0 {
			return at
		}
	}
	return -1
}

// cut returns about twice around characters of a text, on one line.
func cut(text string, at int) string {
	at = min(at, len(text)) // lower case can have another length
	from, to := max(0, at-around), min(len(text), at+2*around)
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to++
	}
	part := strings.Join(strings.Fields(text[from:to]), " ")
	if from > 0 {
		part = "…" + part
	}
	if to < len(text) {
		part += "…"
	}
	return part
}

// mark encloses the first place of each word in two stars.
func mark(text string, words []string) string {
	for _, word := range words {
		lower, folded := strings.ToLower(text), strings.ToLower(word)
		if at := strings.Index(lower, folded); at >= 0 && len(lower) == len(text) {
			text = text[:at] + "**" + text[at:at+len(folded)] + "**" + text[at+len(folded):]
		}
	}
	return text
}
