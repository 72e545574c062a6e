package lexicon

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	"countersign.dev/internal/english"
	"countersign.dev/internal/language"
)

// Forms of answers that the next question may go on with.
var (
	telling  = regexp.MustCompile(`^(?:Your|.+'s) [a-z ]+ is ([A-Z][^.]+)\.$`)
	pointing = regexp.MustCompile(`^(?:Your|.+'s) [a-z ]*(?:manager|boss|owner|reviewer|approver|contact|lead|assignee|agent|assigned to|approved by|submitted by) is ([A-Z][^.]+)\.$|^(?:([A-Z]+-\d+) )?([^:\n]*?)(?: \(.*\))? is the (?:highest|lowest|latest|earliest)|^([^\n]+?)'s [a-z ]+ (?:is|are):? |^\*\*(?:([A-Z]+-\d[-\d]*)[^*]*|([^*\n]+))\*\*: |^([A-Z]+-\d[-\d]*): [a-z]`)
	naming   = regexp.MustCompile(`(?m)^- (?:([A-Z]+-\d[-\d]*)\b ?)?([^:\n]*?)(?: 20\d\d)?(?: \(|:|$)`)
	unnamed  = regexp.MustCompile(`\n- and \d+ more`)
	counted  = regexp.MustCompile(`^There (?:is|are) (?:more than )?\d`)
	unsaid   = regexp.MustCompile(`\n- and \d+ more|^The \d+ [^\n]*:\n|Say "next page"`)
	asking   = regexp.MustCompile(`(^|\n)(Which|What|Why) [^\n]*\?$`)
)

// Subject is the person or thing that an answer names last: "Your manager is Ada Lovelace.",
// "Acme Pilot (Acme) is the highest: …"; empty where it names none, or several.
func Subject(answer string) (subject string) {
	for paragraph := range strings.SplitSeq(answer, "\n\n") {
		name := cmp.Or(append(pointing.FindStringSubmatch(paragraph), "", "")[1:]...)
		if name != "" && subject != "" && name != subject {
			return ""
		}
		subject = cmp.Or(name, subject)
	}
	return subject
}

// Meant is the person or thing that "it" or "she" means behind an answer, where it meant one
// before. Of "who is his manager?" the next "his" is not the manager, and behind a list or two
// answers it means none, unless the question has the name.
func (x *Lexicon) Meant(before, question, answer string) string {
	subject, items := Subject(answer), 0
	listed, _ := english.Listed(answer, nil)
	for _, n := range listed {
		items += n
	}
	turned := slices.ContainsFunc(language.Lows(language.Read(question, time.Time{})), func(w string) bool { return x.Is(w, "possessive", "pronoun") })
	several := items > 1 || strings.Contains(answer, "\n\n")
	switch {
	case subject != "" && (!turned || before == ""):
		return subject
	case subject == "" && several && !turned && english.Shared(english.Prose(before), english.Prose(question)) == 0:
		return ""
	}
	return before
}

// NameIn is the name that an answer has for a field of one thing, "Your manager is Ada."; empty
// where it has none.
func NameIn(answer string) string { return append(telling.FindStringSubmatch(answer), "", "")[1] }

// Shown is what the n-th row that an answer lists, or with -1 the last, is called: its id, if it
// begins with one, and its name. Both are empty where there is no such row.
func Shown(answer string, n int) (id, name string) {
	lines := naming.FindAllStringSubmatch(unnamed.ReplaceAllString(answer, ""), -1)
	if n < 0 {
		n += len(lines) + 1
	}
	if n <= 0 || len(lines) < n {
		return "", ""
	}
	return lines[n-1][1], lines[n-1][2]
}

// Counted reports whether an answer says how many there are.
func Counted(answer string) bool { return counted.MatchString(answer) }

// Unsaid reports whether an answer has more rows than it names.
func Unsaid(answer string) bool { return unsaid.MatchString(answer) }

// Asks reports whether an answer ends with a question to the person: "Which deal do you mean?"
func Asks(answer string) bool { return asking.MatchString(answer) }
