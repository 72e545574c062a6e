package guard

import (
	"regexp"
	"slices"
	"strings"
)

// What the rules need to know of German: the page speaks it, and so people and models
// do. Its nouns have capital letters, its figures points where English has commas.

var germanWords = strings.Fields("der das und ist sind nicht ich sie wir für auf mit von zu ein eine einen einer den dem es gibt kein keine noch wurde wurden werden wird habe hat haben nur zusammen jetzt ab bei aus dass du dein deine leider sich im zur zum gerade")

// isGerman reports whether a text has two of the words of every German sentence.
func isGerman(text string) bool {
	first := ""
	for _, w := range wordsOf(text) {
		switch {
		case !slices.Contains(germanWords, w) || w == first:
		case first != "":
			return true
		default:
			first = w
		}
	}
	return false
}

// germanFigure matches 160.000 and 62.990,50 and 8,1.
var germanFigure = regexp.MustCompile(`^(?:\d{1,3}(?:\.\d{3})+(?:,\d+)?|\d+,\d{1,2})$`)

// inEnglish writes a German figure as an English one.
func inEnglish(figure string) string {
	return strings.NewReplacer(".", "", ",", ".").Replace(figure)
}

// germanForms are the participles that claim a change, by class as in [forms].
var germanForms = map[string]string{
	"gelöscht": "delete", "entfernt": "delete", "gekündigt": "delete", "genehmigt": "approve", "freigegeben": "approve", "abgelehnt": "reject", "geschlossen": "close", "gelöst": "close",
	"geändert": "update", "angepasst": "update", "aktualisiert": "update", "erhöht": "raise", "angehoben": "raise", "gesenkt": "lower", "gekürzt": "lower", "erstellt": "create", "angelegt": "create", "eingetragen": "create",
	"gesendet": "send", "geschickt": "send", "verschickt": "send", "informiert": "send", "benachrichtigt": "send", "eingereicht": "submit", "zugewiesen": "assign", "storniert": "undo", "gebucht": "book", "bezahlt": "pay", "überwiesen": "pay",
	"erledigt": "do", "durchgeführt": "do", "ausgeführt": "do",
}

var (
	germanClaim  = regexp.MustCompile(`(?:^|[^\pL])(?:habe|haben|hat|wurde|wurden|ist|sind)(?: [^ ]+){0,8} (` + alternatives(germanForms) + `)(?:[^\pL]|$)|^[^\pL]*(erledigt)(?:[^\pL]|$)|(?:^| )(ab (?:jetzt|sofort))(?:[^\pL]|$)`)
	germanUnmade = regexp.MustCompile(`(?:^|[^\pL])(?:nicht|nichts|kein\pL*|noch|wenn|sobald|falls|würde|werden|soll|möchtest|kann|könnte|muss|erst)(?:[^\pL]|$)`)
)

func alternatives(forms map[string]string) string { return strings.Join(sortedKeys(forms), "|") }

// claimedInGerman reports whether a sentence says that something was changed. As in
// English, a state of a row counts only where the person asked for a change.
func claimedInGerman(small string, wanted bool, e Evidence, results func() *data) bool {
	m := germanClaim.FindStringSubmatch(small)
	if m == nil || !isGerman(small) && m[2] == "" || germanUnmade.MatchString(small) {
		return false
	}
	own := strings.Contains(small, "ich habe ") || strings.Contains(small, "habe ich ")
	if !own && !wanted {
		return false
	}
	class := germanForms[m[1]]
	return !made(e, class) && (own || !rowSays(results(), class, small, e.Question))
}
