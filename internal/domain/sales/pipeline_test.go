package sales

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign.dev/internal/fault"
)

func TestQuarterIsReadInBothSpellings(t *testing.T) {
	for text, want := range map[string]string{"Q1 2026": "2026-Q1", "2026-Q4": "2026-Q4", "q3 1900": "1900-Q3", "9999-q2": "9999-Q2"} {
		got, err := parseQuarter(text)
		if err != nil || got.String() != want {
			t.Errorf("%q: got %s, %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "Q5 2026", "2026", "2026Q1", "Q1  2026", "Q1 2026\n", "Q1 ２０２６", "Q3 0001", "Q4 1899"} {
		if _, err := parseQuarter(text); !fault.Is(err, fault.InvalidInput) {
			t.Errorf("%q: got %v, want INVALID_INPUT", text, err)
		}
	}
}

func TestQuarterOfADay(t *testing.T) {
	last := time.Date(2026, 12, 31, 23, 30, 0, 0, time.FixedZone("west", -3600)) // already January in UTC
	q := QuarterOf(last)
	if q.String() != "2027-Q1" || q.From().Format(time.DateOnly) != "2027-01-01" || q.Until().Format(time.DateOnly) != "2027-04-01" {
		t.Errorf("got %s from %s until %s", q, q.From(), q.Until())
	}
}

func FuzzQuarter(f *testing.F) {
	f.Add("Q1 2026")
	f.Add("2026-Q1")
	f.Fuzz(func(t *testing.T, text string) {
		q, err := parseQuarter(text)
		if err != nil {
			return
		}
		again, err := parseQuarter(q.String())
		if err != nil || again != q || !q.From().Before(q.Until()) || !strings.Contains(text, q.String()[:4]) {
			t.Errorf("%q became %s, then %s, %v", text, q, again, err)
		}
	})
}

func TestSummaryAddsUp(t *testing.T) {
	sums := Sums{Target: 1000, Stages: map[string]StageSum{
		"PROPOSAL": {2, 100.10, 60.06}, "NEGOTIATION": {1, 200.20, 160.16}, StageWon: {1, 666, 666}, StageLost: {3, 900, 0},
	}}
	got := summary(sums, QuarterOf(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)), Scope{email: "ann@example.org"})
	want := Pipeline{
		Quarter: "2026-Q1", TotalPipeline: 300.30, WeightedPipeline: 220.22, ClosedWon: 666, Target: 1000, AttainmentPercent: 67,
		Scope: "deals of ann@example.org and the people who report to them",
		Stages: []PipelineStage{{"PROSPECTING", 0, 0}, {"DISCOVERY", 0, 0}, {"QUALIFICATION", 0, 0}, {"PROPOSAL", 2, 100.10}, {"NEGOTIATION", 1, 200.20},
			{StageWon, 1, 666}, {StageLost, 3, 900}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	sums.Others = 2
	if got := summary(sums, QuarterOf(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)), Scope{email: "ann@example.org"}); got.OtherCurrencies != 2 ||
		got.Scope != want.Scope+", without 2 in other currencies" {
		t.Errorf("with deals in other currencies: %+v", got)
	}
	if got := summary(Sums{}, QuarterOf(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)), Scope{}); got.AttainmentPercent != 0 || len(got.Stages) != 7 {
		t.Errorf("without deals and quota: %+v", got)
	}
}
