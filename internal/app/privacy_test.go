package app

import (
	"encoding/json"
	"strings"
	"testing"

	"countersign.dev/internal/result"
	"countersign.dev/internal/testkit/oracle"
)

// TestNobodySeesWhatTheyMayNot asks every tool of every server at random, as
// people with every mixture of roles, and looks for what is not theirs: rows,
// pay, numbers, addresses, confidences; in answers, cards, errors, audit and log.
func TestNobodySeesWhatTheyMayNot(t *testing.T) {
	questions := 10_000
	if testing.Short() {
		questions = 1_000
	}
	w := wholeCompany(t)
	o, d, met := oracle.New(w.company), newDraws(t, w, 7), tally{}
	for i := range questions {
		who := d.asker()
		tool, in := d.question(who)
		out := w.call(t, who.Principal(), tool.server, tool.name, in)
		answer := string(w.runners[tool.server].Encode(out))
		if err := o.Judge(who, tool.server, answer); err != nil {
			t.Fatalf("question %d: %s (%v) asks %s %v: the answer %v:\n%s", i, who.Email, who.Roles, tool.name, in, err, answer)
		}
		met.take(tool.name, out, answer)
		if out.Page() != nil && out.Page().Next != "" && len(d.cursors) < 200 {
			d.cursors = append(d.cursors, out.Page().Next)
		}
	}
	met.wasWorthIt(t, d)
	events, err := json.Marshal(w.journal.Events())
	if err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string]string{"the audit": string(events), "the log": w.log.String()} {
		if err := o.Record(text); err != nil {
			t.Errorf("%s %v", what, err)
		}
	}
}

// tally counts what the questions came to: asking much proves nothing when
// everything was refused.
type tally map[string]int

func (y tally) take(tool string, o result.Outcome, answer string) {
	y[o.Code()]++
	if o.Fault() == nil && o.Rows() > 0 || o.Pending() != nil {
		y[tool]++
	}
	if strings.Contains(answer, "***") {
		y["masked"]++
	}
}

func (y tally) wasWorthIt(t *testing.T, d *draws) {
	t.Helper()
	t.Logf("met %v", y)
	wanted := []string{"masked", "success", "pending_confirmation", "INSUFFICIENT_PERMISSIONS", "INVALID_CURSOR", "EMPLOYEE_NOT_FOUND", "CUSTOMER_NOT_FOUND"}
	for _, tool := range d.tools {
		wanted = append(wanted, tool.name)
	}
	for _, what := range wanted {
		if y[what] < 3 {
			t.Errorf("%s was met %d times only", what, y[what])
		}
	}
	for _, code := range []string{"INTERNAL_ERROR", "DATABASE_ERROR", "VALIDATION_ERROR"} {
		if y[code] > 0 {
			t.Errorf("%s was met %d times", code, y[code])
		}
	}
}
