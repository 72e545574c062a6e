package fault

import (
	"errors"
	"strings"
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
