// Package wording reads how a text puts what it says: its sentences and words, its
// language, and whether a figure is stated or supposed. It knows no results. Start with
// [Sentences] and [Framed].
package wording

import (
	"iter"
	"strings"
	"unicode"

	"countersign.dev/internal/pattern"
)

// sentenceEnd matches where a sentence ends. A full stop inside of a number, an
// address or an abbreviation is followed by no space.
var sentenceEnd = pattern.New(`[.!?…]["”’)*_]*(?:\s+|$)|\n+`)

// Sentences splits a text, without marks of Markdown.
func Sentences(text string) (sentences []string) {
	start := 0
	for _, end := range append(sentenceEnd.FindAllStringIndex(text, -1), []int{len(text), len(text)}) {
		if s := strings.TrimSpace(Markdown.Replace(text[start:end[1]])); s != "" {
			sentences = append(sentences, s)
		}
		start = end[1]
	}
	return sentences
}

// Markdown removes the marks of bold and code, and writes one apostrophe.
var Markdown = strings.NewReplacer("**", "", "__", "", "`", "", "’", "'")

// Words returns the words of a text in small letters. Ids, addresses and numbers
// are split.
func Words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), BetweenWords)
}

// BetweenWords reports whether a character is no part of a word.
func BetweenWords(r rune) bool { return !unicode.IsLetter(r) && r != '\'' }

// Stem cuts a word to what its forms have in common, roughly: five letters.
func Stem(word string) string {
	word = strings.TrimSuffix(strings.TrimSuffix(word, "'s"), "'")
	if n := len(word); n > 3 && word[n-1] == 's' && word[n-2] != 's' {
		word = word[:n-1]
	}
	return word[:min(5, len(word))]
}

// Tokens yields what is between spaces and punctuation; ids and addresses stay
// whole.
func Tokens(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for token := range strings.FieldsFuncSeq(text, betweenTokens) {
			if token = strings.Trim(token, "-._'+:"); token != "" && !yield(token) {
				return
			}
		}
	}
}

func betweenTokens(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-@._'+:", r)
}
