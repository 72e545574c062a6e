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
	"countersign.dev/internal/testkit"
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
	language, _ := filepath.Glob("../../language/*.go")
	files = append(append(files, language...), "rehearsal.go", "../../language/lexicon/english.yaml")
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
	for _, seed := range []string{"Delete employee Frank Davis", "((((((", "\"\"\"", "5% 5% 5%", "and and and", "'s 's", "delete\x00delete", "raise Sarah's pay by 5%", "März 31 April 31", "-5 more", "what about, Sales?", "page 9"} {
		f.Add(seed)
	}
	m, base := New(), requestOf(f, people["alice"], "")
	listed := ask(f, newFakeHR(f, people["alice"], hrTools(f)), people["alice"].Person, nil, "list all employees").messages
	f.Fuzz(func(t *testing.T, question string) {
		if utf8.RuneCountInString(question) > agent.MaxQuestion {
			return
		}
		for _, before := range [][]agent.Message{nil, listed} {
			base.Messages = append(slices.Clone(before), agent.TextMessage(agent.User, question))
			text, calls := m.think(t.Context(), base)
			if text == "" && len(calls) == 0 {
				t.Fatalf("%q: neither words nor calls", question)
			}
			again, _ := m.think(t.Context(), base)
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
		}
	})
}

func ordersDeletion(question string) bool {
	low := strings.ToLower(question)
	return slices.ContainsFunc([]string{"delete", "remove", "terminate", "fire", "dismiss", "erase", "sack", "offboard", "discharge"}, func(v string) bool { return strings.Contains(low, v) })
}

// TestBracketsAreReadQuickly: a question of whatever a reader may have to look at again and
// again takes twice the work at most when it is twice as long, is bounded at the greatest
// length, and asks for nothing. Work is counted in allocations, which are the same on a busy machine.
func TestBracketsAreReadQuickly(t *testing.T) {
	testkit.Alone(t)
	tools := hrTools(t)
	for _, piece := range []string{"[(", `"`, "a ", "and ", "5% ", "x's ", "not all but ", "1,", "Alice Chen, ", "employees of Acme and ", "who is in ", "ä\u0301", "?!", "-", "2026-01-01 ", "all of the employees in "} {
		work := func(length int) float64 {
			text := string([]rune(strings.Repeat(piece, length))[:length])
			return testing.AllocsPerRun(1, func() {
				if s := ask(t, newFakeHR(t, people["alice"], tools), people["alice"].Person, nil, text); len(s.pendings) > 0 {
					t.Errorf("%q: %v", piece, s.calls)
				}
			})
		}
		half, whole := work(agent.MaxQuestion/2), work(agent.MaxQuestion)
		if whole > 2.2*half || whole > 2_000_000 {
			t.Errorf("%q: %.0f allocations for %d characters and %.0f for twice as many", piece, half, agent.MaxQuestion/2, whole)
		}
	}
}

// A round's own cost beside the person's patience: the bar is 5 ms.
func BenchmarkRound(b *testing.B) {
	m, r := New(), requestOf(b, people["nina"], "Who on my team has performance reviews due?")
	for b.Loop() {
		m.think(b.Context(), r)
	}
}
