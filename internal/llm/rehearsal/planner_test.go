package rehearsal

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"countersign.dev/internal/agent"
)

// TestSourceNamesNoToolAndNoPerson holds the promise of the package comment against
// its own source: no person of the fixture, no tool and no field of a tool, neither of
// the company's servers nor of the one that it has never seen.
func TestSourceNamesNoToolAndNoPerson(t *testing.T) {
	forbidden := []string{"pto", "tamshai", "invoice", "get_budget", "list_deals", "search_tickets", "close_ticket", "org chart"}
	for _, info := range build(t).tools {
		forbidden = append(forbidden, info.Name)
	}
	for _, unseen := range fleet(t).Open {
		_, noun, _ := strings.Cut(unseen.Name, "_")
		forbidden = append(forbidden, unseen.Name, noun)
	}
	for _, row := range load[[]map[string]string](t, "testdata/people.json") {
		forbidden = append(forbidden, strings.ToLower(row["first"]), strings.ToLower(row["last"]), strings.ToLower(row["email"]))
	}
	forbidden = slices.DeleteFunc(forbidden, func(f string) bool { return f == "price" }) // a surname, and a word
	files, _ := filepath.Glob("*/*.go")
	files = append(files, "rehearsal.go", "language/english.yaml")
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		words := strings.FieldsFunc(strings.ToLower(string(raw)), func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '@' && r != '.'
		})
		text := " " + strings.Join(words, " ") + " "
		for _, f := range forbidden {
			if strings.Contains(text, " "+f+" ") {
				t.Errorf("%s knows %q", file, f)
			}
		}
	}
}

func requestOf(t testing.TB, who person, question string) agent.Request {
	set := newFakeHR(t, who, hrTools(t)).Tools(t.Context())
	return agent.Request{Person: who.Person, Now: today, Tools: set.Open, Closed: set.Closed, Messages: []agent.Message{agent.TextMessage(agent.User, question)}}
}

func FuzzPlannerNeverChangesWithoutItsVerb(f *testing.F) {
	for _, seed := range []string{"Delete employee Frank Davis", "((((((", "\"\"\"", "5% 5% 5%", "and and and", "'s 's", "delete\x00delete", "raise Sarah's pay by 5%", "März 31 April 31"} {
		f.Add(seed)
	}
	m, base := New(), requestOf(f, people["alice"], "")
	f.Fuzz(func(t *testing.T, question string) {
		if utf8.RuneCountInString(question) > agent.MaxQuestion {
			return
		}
		base.Messages = []agent.Message{agent.TextMessage(agent.User, question)}
		text, calls := m.think(base)
		if text == "" && len(calls) == 0 {
			t.Fatalf("%q: neither words nor calls", question)
		}
		again, _ := m.think(base)
		if again != text {
			t.Fatalf("%q: %q and then %q", question, text, again)
		}
		for _, c := range calls {
			if !json.Valid(c.Args) {
				t.Fatalf("%q: arguments %s", question, c.Args)
			}
			if c.Tool == "delete_employee" && !ordersDeletion(question) {
				t.Fatalf("%q led to %s", question, c.Tool)
			}
		}
	})
}

func ordersDeletion(question string) bool {
	low := strings.ToLower(question)
	return slices.ContainsFunc([]string{"delete", "remove", "terminate", "fire", "dismiss", "erase", "sack", "offboard", "discharge"}, func(v string) bool { return strings.Contains(low, v) })
}

func TestBracketsAreReadQuickly(t *testing.T) {
	tools := hrTools(t)
	for _, text := range []string{strings.Repeat("[(", 1024), strings.Repeat(`"`, 2048), strings.Repeat("a ", 1024), strings.Repeat("and ", 512), strings.Repeat("5% ", 680), strings.Repeat("x's ", 512)} {
		if s := ask(t, newFakeHR(t, people["alice"], tools), people["alice"].Person, nil, text); len(s.calls) > 0 && len(s.pendings) > 0 {
			t.Errorf("%.20s…: %v", text, s.calls)
		}
	}
}

// A round's own cost beside the person's patience: the bar is 5 ms.
func BenchmarkRound(b *testing.B) {
	m, r := New(), requestOf(b, people["nina"], "Who on my team has performance reviews due?")
	for b.Loop() {
		m.think(r)
	}
}
