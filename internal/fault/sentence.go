package fault

import (
	"errors"
	"regexp"
	"strings"
)

// Advice returns what of a suggested action is for people: its sentences that name
// no tool and no input. The others tell a model what to call.
func Advice(suggested string) string {
	var kept []string
	for _, sentence := range sentences.FindAllString(suggested, -1) {
		if !identifier.MatchString(sentence) {
			kept = append(kept, strings.TrimSpace(sentence))
		}
	}
	return strings.Join(kept, " ")
}

var (
	sentences  = regexp.MustCompile(`(?s).+?([.?!](\s|$)|$)`)
	identifier = regexp.MustCompile(`\b[a-z0-9]+_[a-z0-9_]+\b|^\s*[a-z]+: `)
)

// Sentence words an error for a terminal: a fault by its message and the
// suggested action, any other error as it is.
func Sentence(err error) string {
	var f *Error
	if errors.As(err, &f) {
		return strings.TrimSpace(f.Message + " " + f.SuggestedAction)
	}
	return err.Error()
}
