package lexicon

import (
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/language"
)

func TestQuestionsOfASentenceAreParted(t *testing.T) {
	joint := English().Joint(func(w language.Token) bool { return w.Stem == "deal" || w.Stem == "ticket" }, func(language.Token) bool { return true })
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

func TestQuestionsInOtherWordsAreTheUsualOnes(t *testing.T) {
	for said, want := range map[string]string{
		"Hi, I'm new here. Who is my manager?":   "Who is my manager?",
		"I am in Rome. List invoices":            "List invoices",
		"Good morning, we're looking. Any news?": "Any news?",
		"I am not sure. Delete Ada":              "I am not sure. Delete Ada",
		"Who am I?":                              "Who am I?",
		"create a task for Ada to call Acme":     "create a task: call Acme (for Ada)",
		"add a task for Ada Byron: call Acme":    "add a task: call Acme (for Ada Byron)",
		"create a task for me":                   "create a task for me",
		"tell me more about the second":          "show the second one",
		"close number 2":                         "close the 2th one",
		"delete the third":                       "delete the third one",
		"who is the first":                       "who is the first",
		"whose is it?":                           "who owns it",
		"is Ada Byron working in Rome?":          "who is Ada Byron",
		"is Acme Pilot in negotiation?":          "is Acme Pilot in negotiation?",
		"Where is NewReader defined?":            "where is NewReader",
		"how do I see salaries?":                 "show salaries?",
		"where can we look up invoices":          "show invoices",
		"how do I reset a password?":             "how do I reset a password?",
		"How can I reach Ada Byron?":             "what is the email of Ada Byron",
		"how do I reach the office?":             "how do I reach the office?",
		"give me a short summary of Ada":         "show Ada",
		"show me team Rome":                      "show me my team Rome",
	} {
		if got := Usual(said); got != want {
			t.Errorf("%q: got %q", said, got)
		}
	}
}

func TestAnAnswerSaysWhatTheNextQuestionIsAbout(t *testing.T) {
	for answer, want := range map[string]string{
		"Your manager is Ada Byron.":                        "Ada Byron",
		"INV-7 (Acme) is the highest: amount $3.":           "INV-7",
		"Acme Pilot (Acme, open) is the latest: created at": "Acme Pilot",
		"Ada Byron's salary is $3.":                         "Ada Byron",
		"**TICK-004 Login refused**: status open.":          "TICK-004",
		"I found 2 deals:\n- Acme Pilot (Acme)\n- B (C)":    "",
	} {
		if got := Subject(answer); got != want {
			t.Errorf("%q is about %q, want %q", answer, got, want)
		}
	}
	const list = "I found 3 tickets:\n- TICK-010 Slow search (open, low)\n- Acme Pilot: value $3\n- and 1 more"
	for n, want := range map[int][2]string{-9: {}, 0: {}, -1: {"", "Acme Pilot"}, 1: {"TICK-010", "Slow search"}, 2: {"", "Acme Pilot"}, 9: {}} {
		if id, name := Shown(list, n); id != want[0] || name != want[1] {
			t.Errorf("row %d is called %q, %q", n, id, name)
		}
	}
	if !Unsaid(list) || Unsaid("I found 1 ticket:\n- A") || !Unsaid(`The list is incomplete. Say "next page" to see them.`) {
		t.Error("what an answer does not name")
	}
	if !Counted("There are more than 50 deals.") || Counted("There are deals.") || NameIn("Ada's city is Rome.") != "Rome" || NameIn("Ada's city is unknown.") != "" {
		t.Error("what an answer counts and tells")
	}
	x := English()
	for _, c := range []struct{ before, question, answer, want string }{
		{"", "who is the manager?", "Your manager is Ada.", "Ada"},
		{"Ben", "who is his manager?", "Ben's manager is Ada.", "Ben"},
		{"Ben", "list invoices", "I found 2 invoices:\n- A\n- B", ""},
		{"Ben", "who reports to Ben?", "I found 2 people:\n- A\n- B", "Ben"},
		{"Ben", "list invoices", "I found 1 invoice:\n- A", "Ben"},
		{"", "compare Ada and Ben", "Ada's salary is $1.\n\nBen's salary is $2.", ""},
	} {
		if got := x.Meant(c.before, c.question, c.answer); got != c.want {
			t.Errorf("%q, %q: \"it\" means %q, want %q", c.question, c.answer, got, c.want)
		}
	}
	if !Keeps("which of those are open?") || Keeps("how many are there?") {
		t.Error("what a question keeps")
	}
	if !Asks("Found.\nWhich deal do you mean?") || Asks("Which deal do you mean? Say so.") {
		t.Error("what an answer asks")
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

func TestQuestionsGoOnWithOthers(t *testing.T) {
	x := English()
	for words, want := range map[string]string{"blue cars": "how many blue cars has Ada?", "my cars": "", "cars": "", "red boats": ""} {
		if got := x.Another("how many red cars has Ada?", strings.Fields(words)); got != want {
			t.Errorf("%s: %q, want %q", words, got, want)
		}
	}
	for said, want := range map[string]string{"how many of them are open?": "open", "and how many in Paris?": "in Paris", "how many are there?": "", "how many cars are open?": ""} {
		if got := CountsSome(said); got != want {
			t.Errorf("%s: %q, want %q", said, got, want)
		}
	}
}
