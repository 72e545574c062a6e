package company

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestInvoicesByStatusAndDueDate(t *testing.T) {
	for d := time.Date(2026, 1, 1, 23, 0, 0, 0, time.UTC); d.Year() < 2028; d = d.AddDate(0, 0, 1) {
		today, byStatus, dueThisMonth := dayOf(d), map[string]int{}, 0
		for _, i := range (&Company{Day: today}).invoices() {
			byStatus[i.Status]++
			if i.Due.Year() == d.Year() && i.Due.Month() == d.Month() {
				dueThisMonth++
			}
			left := int(i.Due.Sub(today).Hours() / 24)
			if i.Date.After(today) || i.Due.Before(i.Date) {
				t.Fatalf("on %s %s is dated %s and due %s", d, i.Number, i.Date, i.Due)
			}
			if overdue := i.Number == "INV-2025-008" || i.Number == "INV-2025-013"; i.Unpaid() && overdue != (left < 0) || i.Unpaid() && !overdue && (left < 5 || left > 60) {
				t.Fatalf("on %s %s is due in %d days", d, i.Number, left)
			}
		}
		if diff := cmp.Diff(map[string]int{"pending": 8, "approved": 3, "paid": 3, "rejected": 2}, byStatus); diff != "" {
			t.Fatalf("on %s (-want +got):\n%s", d, diff)
		}
		if dueThisMonth < 2 {
			t.Fatalf("on %s %d invoices are due in its month", d, dueThisMonth)
		}
	}
}

func TestInvoicesAsListed(t *testing.T) {
	f := At(day).Finance()
	names, ids := map[string]string{}, map[string]bool{}
	for v := range f.Vendors {
		names[v.ID] = v.Name
	}
	var got []string
	for i := range f.Invoices {
		got = append(got, fmt.Sprintf("%s %s %d %s %s", i.Number, names[i.VendorID], i.Cents/100, i.Status, i.Department))
		ids[i.ID] = true
		if signed := i.ApprovedBy != ""; signed == (i.Status == "pending" || i.Status == "rejected") {
			t.Errorf("%s is %s, approved by %q", i.Number, i.Status, i.ApprovedBy)
		}
	}
	want := []string{
		"INV-001 Test Vendor 5000 pending ENG", "INV-2025-001 AWS 45000 paid IT", "INV-2025-002 Salesforce 28500 paid SALES",
		"INV-2025-003 WeWork 35000 approved OPS", "INV-2025-004 Google Cloud 22000 pending ENG", "INV-2025-005 HubSpot 15000 approved MKT",
		"INV-2025-006 Workday 85000 paid HR", "INV-2025-007 Legal Associates 12500 pending LEGAL", "INV-2025-008 DataCenter 8500 pending IT",
		"INV-2025-009 CloudFlare 3200 pending ENG", "INV-2025-010 Creative Agency 25000 approved MKT", "INV-2025-011 Office Supplies 4750 pending OPS",
		"INV-2025-012 Tech Equipment 18750 pending IT",
		"INV-2025-013 Northwind Catering 2900 pending OPS", "INV-2025-014 Print House 1650 rejected MKT", "INV-2025-015 Shuttle Service 2240 rejected SALES",
	}
	if diff := cmp.Diff(want, got); diff != "" || len(ids) != 16 {
		t.Errorf("%d ids, rows (-want +got):\n%s", len(ids), diff)
	}
}

func TestBudgetsOfPastYearsAsListed(t *testing.T) {
	got := map[int][]string{}
	for _, b := range At(day).Finance().Budgets {
		if b.FiscalYear < 2026 {
			got[b.FiscalYear] = append(got[b.FiscalYear], fmt.Sprintf("%s %s %d/%d", b.Status, b.Department, b.Allocated()/100_000, b.Spent()/100_000))
		}
	}
	want := map[int][]string{
		2024: {"draft EXEC 500/425", "draft HR 750/680", "draft FIN 450/410", "draft SALES 1200/1050", "draft ENG 2500/2200", "draft MKT 800/720", "draft IT 600/520"},
		2025: {"approved EXEC 525/475", "approved HR 800/720", "approved FIN 480/435", "approved SALES 1350/1200", "approved ENG 2800/2550", "approved MKT 900/820", "approved IT 680/610"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("budgets (-want +got):\n%s", diff)
	}
}

func TestEveryDepartmentHasABudgetForTheYear(t *testing.T) {
	waiting := map[string]string{"MKT": lisa, "FIN": bob}
	seen := map[string]bool{}
	for _, b := range At(day).Finance().Budgets {
		if b.FiscalYear != 2026 {
			continue
		}
		seen[b.Department] = true
		if who, waits := waiting[b.Department]; waits != (b.Status == "draft") || waits && b.SubmittedBy != who || waits != (b.ApprovedBy == "") {
			t.Errorf("%s is %s, submitted by %s, approved by %q", b.Department, b.Status, b.SubmittedBy, b.ApprovedBy)
		}
		if b.ApprovedBy == b.SubmittedBy {
			t.Errorf("%s was approved by its submitter", b.Department)
		}
		if b.Allocated()%100_000 != 0 || b.Quarters[3].Allocated == 0 {
			t.Errorf("%s has %d in all, quarters %v", b.Department, b.Allocated(), b.Quarters)
		}
	}
	if len(seen) != 10 {
		t.Errorf("%d departments have a budget, want 10", len(seen))
	}
}

func TestSpendingFollowsTheCalendar(t *testing.T) {
	spent := func(d time.Time) (quarters [4]bool) {
		for _, b := range At(d).Finance().Budgets {
			for q := range b.Quarters {
				quarters[q] = quarters[q] || b.FiscalYear == 2026 && b.Quarters[q].Spent > 0
			}
		}
		return quarters
	}
	for month, want := range map[time.Month][4]bool{time.February: {true}, time.May: {true, true}, time.November: {true, true, true, true}} {
		if got := spent(time.Date(2026, month, 20, 0, 0, 0, 0, time.UTC)); got != want {
			t.Errorf("in %s money was spent in %v, want %v", month, got, want)
		}
	}
	if later := At(time.Date(2028, 3, 1, 0, 0, 0, 0, time.UTC)).Finance().Budgets; later[len(later)-1].FiscalYear != 2028 {
		t.Error("a company of 2028 has no budget for 2028")
	}
}

func TestExpenseReportsAsListed(t *testing.T) {
	var got []string
	months := map[string]bool{}
	for _, r := range At(day).Finance().Reports {
		got = append(got, fmt.Sprintf("%s %s %.2f %s", r.Number, r.EmployeeName, float64(r.Total())/100, r.Status))
		if months[r.EmployeeID+r.Month] {
			t.Errorf("%s has two reports for %s", r.EmployeeName, r.Month)
		}
		months[r.EmployeeID+r.Month] = true
		for _, i := range r.Items {
			if i.Date.Format("2006-01") != r.Month || i.Date.After(day) {
				t.Errorf("%s has an item of %s", r.Number, i.Date)
			}
		}
	}
	want := []string{
		"EXP-2026-001 Nina Patel 2450.00 approved", "EXP-2026-002 Marcus Johnson 385.50 submitted", "EXP-2026-003 Carol Johnson 875.00 reimbursed",
		"EXP-2026-004 Frank Davis 156.75 draft", "EXP-2026-005 Alice Chen 3200.00 under_review", "EXP-2026-006 Nina Patel 599.00 rejected",
		"EXP-2026-007 Bob Martinez 1200.00 approved", "EXP-2026-008 Eve Thompson 4850.00 submitted",
		"EXP-2026-009 Marcus Johnson 492.00 reimbursed", "EXP-2026-010 Frank Davis 214.80 approved", "EXP-2026-011 Dan Williams 706.00 approved",
		"EXP-2026-012 Carol Johnson 652.00 submitted", "EXP-2026-013 Amanda White 760.00 under_review",
		"EXP-2026-014 Ryan Garcia 448.00 submitted", "EXP-2026-015 Ryan Garcia 834.00 reimbursed", "EXP-2026-016 Alice Chen 210.00 reimbursed",
		"EXP-2026-017 Eve Thompson 721.00 reimbursed", "EXP-2026-018 Dan Williams 564.00 reimbursed", "EXP-2026-019 Bob Martinez 638.00 reimbursed",
		"EXP-2026-020 Amanda White 319.00 reimbursed",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("reports (-want +got):\n%s", diff)
	}
}

func TestScaledFinanceIsTheSameEveryTime(t *testing.T) {
	a, b := ScaledFinance(5000, day), ScaledFinance(5000, day)
	first, second := slices.Collect(a.Invoices), slices.Collect(b.Invoices)
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("two runs differ:\n%s", diff)
	}
	vendors, ids, overdue := map[string]bool{}, map[string]bool{}, 0
	for v := range a.Vendors {
		vendors[v.ID] = true
	}
	for _, i := range first {
		if ids[i.ID] || !vendors[i.VendorID] || i.Date.After(day) || !i.Due.After(i.Date) {
			t.Fatalf("invoice %+v repeats an id, has no vendor, or is from the future", i)
		}
		ids[i.ID] = true
		if i.Unpaid() && i.Due.Before(day) {
			overdue++
		}
	}
	if overdue < 5 || overdue > 100 {
		t.Errorf("%d of 5,000 are overdue", overdue)
	}
}
