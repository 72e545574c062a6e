package words

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"countersign.dev/internal/english"
)

// MaxWord is how many bytes a word may have. Longer ones are data, not words.
const MaxWord = 64

// kind classes bytes. Bytes above 127 belong to letters of other alphabets.
var letters = func() (table [256]bool) {
	for c := range 256 {
		table[c] = c == '_' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
	}
	return table
}()

// Next returns the bounds of the first word of src at or after from. start is
// len(src) when there is none.
func Next(src []byte, from int) (start, end int) {
	for start = from; start < len(src) && !letters[src[start]]; start++ {
	}
	for end = start; end < len(src) && letters[src[end]]; end++ {
	}
	return start, end
}

// Terms returns the terms of one word: the word itself in lower case when it has
// several parts, then the stem of each part. Numbers and single characters are no
// terms.
func Terms(word string) []string {
	if len(word) > MaxWord {
		return nil
	}
	parts := Split(word)
	var terms []string
	if len(parts) > 1 {
		terms = append(terms, Whole(word))
	}
	for _, part := range parts {
		if term := Stem(part); len(term) > 1 && !numeric(term) {
			terms = append(terms, term)
		}
	}
	return terms
}

// Whole is the form in which names are compared: lower case, without underscores.
func Whole(word string) string { return strings.ToLower(strings.ReplaceAll(word, "_", "")) }

// Split divides an identifier at underscores, and where its case or kind changes:
// parseHTTPRequest2 is parse, HTTP, Request, 2.
func Split(word string) (parts []string) {
	start, before, last := 0, rune(0), rune(0)
	cut := func(at int) {
		if at > start {
			parts = append(parts, word[start:at])
		}
		start = at
	}
	for i, r := range word {
		switch {
		case r == '_':
			cut(i)
			start = i + 1
		case i > start && unicode.IsDigit(r) != unicode.IsDigit(last):
			if !(unicode.IsDigit(r) && i-start <= 4) && !(unicode.IsDigit(last) && i-start <= 2) { // sha256, utf8 and 2fa are words
				cut(i)
			}
		case i > start && unicode.IsUpper(r) && unicode.IsLower(last):
			cut(i)
		case i > start && unicode.IsLower(r) && unicode.IsUpper(last) && unicode.IsUpper(before):
			cut(i - utf8.RuneLen(last))
		}
		before, last = last, r
	}
	cut(len(word))
	return parts
}

// Stem returns the stem of one part, in lower case.
func Stem(part string) string {
	part = strings.ToLower(part)
	if len(part) < 4 || !ascii(part) {
		return part
	}
	return english.Stem(part)
}

func ascii(text string) bool {
	for i := range len(text) {
		if text[i] >= 0x80 || text[i] < 'a' {
			return false
		}
	}
	return true
}

func numeric(text string) bool {
	return strings.Trim(text, "0123456789") == "" || strings.HasPrefix(text, "0x")
}
