// Package plaintext is the one policy about the characters of a text that people
// read before they approve a change: what they see is all there is, in the order
// in which it is written. [Check] rejects such a text when it is written; [Escape]
// makes every odd character visible in a text that is stored already.
//
// Allowed are letters, marks, digits, punctuation, symbols and spaces of every
// script; joiners between letters; and the variation selectors that emoji and
// Chinese characters need. Not allowed are control characters, whatever changes
// the direction of text, invisible characters, line separators, and characters
// without a public meaning.
package plaintext

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The reasons for which a character is rejected.
const (
	control   = "a control character"
	direction = "a character that changes the direction of text"
	invisible = "an invisible character"
	separator = "a line separator"
	private   = "a character without a public meaning"
)

// Check returns nil for a text that shows all that it holds, else an error that
// names the first odd character and its position. lines allows line feeds,
// also those of Windows, and tabs. An empty text is allowed; one without any visible character is not.
func Check(text string, lines bool) error {
	if !utf8.ValidString(text) {
		return fmt.Errorf("is not valid UTF-8")
	}
	runes, seen := []rune(text), false
	for i, r := range runes {
		if why := odd(runes, i, lines); why != "" {
			return fmt.Errorf("has %U, %s, as character %d; remove it", r, why, i+1)
		}
		seen = seen || unicode.IsGraphic(r) && !unicode.IsSpace(r) && !unicode.IsMark(r)
	}
	if !seen && text != "" {
		return fmt.Errorf("has no visible character")
	}
	return nil
}

// CheckValue checks every text in a JSON value, and the names of its fields. where
// is the name of the value; the error begins with the place of the text.
func CheckValue(where string, value any, lines bool) error {
	switch v := value.(type) {
	case string:
		if err := Check(v, lines); err != nil {
			return fmt.Errorf("%s: %w", where, err)
		}
	case []any:
		for i, item := range v {
			if err := CheckValue(fmt.Sprintf("%s.%d", where, i), item, lines); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if err := Check(name, false); err != nil {
				return fmt.Errorf("%s: the name of a field %w", where, err)
			}
			if err := CheckValue(where+"."+name, v[name], lines); err != nil {
				return err
			}
		}
	}
	return nil
}

// Escape writes every odd character as its code point, ⟨U+202E⟩. A text that
// Check accepts is unchanged.
func Escape(text string, lines bool) string {
	if Check(text, lines) == nil {
		return text
	}
	var b strings.Builder
	runes := []rune(strings.ToValidUTF8(text, "\uFFFD"))
	for i, r := range runes {
		if odd(runes, i, lines) == "" {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "⟨%U⟩", r)
		}
	}
	return b.String()
}

// EscapeValue escapes every text in a JSON value, and the names of its fields. It may change
// the value in its place.
func EscapeValue(value any, lines bool) any {
	switch v := value.(type) {
	case string:
		return Escape(v, lines)
	case []any:
		for i := range v {
			v[i] = EscapeValue(v[i], lines)
		}
	case map[string]any:
		for _, name := range slices.Collect(maps.Keys(v)) {
			inner := EscapeValue(v[name], lines)
			delete(v, name)
			v[Escape(name, false)] = inner
		}
	}
	return value
}

// odd returns why the character at i is not allowed; empty when it is.
func odd(text []rune, i int, lines bool) string {
	r := text[i]
	switch {
	case lines && (r == '\n' || r == '\t' || r == '\r' && i+1 < len(text) && text[i+1] == '\n'):
		return ""
	case r >= ' ' && r < 0x7f:
		return ""
	case unicode.IsControl(r):
		return control
	case unicode.Is(unicode.Bidi_Control, r):
		return direction
	case r == zeroWidthNonJoiner || r == zeroWidthJoiner:
		return unless(letterAt(text, i-1) && letterAt(text, i+1), invisible)
	case unicode.Is(unicode.Variation_Selector, r):
		return unless(selects(text, i), invisible)
	case unicode.Is(unicode.Prepended_Concatenation_Mark, r):
		return ""
	case unicode.Is(blank, r):
		return invisible
	case unicode.In(r, unicode.Zl, unicode.Zp):
		return separator
	case unicode.IsGraphic(r):
		return ""
	case unicode.Is(unicode.Cf, r):
		return invisible
	}
	return private
}

const (
	zeroWidthNonJoiner = '\u200c'
	zeroWidthJoiner    = '\u200d'
)

// blank are characters that count as letters, marks or symbols and show
// nothing: fillers, joiners of graphemes, the empty braille pattern.
var blank = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x034f, Hi: 0x034f, Stride: 1}, {Lo: 0x115f, Hi: 0x1160, Stride: 1}, {Lo: 0x17b4, Hi: 0x17b5, Stride: 1},
		{Lo: 0x2800, Hi: 0x2800, Stride: 1}, {Lo: 0x3164, Hi: 0x3164, Stride: 1}, {Lo: 0xffa0, Hi: 0xffa0, Stride: 1},
	},
	R32: []unicode.Range32{{Lo: 0x16fe4, Hi: 0x16fe4, Stride: 1}},
}

func unless(allowed bool, why string) string {
	if allowed {
		return ""
	}
	return why
}

// letterAt reports whether a letter, or a mark on one, is at i.
func letterAt(text []rune, i int) bool {
	return i >= 0 && i < len(text) && (unicode.IsLetter(text[i]) || unicode.IsMark(text[i])) &&
		!unicode.Is(blank, text[i]) && !unicode.Is(unicode.Variation_Selector, text[i])
}

// selects reports whether the variation selector at i chooses a form of the
// character before it: of a symbol as text or emoji, or of a Chinese character. A blank
// has no form: it is escaped, and a selector after it would be invisible.
func selects(text []rune, i int) bool {
	if i == 0 || unicode.Is(blank, text[i-1]) {
		return false
	}
	before := text[i-1]
	if r := text[i]; r == 0xfe0e || r == 0xfe0f {
		return unicode.IsSymbol(before) || unicode.IsDigit(before) || before == '*' || before == '#' || before == '‼' || before == '⁉'
	}
	return unicode.Is(unicode.Han, before)
}

// Clip cuts a text to that many characters and marks the cut.
func Clip(text string, most int) string {
	if len(text) <= most || utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most]) + "…"
}
