package draw

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"countersign.dev/internal/result"
)

// common matches values that name no row: words in lower case, which are states and
// kinds.
var common = regexp.MustCompile(`^[\p{Ll}\s_-]*$|^\P{L}*$`)

// Names reports whether a text names one of the rows, by a value that no other of
// them has in its column.
func Names(text string, rows []result.Row) bool {
	type cell struct{ column, value string }
	count := map[cell]int{}
	for _, r := range rows {
		for column, v := range r.Values {
			if value, is := v.(string); is {
				count[cell{column, value}]++
			}
		}
	}
	for one, n := range count {
		if n == 1 && !common.MatchString(one.value) && holds(text, one.value) {
			return true
		}
	}
	return false
}

// holds reports whether a text has a value as words of their own.
func holds(text, value string) bool {
	for from := 0; ; {
		at := strings.Index(text[from:], value)
		if at < 0 {
			return false
		}
		before, _ := utf8.DecodeLastRuneInString(text[:from+at])
		after, _ := utf8.DecodeRuneInString(text[from+at+len(value):])
		if !isWord(before) && !isWord(after) {
			return true
		}
		from += at + len(value)
	}
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
