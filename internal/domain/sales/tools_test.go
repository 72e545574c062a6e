package sales_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign.dev/internal/domain/sales"
	"countersign.dev/internal/testkit/conformance"
	"countersign.dev/internal/testkit/domaintest"
)

// office is the domain as the kernel runs it, with the sample company.
type office struct {
	*domaintest.Harness
	store sales.Store
}

// onBothStores runs a test on each store with the sample company.
func onBothStores(t *testing.T, test func(t *testing.T, o *office)) {
	t.Helper()
	onEveryEngine(t, func(t *testing.T, s *conformance.Store) {
		test(t, &office{domaintest.Open(t, "sales", s), engineOf(s).store})
	})
}

func TestTopFiveDealsClosingThisMonth(t *testing.T) {
	onBothStores(t, func(t *testing.T, o *office) {
		out := o.CallAs("carol.johnson", "list_deals", `{"sort":"value_desc","closing_from":"2026-08-01","closing_to":"2026-08-31","limit":5}`)
		var got []string
		for _, d := range domaintest.Decode[[]sales.Deal](t, out) {
			got = append(got, d.DealName)
		}
		want := []string{"RetailMax Transformation", "GFP Expansion", "RetailMax Integration", "HealthCare Pilot", "TechStart Growth"}
		if diff := cmp.Diff(want, got); diff != "" || !out.Page().More {
			t.Errorf("more: %v (-want +got):\n%s", out.Page().More, diff)
		}
		next := o.CallAs("carol.johnson", "list_deals", `{"sort":"value_desc","closing_from":"2026-08-01","closing_to":"2026-08-31","limit":5,"cursor":"`+out.Page().Next+`"}`)
		if last := domaintest.Decode[[]sales.Deal](t, next); len(last) != 1 || last[0].DealName != "Manufacturing Starter" {
			t.Errorf("page 2: %+v", last)
		}
		if stolen := o.CallAs("ryan.garcia", "list_deals", `{"sort":"value_desc","closing_from":"2026-08-01","closing_to":"2026-08-31","limit":5,"cursor":"`+out.Page().Next+`"}`); stolen.Code() != "INVALID_CURSOR" {
			t.Errorf("Carol's cursor in Ryan's hands: %s", stolen.Code())
		}
	})
}

func TestPipelineOfThisQuarterByPerson(t *testing.T) {
	onBothStores(t, func(t *testing.T, o *office) {
		type sums struct {
			Total, Weighted, Won, Target float64
			Percent                      int
			Scope                        string
		}
		for username, want := range map[string]sums{
			"carol.johnson": {2_475_000, 1_395_000, 275_000, 2_500_000, 11, "all deals of the company"},
			"eve.thompson":  {2_475_000, 1_395_000, 275_000, 2_500_000, 11, "all deals of the company"},
			"ryan.garcia":   {525_000, 315_000, 275_000, 1_750_000, 16, "deals of ryan.garcia@tamshai.local and the people who report to them"},
			"amanda.white":  {210_000, 76_000, 0, 625_000, 0, "deals of amanda.white@tamshai.local and the people who report to them"},
		} {
			p := domaintest.Decode[sales.Pipeline](t, o.CallAs(username, "get_pipeline", `{}`))
			got := sums{p.TotalPipeline, p.WeightedPipeline, p.ClosedWon, p.Target, p.AttainmentPercent, p.Scope}
			if diff := cmp.Diff(want, got); diff != "" || p.Quarter != "2026-Q3" {
				t.Errorf("%s, %s (-want +got):\n%s", username, p.Quarter, diff)
			}
		}
		p := domaintest.Decode[sales.Pipeline](t, o.CallAs("carol.johnson", "get_pipeline", `{"quarter":"Q2 2026"}`))
		if p.Quarter != "2026-Q2" || p.ClosedWon != 575_000 || p.TotalPipeline != 0 {
			t.Errorf("the quarter before: %+v", p)
		}
	})
}
