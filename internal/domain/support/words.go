package support

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The definition of a word, once for both stores: a run of letters, marks and
// digits of any script, in lower case, Latin letters without their accents.
// SQLite is given texts split by these functions; the analyzer of the search
// engine is made from the same table (elastic/index.go), and the contract suite
// compares the two.

// word is a word of a text and its position there, in bytes.
type word struct {
	text       string
	start, end int
}

// eachWord splits a text into its words.
func eachWord(text string, yield func(word) bool) {
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		if !inWord(r) {
			at += size
			continue
		}
		w := word{start: at}
		var folded strings.Builder
		for ; at < len(text); at += size {
			if r, size = utf8.DecodeRuneInString(text[at:]); !inWord(r) {
				break
			}
			folded.WriteString(Fold(r))
		}
		w.text, w.end = folded.String(), at
		if w.text != "" && !yield(w) {
			return
		}
	}
}

// Words lists the words of a text.
func Words(text string) (words []string) {
	for w := range func(yield func(word) bool) { eachWord(text, yield) } {
		words = append(words, w.text)
	}
	return words
}

func inWord(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsNumber(r))
}

// Fold returns a rune of a word in the form that is searched.
func Fold(r rune) string {
	if r < utf8.RuneSelf {
		return string(unicode.ToLower(r))
	}
	if r >= firstAccent && r <= lastAccent {
		return ""
	}
	r = unicode.ToLower(r)
	for _, l := range latin {
		if strings.ContainsRune(l.letters, r) {
			return l.plain
		}
	}
	return string(r)
}

// The combining accents, which follow their letter.
const (
	firstAccent = '\u0300'
	lastAccent  = '\u036f'
)

// latin maps Latin letters beyond ASCII to the form that is searched. All are in
// lower case.
var latin = [...]struct{ letters, plain string }{
	{"àáâãäåāăąǎ", "a"}, {"æ", "ae"}, {"çćĉċč", "c"}, {"ďđð", "d"}, {"èéêëēĕėęě", "e"}, {"ĝğġģ", "g"}, {"ĥħ", "h"},
	{"ìíîïĩīĭįı", "i"}, {"ĵ", "j"}, {"ķ", "k"}, {"ĺļľłŀ", "l"}, {"ñńņňŋ", "n"}, {"òóôõöøōŏő", "o"}, {"œ", "oe"}, {"ŕŗř", "r"},
	{"śŝşšș", "s"}, {"ß", "ss"}, {"ţťŧț", "t"}, {"þ", "th"}, {"ùúûüũūŭůűų", "u"}, {"ŵ", "w"}, {"ýÿŷ", "y"}, {"źżž", "z"},
}
