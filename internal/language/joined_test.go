package language

import (
	"slices"
	"strings"
	"testing"
)

// joint knows lists of deals and tickets.
var joint = Joint{
	Opens: func(words []Token) bool {
		return len(words) > 1 && slices.Contains([]string{"list", "who"}, words[0].Low)
	},
	Noun:  func(t Token) bool { return t.Low == "deals" || t.Low == "tickets" || t.Low == "people" },
	Leads: func(t Token) bool { return slices.Contains([]string{"show", "how", "many", "all"}, t.Low) },
	Trail: func(t Token) bool { return t.Low == "of" || t.Low == "in" || t.Low == "about" },
	Named: func(t Token) bool { return t.Owns || t.Low == "my" || t.Capital && t.Low != "open" },
}

func TestQuestionsAreParted(t *testing.T) {
	for text, want := range map[string]string{
		"who leads and list all deals":               "who leads | list all deals",
		"who leads, and then list all deals":         "who leads | list all deals",
		"show all deals and open tickets":            "show all deals | show all open tickets",
		"show deals, tickets and people":             "show deals | show tickets and people",
		"how many deals and tickets of Acme":         "how many deals of Acme | how many tickets of Acme || how many deals | how many tickets of Acme",
		"show deals of Acme and tickets of RetMax":   "show deals of Acme | show tickets of RetMax",
		"tickets and deals of Acme and list people":  "tickets and deals of Acme | list people",
		"open and late tickets":                      "",
		"Ada's tickets and deals":                    "Ada's tickets | Ada's deals",
		"show RetMax deals, open tickets and people": "show RetMax deals | show RetMax open tickets and people",
		"my deals and Ada's tickets":                 "my deals | Ada's tickets",
		"Open deals and tickets":                     "Open deals | tickets",
		"deals in Rome and of tickets":               "", // no phrase begins with "of"
		"deals and the one with many words tickets":  "",
		"deals and":       "",
		"and list deals":  "",
		"list and deals":  "",
		"deals of A or B": "",
	} {
		var ways []string
		for _, way := range joint.Split(Read(text, today)) {
			ways = append(ways, texts(way))
		}
		if got := strings.Join(ways, " || "); got != want {
			t.Errorf("%q:\ngot  %s\nwant %s", text, got, want)
		}
	}
}

func texts(questions [][]Token) string {
	var out []string
	for _, one := range questions {
		out = append(out, Text(one))
	}
	return strings.Join(out, " | ")
}

func TestOneQuestionIsFound(t *testing.T) {
	sentence := Read("show open tickets, late deals and people", today)
	for word, want := range map[string]string{"tickets": "show open tickets", "deals": "show late deals", "people": "show people", "late": "", "": ""} {
		if got := Text(joint.About(sentence, word)); got != want {
			t.Errorf("%s: got %q, want %q", word, got, want)
		}
	}
	if got := joint.About(Read("show deals", today), "deals"); got != nil {
		t.Errorf("one question: got %q", Text(got))
	}
}

func TestValuesArePutOneByOne(t *testing.T) {
	for text, want := range map[string]string{
		"compare sales and support budgets":             "compare sales budgets | compare support budgets",
		"people in Sales, Support or New York":          "people in Sales | people in Support | people in New York || people in Sales Support | people in Sales New York",
		"who is in New York and San Jose today":         "who is in New York 2026-03-01 | who is in San Jose 2026-03-01",
		"people in Sales, in Support and in Legal here": "people in Sales here | people in Support here | people in Legal here || people in Sales in Support here | people in Sales in Legal here",
		"a and b and c": "",
		"and b":         "",
		"a and":         "",
		"a b":           "",
		"":              "",
	} {
		var ways []string
		for _, way := range Each(Read(text, today)) {
			ways = append(ways, texts(way))
		}
		if got := strings.ReplaceAll(strings.Join(ways, " || "), "today", "2026-03-01"); got != want {
			t.Errorf("%q:\ngot  %s\nwant %s", text, got, want)
		}
	}
}

func TestNamesAreFound(t *testing.T) {
	for text, want := range map[string]string{
		"What is Ada's pay":        "Ada",
		"who reports to Ada Byron": "Ada Byron",
		"close TICK-012":           "TICK-012",
		`tickets about "the lamp"`: "the lamp",
		"Who leads":                "",
		"":                         "",
	} {
		if got := Name(Read(text, today)); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestQuestionIsQuotedAsItWasAsked(t *testing.T) {
	for text, want := range map[string]string{
		"Give me Ada's pay, largest first": "Give me Ada's pay largest first",
		"what's new":                       "what's new",
		"deals":                            "deals",
	} {
		if got := Said(Read(text, today)); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func FuzzJoined(f *testing.F) {
	for _, text := range []string{"deals and tickets of Acme", "a, b, and c", "and and", ", , deals, and tickets or", "in A, in B and in"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tokens := Read(text, today)
		for _, way := range joint.Split(tokens) {
			if len(way) != 2 || len(way[0]) == 0 || len(way[1]) == 0 {
				t.Errorf("%q: got %q, want two questions", text, texts(way))
			}
		}
		for _, one := range slices.Concat(Each(tokens)...) {
			if len(one) >= len(tokens) {
				t.Errorf("%q: %q is no shorter", text, Text(one))
			}
		}
	})
}
