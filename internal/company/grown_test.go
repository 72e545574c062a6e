package company_test

import (
	"testing"
	"time"

	"countersign.dev/internal/company"
)

func TestGrownCompanyHasItsScale(t *testing.T) {
	c := company.Grown(0.001, time.Now())
	counts := map[string]int{"employees": len(c.Employees)}
	for range c.Finance().Invoices {
		counts["invoices"]++
	}
	for range c.Sales().Deals {
		counts["deals"]++
	}
	for range c.Support().Tickets {
		counts["tickets"]++
	}
	for what, want := range map[string]int{"employees": 200, "invoices": 1000, "deals": 1000, "tickets": 1000} {
		if counts[what] != want {
			t.Errorf("%d %s, want %d", counts[what], what, want)
		}
	}
}
