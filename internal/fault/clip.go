package fault

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// How long the texts of a fault may be. Whatever made them up, no surface
// answers more.
const (
	MaxMessage = 500 // bytes of a message, and of a suggested action
	MaxNames   = 5   // names that one sentence lists
	maxDetail  = 200 // bytes of a text in the details
	maxQuoted  = 80  // bytes of one argument of a sentence that would be too long
)

// Clip shortens a text to at most that many bytes, whole characters, with an
// ellipsis at its end. Bytes that are not UTF-8 are dropped.
func Clip(text string, most int) string {
	if len(text) <= most && utf8.ValidString(text) {
		return text
	}
	const ellipsis = "…"
	if len(text) > most {
		text = text[:max(most-len(ellipsis), 0)] + ellipsis
	}
	return strings.ToValidUTF8(text, "")
}

// List joins at most [MaxNames] names, each clipped, and counts the others:
// "a; b and 14,498 more".
func List(names []string, separator string) string {
	shown := make([]string, min(len(names), MaxNames))
	size := 0
	for i := range shown {
		shown[i] = Clip(names[i], MaxMessage/2)
		if size += len(shown[i]) + len(separator); i > 0 && size > MaxMessage-len(" and 1,000,000 more") {
			shown = shown[:i]
			break
		}
	}
	text := strings.Join(shown, separator)
	if left := len(names) - len(shown); left > 0 {
		text += " and " + thousands(left) + " more"
	}
	return text
}

func thousands(n int) string {
	digits := strconv.Itoa(n)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// sentence formats a text of a fault. When it would be too long, its arguments
// are clipped first: they come from callers, the rest says what to do.
func sentence(format string, args []any) string {
	if len(args) == 0 {
		return Clip(format, MaxMessage)
	}
	text := fmt.Sprintf(format, args...)
	if len(text) <= MaxMessage || len(args) == 1 && format == "%s" {
		return Clip(text, MaxMessage)
	}
	clipped := make([]any, len(args))
	for i, arg := range args {
		switch arg := arg.(type) {
		case string, error, fmt.Stringer:
			clipped[i] = Clip(fmt.Sprint(arg), maxQuoted)
		default:
			clipped[i] = arg
		}
	}
	return Clip(fmt.Sprintf(format, clipped...), MaxMessage)
}

// detail bounds the text of one detail.
func detail(value any) any {
	switch value := value.(type) {
	case string:
		return Clip(value, maxDetail)
	case []string:
		return value[:min(len(value), 10*MaxNames):min(len(value), 10*MaxNames)]
	}
	return value
}
