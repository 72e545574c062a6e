// Package words separates texts into the words that a search finds, and words into the
// parts by which they are found. It knows no table. Start with [Of].
package words

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Of separates a text into its words, in lower case: runs of letters and digits.
// In scripts without spaces each character is a word. Most runs are of ASCII alone.
func Of(text string) []string {
	words := make([]string, 0, len(text)/6)
	for text != "" {
		n, plain := 0, true
		for n < len(text) && (isWord(text[n]) || text[n] >= utf8.RuneSelf) {
			plain = plain && text[n] < utf8.RuneSelf
			n++
		}
		switch {
		case n == 0:
			n = 1
		case plain:
			words = append(words, strings.ToLower(text[:n]))
		default:
			words = append(words, wideWords(text[:n])...)
		}
		text = text[n:]
	}
	return words
}

func isWord(b byte) bool { return 'a' <= b && b <= 'z' || '0' <= b && b <= '9' || 'A' <= b && b <= 'Z' }

// wideWords separates a run that has characters beyond ASCII.
func wideWords(run string) (words []string) {
	var word strings.Builder
	end := func() {
		if word.Len() > 0 {
			words = append(words, word.String())
			word.Reset()
		}
	}
	for _, r := range run {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana):
			end()
			words = append(words, string(r))
		case unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r):
			word.WriteRune(unicode.ToLower(r))
		default:
			end()
		}
	}
	end()
	return words
}

// vocabulary is the list of the words of a text, each once, in JSON. A word has
// nothing that JSON escapes.
func vocabulary(text string) string {
	seen, list := map[string]bool{}, []byte("[")
	for _, word := range Of(text) {
		if seen[word] {
			continue
		}
		seen[word] = true
		if len(list) > 1 {
			list = append(list, ',')
		}
		list = append(append(append(list, '"'), word...), '"')
	}
	return string(append(list, ']'))
}
