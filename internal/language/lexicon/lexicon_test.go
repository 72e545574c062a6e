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

func TestAQuestionKeepsSomeOfWhatWasShown(t *testing.T) {
	for said, want := range map[string][2]string{
		"which of those are open?":                          {"which", "are open"},
		"and how many of them are late":                     {"how many", "are late"},
		"who of them earns over 150k?":                      {"who", "earns over 150k"},
		"which are due this week":                           {"which", "are due this week"},
		"which ones close in March?":                        {"which", "close in March"},
		"any overdue?":                                      {"which", "overdue"},
		"are there any of these that are late":              {"which", "are late"},
		"which deals are lost?":                             {"", ""},
		"who is late?":                                      {"", ""},
		"how many are there in the whole of Rome and Paris": {"", ""},
	} {
		if ask, which := Kept(said); ask != want[0] || which != want[1] {
			t.Errorf("%q: got %q, %q", said, ask, which)
		}
	}
}

func TestASentenceBeforeAQuestionIsNoneOfIt(t *testing.T) {
	for said, want := range map[string]string{
		"Hi, I'm new here. Who is my manager?":   "Who is my manager?",
		"I am in Rome. List invoices":            "List invoices",
		"Good morning, we're looking. Any news?": "Any news?",
		"I am not sure. Delete Ada":              "I am not sure. Delete Ada",
		"Who am I?":                              "Who am I?",
	} {
		if got := Opening.ReplaceAllString(said, ""); got != want {
			t.Errorf("%q: got %q", said, got)
		}
	}
}

func TestABoundTakesThePlaceOfAnother(t *testing.T) {
	for question, want := range map[string]string{
		"deals over 100":                     "deals",
		"deals over 20 of Ada":               "deals over 20 of Ada",
		"deals under 80 in Rome":             "deals in Rome",
		"deals at least 60 and under 70 now": "deals and now",
		"the 99 deals":                       "the 99 deals",
	} {
		x := English()
		if got := language.Text(x.Rebound(language.Read(question, time.Time{}), language.Read("under 50", time.Time{}))); got != want {
			t.Errorf("%q: got %q, want %q", question, got, want)
		}
	}
}
