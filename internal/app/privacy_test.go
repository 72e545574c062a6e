package app

import (
	"encoding/json"
	"strings"
	"testing"

	"countersign.dev/internal/result"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/testkit/conformance"
	"countersign.dev/internal/testkit/oracle"
)

// TestRandomCallsShowOnlyWhatTheCallerMaySee calls every tool of every server at
// random, with all combinations of roles, and searches for rows, pay, numbers,
// addresses and comments that the caller may not see, in answers, previews,
// errors, the audit and the log.
func TestRandomCallsShowOnlyWhatTheCallerMaySee(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	const questions, least = 10_000, 3
	w := newHarness(t)
	o, d, met := oracle.New(w.company), newGenerator(t, w, 7), tally{}
	for i := range questions {
		who := d.asker()
		tool, in := d.question(who)
		out := w.call(t, who.Principal(), tool.server, tool.name, in)
		answer := string(w.runners[tool.server].Encode(out))
		own := string(w.runners[tool.server].Encode(conformance.WithoutSubject(out)))
		if err := o.Check(who, tool.server, own); err != nil {
			t.Fatalf("question %d: %s (%v) asks %s %v: the answer %v:\n%s", i, who.Email, who.Roles, tool.name, in, err, answer)
		}
		met.add(tool.name, out, answer)
		if out.Page() != nil && out.Page().Next != "" && len(d.cursors) < 200 {
			d.cursors = append(d.cursors, out.Page().Next)
		}
	}
	met.checkCoverage(t, d, least)
	events, err := json.Marshal(w.events.Events())
	if err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string]string{"the audit": string(events), "the log": w.log.String()} {
		if err := o.CheckLog(text); err != nil {
			t.Errorf("%s %v", what, err)
		}
	}
}

// tally counts outcomes: a test in which every call is refused proves nothing.
type tally map[string]int

func (y tally) add(tool string, o result.Outcome, answer string) {
	y[o.Code()]++
	if o.Fault() == nil && o.Rows() > 0 || o.Pending() != nil {
		y[tool]++
	}
	if strings.Contains(answer, "***") {
		y["masked"]++
	}
}

// checkCoverage wants every tool to have answered, and every usual outcome to have
// come, so many times.
func (y tally) checkCoverage(t *testing.T, d *generator, least int) {
	t.Helper()
	t.Logf("met %v", y)
	wanted := []string{"masked", "success", "pending_confirmation", "INSUFFICIENT_PERMISSIONS", "INVALID_CURSOR", "EMPLOYEE_NOT_FOUND", "CUSTOMER_NOT_FOUND"}
	for _, tool := range d.tools {
		wanted = append(wanted, tool.name)
	}
	for _, what := range wanted {
		if y[what] < least {
			t.Errorf("%s was met %d times only", what, y[what])
		}
	}
	for _, code := range []string{"INTERNAL_ERROR", "DATABASE_ERROR", "VALIDATION_ERROR"} {
		if y[code] > 0 {
			t.Errorf("%s was met %d times", code, y[code])
		}
	}
}
