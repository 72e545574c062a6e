package chunk

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// literal is a comment or a string over lines.
type literal struct {
	open, close string
	escapes     bool // a backslash takes its meaning from what follows
	doubled     bool // the close twice does not end it
	nested      bool // what it opens with begins another one inside
	alone       bool // the close is at the beginning of a line, and may be indented
	holes       bool // ${ begins code inside, to its brace
	code        bool // what is around code, as HTML is: a file may end in it
}

// html is what a file of PHP is outside of its code.
var html = literal{open: "?>", close: "<?", code: true}

// longs are strings over lines, by their delimiters.
func longs(delimiters ...string) (all []literal) {
	for _, d := range delimiters {
		all = append(all, literal{open: d, close: d})
	}
	return all
}

// escaped are strings over lines in which a backslash takes the meaning of what follows.
func escaped(delimiters ...string) []literal {
	all := longs(delimiters...)
	for i := range all {
		all[i].escapes = true
	}
	return all
}

// literals says which forms of strings and comments a language has that only some have.
type literals struct {
	nested      bool    // a comment may have another one inside
	chars       bool    // a single quote is around a character, or something else
	regexes     bool    // slashes are around regular expressions
	conditional bool    // #if, #else and #endif
	html        bool    // code is between <? and ?>
	raw         byte    // what is before a quote whose string has no backslashes: see raw
	heredoc     string  // is before the name that ends a text
	spaced      bool    // with a space, too
	document    literal // begins and ends a comment at the beginning of a line

	starts [256]bool // what any of that begins with: see ready
}

// quoted is the length of a string of one line, or 1 when it does not end there.
func quoted(rest []byte) int {
	for j := 1; j < len(rest); j++ {
		switch rest[j] {
		case '\\':
			j++
		case rest[0]:
			return j + 1
		}
	}
	return 1
}

// char is the length of a quoted character, or 1: a quote may be of a lifetime or a symbol, too.
func char(rest []byte) int {
	if len(rest) > 1 && rest[1] == '\\' {
		const longest = len(`'\u{10ffff}`)
		for j := 3; j < min(len(rest), longest+1); j++ {
			if rest[j] == '\'' {
				return j + 1
			}
		}
		return 1
	}
	if len(rest) < 3 {
		return 1
	}
	_, size := utf8.DecodeRune(rest[1:])
	if 1+size < len(rest) && rest[1+size] == '\'' {
		return size + 2
	}
	return 1
}

// regex is the length of a regular expression with the character that ends it, or 1.
func regex(rest []byte) int {
	if len(rest) > 1 && rest[1] == '>' { // the end of a tag
		return 1
	}
	class := false
	for j := 1; j < len(rest); j++ {
		switch rest[j] {
		case '\\':
			j++
		case '[':
			class = true
		case ']':
			class = false
		case '/':
			if !class {
				return j + 1
			}
		}
	}
	return 1
}

// regexMay reports whether a slash after a text may begin a regular expression: after a value
// it divides.
func regexMay(before []byte) bool {
	before = bytes.TrimRight(before, " \t")
	if len(before) == 0 {
		return true
	}
	last := before[len(before)-1]
	if letter(last) {
		return beforeValues[lastWord(before[max(0, len(before)-longestWord):])]
	}
	return strings.IndexByte(")]}<\"'`$", last) < 0
}

// beforeValues are words after which a value follows, and longestWord is longer than each.
var beforeValues = set("return typeof case in of delete void throw new do else yield await instanceof")

const longestWord = 12

// awaits reads the name after << of a text whose lines follow, until that name. A shift has
// no name, or one that is no constant.
func (l *literals) awaits(rest []byte) (name string, length int) {
	start, end, quote := 0, 0, byte(0)
	if len(rest) > 0 && (rest[0] == '-' || rest[0] == '~' || rest[0] == ' ' && l.spaced) {
		start++
	}
	if start < len(rest) && (rest[start] == '"' || rest[start] == '\'') {
		quote = rest[start]
		start++
	}
	for end = start; end < len(rest) && end-start < longestName && letter(rest[end]); {
		end++
	}
	switch {
	case end == start || '0' <= rest[start] && rest[start] <= '9':
		return "", 0
	case quote == 0 && 'a' <= rest[start] && rest[start] <= 'z' && !l.html:
		return "", 0
	case quote != 0 && (end == len(rest) || rest[end] != quote):
		return "", 0
	case quote != 0:
		return string(rest[start:end]), end + 1
	}
	return string(rest[start:end]), end
}

const longestName = 64

// raw reads a string in which a backslash is only that, by what is before and after its quote:
// r#" of Rust, R"x( of C++, @" of C# and #" of Swift.
func raw(kind byte, text []byte, i int) (l literal, length int) {
	before, rest := text[:i], text[i:]
	hashes := 0
	for hashes < min(i, maxHashes) && before[i-1-hashes] == '#' {
		hashes++
	}
	switch kind {
	case 'r':
		if before = before[:i-hashes]; slices.Contains(rawPrefixes, lastWord(before[max(0, len(before)-3):])) {
			return literal{close: `"` + strings.Repeat("#", hashes)}, 1
		}
	case '#':
		if hashes > 0 {
			quotes := 1
			if bytes.HasPrefix(rest, []byte(`"""`)) {
				quotes = 3
			}
			return literal{close: strings.Repeat(`"`, quotes) + strings.Repeat("#", hashes)}, quotes
		}
	case 'R':
		open := bytes.IndexByte(rest[:min(len(rest), maxDelimiter)], '(')
		if i > 0 && before[i-1] == 'R' && open > 0 {
			return literal{close: ")" + string(rest[1:open]) + `"`}, open + 1
		}
	case '@':
		if bytes.HasSuffix(before, []byte("@")) || bytes.HasSuffix(before, []byte("@$")) {
			return literal{close: `"`, doubled: true}, 1
		}
	}
	return literal{}, 0
}

// rawPrefixes are those of Rust.
var rawPrefixes = []string{"r", "br", "cr"}

const (
	maxDelimiter = 18 // of C++, with its quote and its parenthesis
	maxHashes    = 16
)
