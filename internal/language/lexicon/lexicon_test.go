package lexicon

import (
	"testing"
	"time"

	"countersign.dev/internal/language"
)

func TestQuestionsOfASentenceAreParted(t *testing.T) {
	joint := English().Joint(func(w language.Token) bool { return w.Stem == "deal" || w.Stem == "ticket" })
	for text, first := range map[string]string{
		"show the deals and open tickets":        "show the deals",
		"how many deals and tickets are there":   "how many deals are there",
		"who is late and what do deals bring":    "who is late",
		"deals of Ada and who owns them":         "deals of Ada",
		"tickets by age, and then list people":   "tickets by age",
		"list people and which are late":         "",
		"people who are late and have a meeting": "",
		"people in Rome and whose name is Ada":   "",
		"late and open tickets":                  "",
		"list a deal and a ticket":               "",
	} {
		got, ways := "", joint.Split(language.Read(text, time.Time{}))
		if len(ways) > 0 {
			got = language.Text(ways[0][0])
		}
		if got != first {
			t.Errorf("%q: got %q, want %q first", text, got, first)
		}
	}
}
