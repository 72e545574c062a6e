package lexicon

import (
	"cmp"
	"regexp"
)

// Forms of answers that the next question may go on with.
var (
	telling  = regexp.MustCompile(`^(?:Your|.+'s) [a-z ]+ is ([A-Z][^.]+)\.$`)
	pointing = regexp.MustCompile(`^(?:Your|.+'s) [a-z ]*(?:manager|boss|owner|reviewer|approver|contact|lead|assignee|agent|assigned to|approved by|submitted by) is ([A-Z][^.]+)\.$|^(?:([A-Z]+-\d+) )?([^:\n]*?)(?: \(.*\))? is the (?:highest|lowest|latest|earliest)|^([^\n]+?)'s [a-z ]+ (?:is|are):? |^\*\*(?:([A-Z]+-\d[-\d]*)[^*]*|([^*\n]+))\*\*: |^([A-Z]+-\d[-\d]*): [a-z]`)
	naming   = regexp.MustCompile(`(?m)^- (?:([A-Z]+-\d[-\d]*)\b ?)?([^:\n]*?)(?: 20\d\d)?(?: \(|:|$)`)
	counted  = regexp.MustCompile(`^There (?:is|are) (?:more than )?\d`)
	unsaid   = regexp.MustCompile(`\n- and \d+ more|^The \d+ [^\n]*:\n|Say "next page"`)
	asking   = regexp.MustCompile(`(^|\n)(Which|What|Why) [^\n]*\?$`)
)

// Subject is the person or thing that an answer names last: "Your manager is Ada Lovelace.",
// "Acme Pilot (Acme) is the highest: …"; empty where it names none, or several.
func Subject(answer string) string {
	return cmp.Or(append(pointing.FindStringSubmatch(answer), "", "")[1:]...)
}

// NameIn is the name that an answer has for a field of one thing, "Your manager is Ada."; empty
// where it has none.
func NameIn(answer string) string { return append(telling.FindStringSubmatch(answer), "", "")[1] }

// Shown is what the n-th row that an answer lists is called: its id, if it begins with one, and
// its name. Both are empty where there is no such row.
func Shown(answer string, n int) (id, name string) {
	lines := naming.FindAllStringSubmatch(answer, n)
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
