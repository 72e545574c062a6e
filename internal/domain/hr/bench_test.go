package hr_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"countersign.dev/internal/company"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/testkit/dbtest"
	"countersign.dev/internal/testkit/domaintest"
)

// What does a page of 50 cost at 200,000 employees, with every policy on, for
// every kind of caller, on first and on deep pages? The bar is 5 ms at the 95th percentile, and
// page 1,000 costs what page 1 costs. `floor` is the same page read as the
// owner, past the policies, without tool, masks and JSON.

const largeSize = 200_000

var (
	largeCompany = sync.OnceValue(func() *company.Company { return company.Scaled(largeSize, today) })
	vacuum       sync.Once
)

func openLarge(b *testing.B) *harness {
	b.Helper()
	if testing.Short() {
		b.Skip("200,000 employees take half a minute to build: not in -short")
	}
	url := schema.Template(b, cluster, large)
	vacuum.Do(func() { dbtest.Vacuum(b, url, "hr.employees") })
	return over(b, url, largeCompany())
}

// callers are people of the scaled company by how many report to them.
var callers = []struct {
	name    string
	email   string
	roles   []string
	deep    int // a page far down the list of people
	reviews int // a page far down the list of reviews, of which everyone has five
}{
	{"hr-read", "reader@elsewhere", []string{"hr-read"}, 1000, 0},
	{"hr-write", "writer@elsewhere", []string{"hr-write"}, 1000, 1000},
	{"executive", company.ScaledEmail(0), []string{"employee", "executive"}, 1000, 1000},
	{"manager-of-200000", company.ScaledEmail(0), []string{"employee", "manager"}, 1000, 1000},
	{"manager-of-100000", company.ScaledEmail(1), []string{"employee", "manager"}, 1000, 1000},
	{"manager-of-11000", company.ScaledEmail(11), []string{"employee", "manager"}, 200, 1000},
	{"manager-of-1000", company.ScaledEmail(111), []string{"employee", "manager"}, 20, 100},
	{"manager-of-100", company.ScaledEmail(1111), []string{"employee", "manager"}, 2, 10},
}

func BenchmarkListEmployees(b *testing.B) {
	h := openLarge(b)
	for _, a := range callers {
		ctx := domaintest.SignedIn(b.Context(), a.email, a.roles...)
		for _, page := range []int{1, a.deep} {
			b.Run(fmt.Sprintf("%s/page-%d", a.name, page), func(b *testing.B) { h.benchTool(b, ctx, "list_employees", h.pageAt(ctx, "list_employees", page)) })
		}
	}
	for _, page := range []int{1, 1000} {
		b.Run(fmt.Sprintf("floor/page-%d", page), func(b *testing.B) { benchFloor(b, h.AdminURL, page) })
	}
}

func BenchmarkListEmployeesFiltered(b *testing.B) {
	h := openLarge(b)
	for _, a := range callers {
		ctx := domaintest.SignedIn(b.Context(), a.email, a.roles...)
		for name, in := range map[string]args{
			"department": {"department": "ENG"},
			"location":   {"location": "Boston"},
			"both":       {"department": "LEGAL", "location": "Seattle"},
			"neither":    {"department": "LEGAL", "location": "San Francisco"}, // no such row
			"manager":    {"manager_id": h.company.Employees[1111].ID},
			"team":       {"under_manager_id": h.company.Employees[1111].ID},
			"team-name":  {"under_manager_id": h.company.Employees[1111].ID, "name": "an"},
			"short-name": {"name": "xu"},
			"rare-name":  {"name": "zane zhang"},
			"part":       {"name": "an"},
			"no-name":    {"name": "nobody is called that"},
		} {
			b.Run(a.name+"/"+name, func(b *testing.B) { h.benchTool(b, ctx, "list_employees", in) })
		}
	}
}

// pageAt is the input that asks for a page: the cursor of the one before.
func (h *harness) pageAt(ctx context.Context, tool string, page int) args {
	in := args{}
	for range page - 1 {
		in["cursor"] = h.Ask(ctx, tool, in).Page().Next
	}
	return in
}

func (h *harness) benchTool(b *testing.B, ctx context.Context, tool string, in args) {
	raw, err := json.Marshal(in)
	if err != nil {
		b.Fatal(err)
	}
	testkit.Measure(b, func() {
		if o := h.Call(ctx, tool, raw); o.Fault() != nil {
			b.Fatal(o.Fault(), o.Fault().Unwrap())
		}
	})
}

func BenchmarkGetEmployee(b *testing.B) {
	h := openLarge(b)
	raw := json.RawMessage(fmt.Sprintf(`{"employee_id":%q}`, h.company.Employees[111_111].ID))
	for _, a := range callers {
		ctx := domaintest.SignedIn(b.Context(), a.email, a.roles...)
		b.Run(a.name, func(b *testing.B) { testkit.Measure(b, func() { h.Call(ctx, "get_employee", raw) }) })
	}
	conn := dbtest.Connect(b, h.AdminURL)
	b.Run("floor", func(b *testing.B) {
		testkit.Measure(b, func() {
			dbtest.ReadAll(b, conn, `select * from hr.employees where id = $1`, h.company.Employees[111_111].ID)
		})
	})
}

func BenchmarkGetOrgChart(b *testing.B) {
	h := openLarge(b)
	for _, a := range callers {
		ctx := domaintest.SignedIn(b.Context(), a.email, a.roles...)
		b.Run(a.name, func(b *testing.B) {
			testkit.Measure(b, func() {
				if o := h.Call(ctx, "get_org_chart", nil); o.Fault() != nil {
					b.Fatal(o.Fault(), o.Fault().Unwrap())
				}
			})
		})
	}
}

func benchFloor(b *testing.B, adminURL string, page int) {
	conn := dbtest.Connect(b, adminURL)
	var last, first, id string
	err := conn.QueryRow(b.Context(), `select last_name, first_name, id from hr.employees where status = 'ACTIVE' order by last_name, first_name, id offset $1 limit 1`, (page-1)*50).Scan(&last, &first, &id)
	if err != nil {
		b.Fatal(err)
	}
	const floor = `select * from hr.employees where status = 'ACTIVE' and (last_name, first_name, id) >= ($1, $2, $3) order by last_name, first_name, id limit 51`
	testkit.Measure(b, func() { dbtest.ReadAll(b, conn, floor, last, first, id) })
}
