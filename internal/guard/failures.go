package guard

import (
	"fmt"
	"slices"
	"strings"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/guard/wording"
	"countersign.dev/internal/pattern"
)

// failures returns a line for each call of the turn that failed or was refused
// and that the answer does not speak of, and for each that only untrusted text
// asked for.
func failures(a Answer, e Evidence) (lines []string) {
	for _, c := range e.Calls {
		if f := c.Outcome.Fault(); f != nil && f.Code == fault.NotAskedFor {
			lines = append(lines, fmt.Sprintf(notCalled, c.name(), f.Details["source"]))
		}
	}
	return append(lines, unsaid(a, e)...)
}

// notCalled tells the person about a call that only untrusted text asked for.
const notCalled = "“%s” was not called: %s asks for it, and you did not. If you want it, ask for it in your own words."

// unsaid returns the lines about failures that the answer does not speak of.
func unsaid(a Answer, e Evidence) (lines []string) {
	if strings.TrimSpace(a.Whole()) == "" {
		return nil // nothing was said that could mislead
	}
	failed := failedCalls(e.Calls)
	sentences := wording.Sentences(a.After)
	for _, c := range failed {
		why := ": " + c.problem()
		if c.foreign() {
			why = "."
		}
		line := fmt.Sprintf(fault.ToolError, c.name()) + why
		if !repeats(a.After, c.problem()) && !repeats(a.After, c.Outcome.Fault().Message) && !saysFailed(sentences, c, len(failed)) && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return lines
}

// problem is why a call failed, as people read it.
func (c Call) problem() string {
	f := c.Outcome.Fault()
	message, _ := f.ForPeople()
	return message
}

// saidInRefusal reports whether our own tool said the sentence when it refused a call.
func saidInRefusal(sentence string, e Evidence) bool {
	return slices.ContainsFunc(e.Calls, func(c Call) bool {
		return !c.foreign() && c.Outcome.Fault() != nil && slices.Contains(wording.Sentences(c.Outcome.Fault().Message), sentence)
	})
}

// failedCalls are the calls that failed and were not made again. A mistake of the
// model itself is no failure, when another tool answered afterwards.
func failedCalls(calls []Call) (failed []Call) {
	for i, c := range calls {
		f := c.Outcome.Fault()
		settled := func(later Call) bool {
			own := f.Code == fault.UnknownTool || f.Code == fault.ValidationError && !c.changes()
			return later.Tool == c.Tool || own && later.Outcome.Fault() == nil
		}
		if f != nil && f.Code != fault.NotAskedFor && !slices.ContainsFunc(calls[i+1:], settled) {
			failed = append(failed, c)
		}
	}
	return failed
}

// The ways to say in English that something could not be had or done.
var (
	inability  = pattern.New(`(?i)\b(?:can(?:no|')t|can’t|cannot|could(?:n't|n’t| not)|unable|not able|was(?:n't|n’t| not) able|isn(?:'t|’t)|didn(?:'t|’t)|don(?:'t|’t) have|do not have|fail(?:ed|s|ure)?|errors?|problems?|trouble|unfortunately|sorry|instead|no luck|no word|no answer)\b|(?:^|[^\pL])(?:nicht|leider|konnte|fehler|fehlgeschlagen)(?:[^\pL]|$)`)
	restricted = pattern.New(`(?i)\b(?:permi(?:ssion|tted|t)s?|access|allowed|authori[sz]ed|restricted|refused|denied|(?:needs?|requires?) the roles?|role|rights? to|blocked|off[- ]limits|lacks?|lacking|clear(?:ed|ance)|privileges?|entitled|locked|reserved|limited to|rolle|berechtigung(?:en)?|darf(?:st)?|only (?:people|those|someone|somebody)|only (?:\pL+ ){1,4}(?:may|can))\b|(?:^|[^\pL])(?:zugriff|fehlt|fehlen|dürfen|erlaubt|gesperrt)(?:[^\pL]|$)`)
	silent     = pattern.New(`(?i)\b(?:unavailable|not available|not reachable|reach(?:ed|able)?|timed out|time-?out|down|offline|respond(?:ed|ing)?|no response|unresponsive|outage|maintenance|hiccup|glitch|not working|try(?:ing)? again|retry|not answer(?:ed|ing)?|too (?:slow|busy|large))\b|(?:^|[^\pL])(?:(?:nicht|un)\s?erreichbar|antwortet|zeitüberschreitung|ausgefallen)(?:[^\pL]|$)`)
	missing    = pattern.New(`(?i)\b(?:no|not|none|nobody|nothing|never|unknown|doesn(?:'t|’t)|invalid|already)\b|(?:^|[^\pL])(?:nichts?|kein\pL*|niemand|nie|unbekannt|bereits|schon)(?:[^\pL]|$)`)
)

// saysFailed reports whether a sentence speaks of the failure. When there are
// several failures it must name what failed; a question is an answer to a fault of
// the arguments.
func saysFailed(sentences []string, c Call, failed int) bool {
	f := c.Outcome.Fault()
	for _, s := range sentences {
		says := inability.MatchString(s)
		switch f.Kind() {
		case fault.Forbidden, fault.Unauthenticated:
			says = says || restricted.MatchString(s)
		case fault.Unavailable, fault.Internal, fault.RateLimited:
			says = says || silent.MatchString(s)
		default:
			says = says || missing.MatchString(s) || strings.HasSuffix(s, "?")
		}
		if says && (failed == 1 || shareWord(s, c.Tool+" "+c.Title+" "+f.Message)) {
			return true
		}
	}
	return false
}

// repeats reports whether the answer has most of the words of a fault's message.
func repeats(text, message string) bool {
	said := map[string]bool{}
	for _, w := range wording.Words(text) {
		said[wording.Stem(w)] = true
	}
	words := wording.Words(message)
	found := 0
	for _, w := range words {
		if said[wording.Stem(w)] {
			found++
		}
	}
	return len(words) > 3 && found*5 >= len(words)*4
}

// shareWord reports whether two texts have a word in common that is no common one.
func shareWord(a, b string) bool {
	stems := map[string]bool{}
	for _, w := range wording.Words(b) {
		stems[wording.Stem(w)] = len(w) > 3
	}
	return slices.ContainsFunc(wording.Words(a), func(w string) bool { return stems[wording.Stem(w)] })
}
