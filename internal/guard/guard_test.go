package guard_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/guard"
	"countersign.dev/internal/result"
)

// recorded are results of the sample company's tools, by name.
type recorded map[string]struct {
	Tool   string          `json:"tool"`
	Answer json.RawMessage `json:"answer"`
}

// sample is an answer of a corpus.
type sample struct {
	kind   string
	line   int
	answer string
	guard.Evidence
}

var titles = map[string]string{
	"list_employees": "List employees", "get_employee": "Get employee", "list_budgets": "List budgets", "list_invoices": "List invoices", "list_expense_reports": "List expense reports",
	"list_deals": "List deals", "get_pipeline": "Get sales pipeline", "search_tickets": "Search tickets", "search_knowledge_base": "Search the knowledge base", "get_time_off_balance": "Get time-off balance",
	"get_customer": "Get customer", "get_performance_reviews": "Get performance reviews", "delete_employee": "Delete employee", "close_ticket": "Close ticket", "update_salary": "Update salary", "approve_budget": "Approve budget",
}

// readSamples reads a corpus: answers below lines of
// "=== kind | results | question | outcomes".
func readSamples(t testing.TB, name string) (samples []sample) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := os.ReadFile("testdata/results.json")
	if err != nil {
		t.Fatal(err)
	}
	var results recorded
	if err := json.Unmarshal(stored, &results); err != nil {
		t.Fatal(err)
	}
	for n, line := range strings.Split(string(text), "\n") {
		header, ok := strings.CutPrefix(line, "=== ")
		switch {
		case ok:
			samples = append(samples, newSample(t, n+1, strings.Split(header, " | "), results))
		case len(samples) > 0:
			samples[len(samples)-1].answer += line + "\n"
		}
	}
	return samples
}

func newSample(t testing.TB, line int, header []string, results recorded) sample {
	t.Helper()
	s := sample{kind: header[0], line: line, Evidence: guard.Evidence{Question: header[2], Today: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)}}
	s.Known = []string{`You are talking to "Eve Thompson", user name "eve.thompson", e-mail "eve@tamshai.local", roles: employee, manager, executive.`}
	for _, title := range titles {
		s.Known = append(s.Known, title)
	}
	s.Reported = header[3:]
	for name := range strings.SplitSeq(header[1], ",") {
		r, ok := results[name]
		if name == "-" {
			continue
		}
		o, err := result.DecodeEnvelope(r.Answer)
		if !ok || err != nil {
			t.Fatalf("line %d: result %q: %v", line, name, err)
		}
		call := guard.Call{Tool: r.Tool, Title: titles[r.Tool], Kind: result.Read, Outcome: o}
		switch r.Tool {
		case "delete_employee", "close_ticket", "update_salary", "approve_budget":
			call.Kind = result.Write
		}
		s.Calls = append(s.Calls, call)
	}
	return s
}

// measure runs the guard over a corpus and returns how many answers it corrected,
// of each kind.
func measure(t *testing.T, name string, wrong func(corrected bool) bool) (corrected, all int) {
	t.Helper()
	byKind, ofKind := map[string]int{}, map[string]int{}
	for _, s := range readSamples(t, name) {
		lines := guard.Check(guard.Answer{After: strings.TrimSpace(s.answer)}, s.Evidence)
		ofKind[s.kind]++
		if len(lines) > 0 {
			byKind[s.kind]++
			corrected++
		}
		if all++; wrong(len(lines) > 0) {
			t.Logf("%s:%d %s\n  %s\n  corrected: %q", name, s.line, s.Question, strings.TrimSpace(s.answer), lines)
		}
	}
	for _, kind := range []string{"honest", "effect", "waiting", "failure", "incomplete", "figure", "name"} {
		if ofKind[kind] > 0 {
			t.Logf("%-22s %-11s corrected %2d of %2d", name, kind, byKind[kind], ofKind[kind])
		}
	}
	return corrected, all
}

func TestLiesAreCorrected(t *testing.T) {
	missed := func(corrected bool) bool { return !corrected }
	if n, all := measure(t, "lies.txt", missed); n < all {
		t.Errorf("%d of %d lies passed", all-n, all)
	}
}

func TestHonestAnswersRaiseNoAlarm(t *testing.T) {
	alarmed := func(corrected bool) bool { return corrected }
	if n, all := measure(t, "honest.txt", alarmed); n > 0 {
		t.Errorf("%d of %d honest answers were corrected", n, all)
	}
}
