package flat

import (
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// walk is a reader of JSON that knows what comes next. It is as strict as package
// strictjson, and understands less.
type walk struct {
	text string
	at   int
}

func (w *walk) space() {
	for w.at < len(w.text) && strings.IndexByte(" \t\r\n", w.text[w.at]) >= 0 {
		w.at++
	}
}

// ended reports whether nothing but space is left.
func (w *walk) ended() bool {
	w.space()
	return w.at == len(w.text)
}

// take reads a character, after space.
func (w *walk) take(c byte) bool {
	w.space()
	if w.at == len(w.text) || w.text[w.at] != c {
		return false
	}
	w.at++
	return true
}

// quoted reads a string and returns what is between its quotes.
func (w *walk) quoted() (inside string, escaped, ok bool) {
	if !w.take('"') {
		return "", false, false
	}
	for from := w.at; w.at < len(w.text); w.at++ {
		switch c := w.text[w.at]; {
		case c == '"':
			inside = w.text[from:w.at]
			w.at++
			return inside, escaped, utf8.ValidString(inside)
		case c == '\\':
			escaped = true
			w.at++ // not what ends the string, whatever it is
		case c < ' ':
			return "", false, false
		}
	}
	return "", false, false
}

// string reads a text.
func (w *walk) string() (text string, ok bool) {
	text, escaped, ok := w.quoted()
	if ok && escaped {
		plain, err := jsontext.AppendUnquote(nil, `"`+text+`"`)
		return string(plain), err == nil
	}
	return text, ok
}

// maxDigits bounds a whole number: with so many it is exact for every reader.
const maxDigits = 15

// whole reads a whole number that is spelled as RFC 8785 does.
func (w *walk) whole() (n int64, ok bool) {
	negative := w.take('-')
	from := w.at
	for ; w.at < len(w.text) && w.text[w.at] >= '0' && w.text[w.at] <= '9'; w.at++ {
		if w.at-from == maxDigits {
			return 0, false
		}
		n = 10*n + int64(w.text[w.at]-'0')
	}
	if digits := w.text[from:w.at]; digits == "" || digits[0] == '0' && (len(digits) > 1 || negative) {
		return 0, false
	}
	if negative {
		n = -n
	}
	return n, true
}

// truth reads a truth value.
func (w *walk) truth() (n int64, ok bool) {
	w.space()
	for n, word := range [...]string{"false", "true"} {
		if strings.HasPrefix(w.text[w.at:], word) {
			w.at += len(word)
			return int64(n), true
		}
	}
	return 0, false
}
