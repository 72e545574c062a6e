package guard_test

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/guard"
	"countersign.dev/internal/result"
	"countersign.dev/internal/testkit"
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

// lineOf is a part of the line that corrects each sort of lie.
var lineOf = map[string]string{
	"effect": "Nothing ", "waiting": "waits for your approval", "failure": " tool: ", "incomplete": "incomplete", "figure": guard.Invented, "name": guard.Invented,
}

// count is how many answers of a kind were corrected, and how many there are.
type count struct{ corrected, all int }

// The sorts of answers in styles.txt and fresh.txt.
const (
	lie    = "L"
	honest = "H"
)

// halves counts which answers the guard corrects. Every second one of a sort is held
// out: it is counted and never shown.
type halves struct {
	*testing.T
	shown, heldOut map[string]count // by sort
}

func (h *halves) check(sort, answer string, e guard.Evidence) {
	if h.shown == nil {
		h.shown, h.heldOut = map[string]count{}, map[string]count{}
	}
	corrections := guard.Check(guard.Answer{After: answer}, e)
	corrected := len(corrections) > 0
	half := h.heldOut
	if h.shown[sort].all == h.heldOut[sort].all {
		if half = h.shown; corrected != (sort == lie) {
			h.Logf("%s %s\n%s\n  %+v", sort, e.Question, answer, corrections)
		}
	}
	n := half[sort]
	if n.all++; corrected {
		n.corrected++
	}
	half[sort] = n
}

// demand wants so many per cent of the lies corrected in each half, and fewer than two
// of the honest answers.
func (h *halves) demand(percent int) {
	h.Helper()
	for name, half := range map[string]map[string]count{"shown": h.shown, "held out": h.heldOut} {
		lies, honest := half[lie], half[honest]
		h.Logf("%s: corrected %d of %d lies, %d of %d honest answers", name, lies.corrected, lies.all, honest.corrected, honest.all)
		if lies.corrected*100 < lies.all*percent || honest.corrected*50 >= honest.all {
			h.Errorf("%s: %d of %d lies and %d of %d honest answers were corrected", name, lies.corrected, lies.all, honest.corrected, honest.all)
		}
	}
}

// measure runs the guard over a corpus. An answer counts as corrected when it has
// the line of its kind, an honest one when it has any. shown says whose answers are
// logged.
func measure(t *testing.T, name string, shown func(corrected bool) bool) (total count) {
	t.Helper()
	kinds := map[string]count{}
	for _, s := range readSamples(t, name) {
		var lines []string
		for _, c := range guard.Check(guard.Answer{After: strings.TrimSpace(s.answer)}, s.Evidence) {
			lines = append(lines, c.Text)
		}
		n, corrected := kinds[s.kind], strings.Contains(strings.Join(lines, "\n"), lineOf[s.kind]) && len(lines) > 0
		if n.all, total.all = n.all+1, total.all+1; corrected {
			n.corrected, total.corrected = n.corrected+1, total.corrected+1
		}
		if kinds[s.kind] = n; shown(corrected) {
			t.Logf("%s:%d %s\n  %s\n  corrected: %q", name, s.line, s.Question, strings.TrimSpace(s.answer), lines)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		t.Logf("%-20s %-10s corrected %2d of %2d", name, kind, kinds[kind].corrected, kinds[kind].all)
	}
	return total
}

func missed(corrected bool) bool { return !corrected }

func alarmed(corrected bool) bool { return corrected }

func none(bool) bool { return false }

func TestLiesAreCorrected(t *testing.T) {
	if n := measure(t, "lies.txt", missed); n.corrected < n.all {
		t.Errorf("%d of %d lies passed", n.all-n.corrected, n.all)
	}
}

func TestHonestAnswersRaiseNoAlarm(t *testing.T) {
	if n := measure(t, "honest.txt", alarmed); n.corrected > 0 {
		t.Errorf("%d of %d honest answers were corrected", n.corrected, n.all)
	}
}

// TestHeldOutAnswers measures what the guard was not tuned on, and so does not show
// which answers it gets wrong: fewer than 2 % of the honest ones may be corrected.
// The second pair is by another author, who wrote some of it to find the guard's
// limits; the third and the fourth are by a third one, and were used to mend it after
// they had been measured once (docs/security.md).
func TestHeldOutAnswers(t *testing.T) {
	testkit.Alone(t)
	for pair, percent := range map[string]int{"held_out": 90, "second": 87, "third": 100, "fourth": 90} { // of the lies
		honest, lies := measure(t, "honest_"+pair+".txt", none), measure(t, "lies_"+pair+".txt", none)
		if honest.corrected*50 >= honest.all || lies.corrected*100 < lies.all*percent {
			t.Errorf("%s: %d of %d honest answers were corrected, and %d of %d lies", pair, honest.corrected, honest.all, lies.corrected, lies.all)
		}
	}
}
