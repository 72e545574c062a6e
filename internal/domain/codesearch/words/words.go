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

// HasTerms reports whether a word may have terms: long ones are data, and single bytes and
// decimal numbers are everywhere.
func HasTerms[text string | []byte](word text) bool {
	return len(word) > 1 && len(word) <= MaxWord && !IsNumber(word)
}

// Terms returns the terms of one word: the word itself in lower case when it has
// several parts, then the term of each part that has one. Decimal numbers have none.
func Terms(word string) []string {
	if !HasTerms(word) {
		return nil
	}
	parts := Split(word)
	var terms []string
	if whole := Whole(word); len(parts) > 1 && whole != "" && !IsNumber(whole) { // 12$ is a number, and $_$ nothing
		terms = append(terms, whole)
	}
	for _, part := range parts {
		if term, ok := Term(part); ok {
			terms = append(terms, term)
		}
	}
	return terms
}

// Term returns the stem of a part, and whether that is a term: decimal numbers, short
// hexadecimal ones and single characters are none.
func Term(part string) (term string, ok bool) {
	if number, ok := hexadecimal(part); ok {
		term = Whole(number)
		return term, len(term) >= minHexadecimal
	}
	term = Stem(part)
	return term, len(term) > 1 && !IsNumber(term)
}

// Whole is the form in which names are compared: lower case, without underscores and the signs
// that names of some languages have, such as $ZodType and read-line.
func Whole(word string) string { return strings.ToLower(unsigned.Replace(word)) }

var unsigned = strings.NewReplacer("_", "", "$", "", "-", "")

// Split divides an identifier at underscores, and where its case or kind changes:
// parseHTTPRequest2 is parse, HTTP, Request, 2. A hexadecimal number is one part.
func Split(word string) []string { return AppendSplit(nil, word) }

// AppendSplit appends the parts of an identifier: see [Split].
func AppendSplit(parts []string, word string) []string {
	if _, ok := hexadecimal(word); ok {
		return append(parts, word)
	}
	start, before, last := 0, rune(0), rune(0)
	for i, r := range word {
		switch {
		case r == '_':
			parts = appendPart(parts, word[start:i])
			start = i + 1
		case i > start && changes(i-start, last, r):
			parts = appendPart(parts, word[start:i])
			start = i
		case i > start && unicode.IsLower(r) && unicode.IsUpper(last) && unicode.IsUpper(before):
			at := i - utf8.RuneLen(last)
			parts = appendPart(parts, word[start:at])
			start = at
		}
		before, last = last, r
	}
	return appendPart(parts, word[start:])
}

// changes reports whether a part of some bytes ends between two runes. Digits divide
// where they are many, or far from the beginning: sha256, utf8 and 2fa are one part.
func changes(bytes int, last, r rune) bool {
	switch before, after := unicode.IsDigit(last), unicode.IsDigit(r); {
	case before == after:
		return unicode.IsUpper(r) && unicode.IsLower(last)
	case after:
		return bytes > 4
	default:
		return bytes > 2
	}
}

func appendPart(parts []string, part string) []string {
	if part == "" {
		return parts
	}
	return append(parts, part)
}

// What hexadecimal numbers have at least: those that are sought, as 0x80070005 is, and the
// names of commits and the like.
const (
	minHexadecimal = len("0x10000")
	minHash        = 8
	minHashDigits  = 3
)

// suffixes are what hexadecimal numbers end with that say their type.
var suffixes = map[string]bool{
	"": true, "u": true, "l": true, "ul": true, "lu": true, "ll": true, "ull": true, "llu": true, "n": true,
	"u8": true, "u16": true, "u32": true, "u64": true, "u128": true, "usize": true, "i8": true, "i16": true, "i32": true, "i64": true, "i128": true, "isize": true,
}

// hexadecimal returns a hexadecimal number without its type, and whether a word is one: it
// begins with 0x, or is long and has digits and letters.
func hexadecimal(word string) (number string, ok bool) {
	if len(word) > 1 && word[0] == '0' && word[1]|0x20 == 'x' {
		suffix := strings.TrimLeft(word[2:], "0123456789abcdefABCDEF_")
		return strings.TrimSuffix(word, suffix), suffixes[strings.ToLower(suffix)]
	}
	digits := 0
	for i := range len(word) {
		switch c := word[i]; {
		case '0' <= c && c <= '9':
			digits++
		case c|0x20 < 'a' || c|0x20 > 'f':
			return "", false
		}
	}
	return word, len(word) >= minHash && digits >= minHashDigits && digits < len(word)
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

// IsNumber reports whether a text is a decimal number, with or without underscores.
func IsNumber[text string | []byte](t text) bool {
	for i := range len(t) {
		if (t[i] < '0' || t[i] > '9') && t[i] != '_' {
			return false
		}
	}
	return true
}
