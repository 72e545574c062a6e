package company

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign.dev/internal/testkit"
)

func TestOpenDealsCloseWithinTheMonthAtDifferentValues(t *testing.T) {
	testkit.Alone(t)
	for d := time.Date(2025, 12, 1, 23, 0, 0, 0, time.UTC); d.Year() < 2028; d = d.AddDate(0, 0, 1) {
		open, values := 0, map[int64]bool{}
		for deal := range At(d).Sales().Deals {
			thisMonth := deal.ExpectedClose.Month() == d.Month() && deal.ExpectedClose.Year() == d.Year()
			later := deal.Name == "TechStart Training" || deal.Name == "RetailMax Warehouse" // in the next one
			if next := d.AddDate(0, 0, 1-d.Day()).AddDate(0, 1, 0); later && (deal.ExpectedClose.Month() != next.Month() || deal.ExpectedClose.Year() != next.Year()) {
				t.Fatalf("on %s %s is expected on %s", d, deal.Name, deal.ExpectedClose)
			}
			if closed := strings.HasPrefix(deal.Stage, "CLOSED_"); (closed || later) == thisMonth {
				t.Fatalf("on %s %s (%s) is expected on %s", d, deal.Name, deal.Stage, deal.ExpectedClose)
			}
			if !deal.ActualClose.IsZero() {
				if deal.ActualClose.After(d) {
					t.Fatalf("on %s %s was closed in the future", d, deal.Name)
				}
				continue
			}
			if deal.ExpectedClose.Before(dayOf(d)) || values[deal.Value] {
				t.Fatalf("on %s %s is overdue or repeats a value", d, deal.Name)
			}
			open++
			values[deal.Value] = true
		}
		if open != 9 {
			t.Fatalf("on %s %d deals are open, want 9", d, open)
		}
	}
}

func TestSomethingWasWonInEveryQuarter(t *testing.T) {
	for month := time.January; month <= time.December; month++ {
		d := time.Date(2026, month, 1, 0, 0, 0, 0, time.UTC)
		var won int64
		for deal := range At(d).Sales().Deals {
			if deal.Stage == "CLOSED_WON" && deal.ActualClose.Year() == 2026 && (deal.ActualClose.Month()-1)/3 == (month-1)/3 {
				won += deal.Value
			}
		}
		if won < 275_000 {
			t.Errorf("in %s only %d was won this quarter", month, won)
		}
	}
}

func TestDealOwnersAndTheirChains(t *testing.T) {
	got := map[string][]string{}
	for d := range At(day).Sales().Deals {
		got[d.Owner] = append(got[d.Owner], d.Name)
		want := map[string][]string{
			carol: {"eve@tamshai.local"},
			ryan:  {"carol@tamshai.local", "eve@tamshai.local"},
		}[d.Owner]
		if want == nil {
			want = []string{"ryan.garcia@tamshai.local", "carol@tamshai.local", "eve@tamshai.local"}
		}
		if diff := cmp.Diff(want, d.OwnerChain); diff != "" {
			t.Errorf("%s, chain (-want +got):\n%s", d.Name, diff)
		}
	}
	want := map[string][]string{
		amandaWhite: {"TechStart Growth", "HealthCare Pilot", "TechStart Upgrade", "TechStart Premium", "HealthCare Scheduling", "HealthCare Archive"},
		ryan:        {"Acme Renewal", "Manufacturing Starter", "Acme Analytics", "RetailMax Kiosks", "TechStart Training"},
		chris:       {"GFP Security", "RetailMax Integration", "RetailMax Warehouse"},
		carol:       {"Acme Enterprise", "GFP Expansion", "RetailMax Transformation", "RetailMax Loyalty"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("deals by owner (-want +got):\n%s", diff)
	}
}

func TestTheSixthCustomerHasOneDeal(t *testing.T) {
	s := At(day).Sales()
	byCustomer := map[string][]string{}
	for d := range s.Deals {
		byCustomer[d.CustomerID] = append(byCustomer[d.CustomerID], d.Name)
	}
	revenues := map[string]int64{}
	id := regexp.MustCompile(`^[0-9a-f]{24}$`)
	for c := range s.Customers {
		revenues[c.Company] = c.Revenue
		if !id.MatchString(c.ID) || !strings.HasSuffix(c.Email, ".example") || len(c.OwnerChain) == 0 {
			t.Errorf("%s: id %q, e-mail %q, chain %v", c.Company, c.ID, c.Email, c.OwnerChain)
		}
	}
	want := map[string]int64{"Acme Corporation": 500e6, "TechStart Inc": 25e6, "Global Finance Partners": 1_200e6, "HealthCare Plus": 75e6, "RetailMax": 850e6, "Ironbridge Manufacturing": 18e6}
	if diff := cmp.Diff(want, revenues); diff != "" {
		t.Errorf("revenues (-want +got):\n%s", diff)
	}
	if got := byCustomer[ironBridge]; !slices.Equal(got, []string{"Manufacturing Starter"}) {
		t.Errorf("the sixth customer has %v", got)
	}
}

func TestTheTeamsQuotaIsTwoAndAHalfMillion(t *testing.T) {
	sums := map[string]int64{}
	for _, q := range At(day).Sales().Quotas {
		sums[q.Quarter] += q.Amount
	}
	if len(sums) != 8 || sums["2026-Q1"] != 2_500_000 || sums["2027-Q1"] != 2_500_000 {
		t.Errorf("got %v", sums)
	}
}

func TestScaledSalesIsTheSameEveryTime(t *testing.T) {
	a, b := ScaledSales(500, day), ScaledSales(500, day)
	first, second := slices.Collect(a.Deals), slices.Collect(b.Deals)
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("two runs differ:\n%s", diff)
	}
	customers := map[string]bool{}
	for c := range a.Customers {
		customers[c.ID] = true
	}
	seen := map[string]bool{}
	for _, d := range first {
		if seen[d.ID] || !customers[d.CustomerID] || len(d.ID) != 24 {
			t.Fatalf("deal %s repeats, or has no customer", d.ID)
		}
		seen[d.ID] = true
	}
}
