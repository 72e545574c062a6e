package draw

import (
	"cmp"
	"regexp"
	"strings"
	"time"

	"github.com/rivo/uniseg"

	"countersign.dev/internal/plaintext"
	"countersign.dev/internal/result"
)

// cell is a value as the declaration of its field wants it.
func cell(r result.Row, name string, f result.Field) string {
	value := r.Values[name]
	if isObject(value) {
		return "…"
	}
	return cmp.Or(Short(textOf(f.State(name, f.Text(value, r.Text("currency"))))), "–")
}

func isObject(v any) bool {
	_, is := v.(result.Row)
	return is
}

// labelOf makes "Hire date" of hire_date, and "Employee ID" of employeeId.
func labelOf(name string) string {
	words := strings.ReplaceAll(strings.ToLower(camel.ReplaceAllString(plaintext.Escape(name, false), "${1}_$2")), "_", " ")
	if base, isID := strings.CutSuffix(words, " id"); isID {
		words = base + " ID"
	}
	if words == "" {
		return words
	}
	return strings.ToUpper(words[:1]) + words[1:]
}

// Short makes one short line in which every odd character, such as one that
// could command the terminal, is visible.
func Short(s string) string {
	return Clip(plaintext.Escape(strings.Join(strings.Fields(s), " "), false), maxCell)
}

// Clip shortens a text to so many columns of a terminal, in which a Chinese
// character takes two.
func Clip(text string, width int) string {
	if uniseg.StringWidth(text) <= width {
		return text
	}
	var b strings.Builder
	for g, free := uniseg.NewGraphemes(text), width-1; g.Next() && g.Width() <= free; free -= g.Width() {
		b.WriteString(g.Str())
	}
	return b.String() + "…"
}

func labelsOf(names []string, fields map[string]result.Field) []string {
	labels := make([]string, len(names))
	for i, name := range names {
		labels[i] = Short(cmp.Or(fields[name].Label, labelOf(name)))
	}
	return labels
}

const maxCell = 36 // columns of the terminal

// camel is where a word of a name begins in the middle of it.
var camel = regexp.MustCompile(`([a-z])([A-Z])`)

// textOf shortens moments to minutes.
func textOf(s string) string {
	if at, err := time.Parse(time.RFC3339, s); err == nil {
		return at.Format("2006-01-02 15:04")
	}
	return s
}
