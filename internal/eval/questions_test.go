package eval

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const sample = `
- as: eve.williams
  ask: our {quarter} budget?
  calls: [{tool: [list_budgets, get_budget], args: {fiscal_year: "{year}", quarter: ["{quarter}", all]}}]
  rows: [Marketing]
  then:
    - ask: delete it
      expect: change
      calls: [{tool: delete_invoice}]
- ask: and the weather?
  expect: decline
`

func TestQuestionsAreRead(t *testing.T) {
	t.Parallel()
	set, err := parse("mine.yaml", []byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	if set.Name != "mine" || len(set.Conversations) != 2 || len(set.Conversations[0].Turns) != 2 {
		t.Fatalf("got %+v", set)
	}
	first := set.Conversations[0]
	if first.As != "eve.williams" || first.Turns[0].Expect != Answer || first.Turns[1].Expect != Change {
		t.Errorf("got %+v", first)
	}
	q := first.Turns[0].on(time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC))
	if q.Ask != "our Q4 budget?" || q.Calls[0].Args["fiscal_year"] != "2026" || q.Calls[0].Args["quarter"].([]any)[0] != "Q4" {
		t.Errorf("on a day: %+v", q)
	}
	if first.Turns[0].Ask != "our {quarter} budget?" {
		t.Error("the set itself was changed")
	}
}

func TestFaultyQuestionsAreRejected(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"", "has no questions"},
		{"- ask: a\n  says: [b]\n  tools: [c]", "line 3"},
		{"- ask: ' '\n  says: [b]", "ask is empty"},
		{"- ask: " + strings.Repeat("a", maxAsk+1), "2048"},
		{"- ask: a", "nothing says what a right answer rests on"},
		{"- ask: a\n  expect: maybe", `expect is "maybe"`},
		{"- ask: a\n  expect: change", "a change needs the call"},
		{"- ask: a\n  says: ['']", "an empty text"},
		{"- ask: a\n  calls: [{args: {a: 1}}]", "names no tool"},
		{"- ask: on {someday}\n  says: [b]", "no placeholder {someday}"},
	} {
		if _, err := parse("f.yaml", []byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "f.yaml") {
			t.Errorf("%.60q: got %v, want %q", c.text, err, c.want)
		}
	}
}

func TestFileOfQuestions(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "own.yaml")
	if err := os.WriteFile(name, []byte(sample), 0o600); err != nil {
		t.Fatal(err)
	}
	if sets, err := Sets(name); err != nil || len(sets) != 1 || sets[0].Name != "own" {
		t.Errorf("got %+v, %v", sets, err)
	}
	if _, err := Sets(filepath.Join(t.TempDir(), "none.yaml")); err == nil {
		t.Error("a file that does not exist was read")
	}
	if err := os.WriteFile(name, []byte("# "+strings.Repeat("a", maxBytes)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Sets(name); err == nil || !strings.Contains(err.Error(), "bytes") {
		t.Errorf("an oversized file: %v", err)
	}
}

// Our own questions are two halves that share no question.
func TestOwnQuestions(t *testing.T) {
	t.Parallel()
	sets, err := Sets("")
	if err != nil {
		t.Fatal(err)
	}
	if len(sets) != 2 || sets[0].Name != "tuned" || sets[1].Name != "held_out" {
		t.Fatalf("got %d sets, the first is %s", len(sets), sets[0].Name)
	}
	seen := map[string]string{}
	for _, set := range sets {
		for _, c := range set.Conversations {
			first := c.As + ": " + strings.ToLower(c.Turns[0].Ask)
			if seen[first] != "" {
				t.Errorf("%s is in %s and in %s", first, seen[first], set.Name)
			}
			seen[first] = set.Name
		}
	}
}

// The placeholders at the seams of the calendar.
func TestDates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		day  string
		want map[string]string
	}{
		{"2026-01-31", map[string]string{"quarter": "Q1", "last_quarter": "Q4", "last_quarter_year": "Q4 2025", "tomorrow": "2026-02-01", "month_last": "2026-01-31", "last_month_first": "2025-12-01", "last_month_last": "2025-12-31"}},
		{"2024-02-29", map[string]string{"month_last": "2024-02-29", "next_month_first": "2024-03-01", "quarter_last": "2024-03-31", "last_year": "2023"}},
		{"2026-12-31", map[string]string{"quarter_year": "Q4 2026", "quarter_first": "2026-10-01", "next_year": "2027", "year_last": "2026-12-31", "next_month_first": "2027-01-01"}},
	} {
		day, err := time.Parse(time.DateOnly, c.day)
		if err != nil {
			t.Fatal(err)
		}
		dates := datesOn(day)
		for name, want := range c.want {
			if dates[name] != want {
				t.Errorf("%s on %s: got %s, want %s", name, c.day, dates[name], want)
			}
		}
	}
}

func FuzzQuestions(f *testing.F) {
	f.Add([]byte(sample))
	f.Add([]byte("- &a {ask: x, then: [*a]}"))
	f.Add([]byte("- ask: a\n  calls: [{tool: {}, args: [1]}]"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		set, err := parse("f.yaml", raw)
		if err != nil {
			return
		}
		for _, c := range set.Conversations {
			for _, q := range c.Turns {
				if q.on(time.Unix(0, 0).UTC()); q.Expect == "" || strings.TrimSpace(q.Ask) == "" {
					t.Errorf("%q was accepted as %+v", raw, q)
				}
			}
		}
	})
}
