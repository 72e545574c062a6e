package fault

import (
	"cmp"
	"errors"
	"regexp"
	"strings"
)

// Advice returns what of a suggested action is for people: its sentences that do
// not speak of tools, inputs or requests. The others tell a program what to call.
func Advice(suggested string) string {
	var kept []string
	for _, sentence := range sentences.FindAllString(suggested, -1) {
		if !forPrograms.MatchString(sentence) {
			kept = append(kept, strings.TrimSpace(sentence))
		}
	}
	return strings.Join(kept, " ")
}

// ForPeople returns the message and the suggested action of a failure as a person
// reads them, who sees no tools and no inputs. A sentence of a tool about an input
// ("I find no employee with that id.") is kept.
func ForPeople(code, message, suggested string) (string, string) {
	switch {
	case code == NotAskedFor.Name: // worded for the model
		return "Something that was read asks for this, and you did not. It was not done.", "Ask for it in your own words if you want it."
	case strings.HasPrefix(message, invalidInput):
		return cmp.Or(bounds(suggested), unfit), Advice(suggested)
	case code == ValidationError.Name && forPrograms.MatchString(message), identifier.MatchString(message):
		message = unfit
	}
	return message, Advice(suggested)
}

const unfit = "That could not be done the way it was asked: something in it does not fit."

// bounds says which values are too large or too small, as far as the remarks about
// an input are of nothing else: "The fiscal year must be at least 2000."
func bounds(remarks string) string {
	var said []string
	for remark := range strings.SplitSeq(remarks, "; ") {
		m := bound.FindStringSubmatch(remark)
		if m == nil {
			return ""
		}
		said = append(said, "The "+strings.ReplaceAll(m[1], "_", " ")+" "+m[2]+".")
	}
	return strings.Join(said, " ")
}

// invalidInput begins what the kernel says of an input that no tool has a sentence for.
const invalidInput = "Invalid input parameters"

var (
	sentences  = regexp.MustCompile(`(?s).+?([.?!](\s|$)|$)`)
	bound      = regexp.MustCompile(`^([a-z_]+): (must (?:be|have) at (?:least|most) -?[\d.]+(?: characters?)?)$`)
	identifier = regexp.MustCompile(`\b[a-z0-9]+_[a-z0-9_]+\b`)
	// What only programs can use: names of tools and inputs ("employee_id", "n: must be
	// below 10", "lastEventId"), and the words of requests.
	forPrograms = regexp.MustCompile(identifier.String() + `|^\s*[a-z]+: |\b[a-z]+[A-Z][A-Za-z]+\b` +
		`|\b(?i:call|calls|tools?|servers?|cursors?|fields?|inputs?|schema|JSON|arguments?|parameters?|headers?|bearer|tokens?|scope|route|routes|path|method|body|Content-Type|Retry-After)\b` +
		`|\bDELETE\b|\b(?:the|your) person\b`) // a method, and what a model is to say
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
