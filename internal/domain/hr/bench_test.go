package hr_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"countersign.dev/internal/company"
)

// What does a page of 50 cost at 200,000 employees, with every policy on, for
// whoever asks and however deep? The bar is 5 ms at the 95th percentile, and
// page 1,000 costs what page 1 costs. `floor` is the same page read as the
// owner, past the policies, without tool, masks and JSON.

const large = 200_000

var largeHouse struct {
	sync.Once
	company *company.Company
}

func openLarge(b *testing.B) *house {
	b.Helper()
	if testing.Short() {
		b.Skip("200,000 employees take half a minute to build: not in -short")
	}
	largeHouse.Do(func() {
		largeHouse.company = company.Scaled(large, today)
		engine.Template(b, "large", filled(b.Context(), largeHouse.company))
		vacuum(b, engine.URL("large"))
	})
	return furnish(b, engine.URL("large"), largeHouse.company)
}

// vacuum does what the server's autovacuum does within a minute.
func vacuum(b *testing.B, adminURL string) {
	conn := connect(b, adminURL)
	if _, err := conn.Exec(b.Context(), "vacuum analyze hr.employees"); err != nil {
		b.Fatal(err)
	}
}

func connect(b *testing.B, adminURL string) *pgx.Conn {
	b.Helper()
	conn, err := pgx.Connect(b.Context(), adminURL)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// askers are people of the scaled company by how many stand below them.
var askers = []struct {
	name  string
	email string
	roles []string
	deep  int // a page far down
}{
	{"hr-read", "reader@elsewhere", []string{"hr-read"}, 1000},
	{"executive", company.ScaledEmail(0), []string{"employee", "executive"}, 1000},
	{"manager-of-200000", company.ScaledEmail(0), []string{"employee", "manager"}, 1000},
	{"manager-of-100000", company.ScaledEmail(1), []string{"employee", "manager"}, 1000},
	{"manager-of-11000", company.ScaledEmail(11), []string{"employee", "manager"}, 200},
	{"manager-of-1000", company.ScaledEmail(111), []string{"employee", "manager"}, 20},
	{"manager-of-100", company.ScaledEmail(1111), []string{"employee", "manager"}, 2},
}

func BenchmarkListEmployees(b *testing.B) {
	h := openLarge(b)
	for _, a := range askers {
		ctx := signedIn(b.Context(), a.email, a.roles...)
		for _, page := range []int{1, a.deep} {
			b.Run(fmt.Sprintf("%s/page-%d", a.name, page), func(b *testing.B) { h.benchList(b, ctx, h.pageAt(ctx, page)) })
		}
	}
	for _, page := range []int{1, 1000} {
		b.Run(fmt.Sprintf("floor/page-%d", page), func(b *testing.B) { benchFloor(b, h.adminURL, page) })
	}
}

func BenchmarkListEmployeesFiltered(b *testing.B) {
	h := openLarge(b)
	for _, a := range askers {
		ctx := signedIn(b.Context(), a.email, a.roles...)
		for name, in := range map[string]args{
			"department": {"department": "ENG"},
			"location":   {"location": "Boston"},
			"both":       {"department": "LEGAL", "location": "Seattle"},
			"neither":    {"department": "LEGAL", "location": "San Francisco"}, // no such row
			"manager":    {"manager_id": h.company.Employees[1111].ID},
			"short-name": {"name": "xu"},
			"rare-name":  {"name": "zane zhang"},
			"part":       {"name": "an"},
			"no-name":    {"name": "nobody is called that"},
		} {
			b.Run(a.name+"/"+name, func(b *testing.B) { h.benchList(b, ctx, in) })
		}
	}
}

// pageAt is the input that asks for a page: the cursor of the one before.
func (h *house) pageAt(ctx context.Context, page int) args {
	in := args{}
	for range page - 1 {
		in["cursor"] = h.call(ctx, "list_employees", in).Page.Next
	}
	return in
}

func (h *house) benchList(b *testing.B, ctx context.Context, in args) {
	raw, err := json.Marshal(in)
	if err != nil {
		b.Fatal(err)
	}
	measure(b, func() {
		if o := h.Call(ctx, "list_employees", raw); o.Fault != nil {
			b.Fatal(o.Fault, o.Fault.Unwrap())
		}
	})
}

func BenchmarkGetEmployee(b *testing.B) {
	h := openLarge(b)
	raw := json.RawMessage(fmt.Sprintf(`{"employee_id":%q}`, h.company.Employees[111_111].ID))
	for _, a := range askers {
		ctx := signedIn(b.Context(), a.email, a.roles...)
		b.Run(a.name, func(b *testing.B) { measure(b, func() { h.Call(ctx, "get_employee", raw) }) })
	}
	conn := connect(b, h.adminURL)
	b.Run("floor", func(b *testing.B) {
		measure(b, func() { readAll(b, conn, `select * from hr.employees where id = $1`, h.company.Employees[111_111].ID) })
	})
}

func BenchmarkGetOrgChart(b *testing.B) {
	h := openLarge(b)
	for _, a := range askers {
		ctx := signedIn(b.Context(), a.email, a.roles...)
		b.Run(a.name, func(b *testing.B) {
			measure(b, func() {
				if o := h.Call(ctx, "get_org_chart", nil); o.Fault != nil {
					b.Fatal(o.Fault, o.Fault.Unwrap())
				}
			})
		})
	}
}

func benchFloor(b *testing.B, adminURL string, page int) {
	conn := connect(b, adminURL)
	var last, first, id string
	err := conn.QueryRow(b.Context(), `select last_name, first_name, id from hr.employees where status = 'ACTIVE' order by last_name, first_name, id offset $1 limit 1`, (page-1)*50).Scan(&last, &first, &id)
	if err != nil {
		b.Fatal(err)
	}
	const floor = `select * from hr.employees where status = 'ACTIVE' and (last_name, first_name, id) >= ($1, $2, $3) order by last_name, first_name, id limit 51`
	measure(b, func() { readAll(b, conn, floor, last, first, id) })
}

func readAll(b *testing.B, conn *pgx.Conn, sql string, values ...any) {
	rows, err := conn.Query(b.Context(), sql, values...)
	if err != nil {
		b.Fatal(err)
	}
	for rows.Next() {
		if _, err := rows.Values(); err != nil {
			b.Fatal(err)
		}
	}
	if rows.Err() != nil {
		b.Fatal(rows.Err())
	}
}

// measure runs a call and reports the median and the 95th percentile besides
// the mean.
func measure(b *testing.B, call func()) {
	call() // the first one prepares statements
	times := make([]time.Duration, 0, 1000)
	for b.Loop() {
		started := time.Now()
		call()
		times = append(times, time.Since(started))
	}
	slices.Sort(times)
	at := func(q float64) float64 { return times[int(q*float64(len(times)-1))].Seconds() * 1000 }
	b.ReportMetric(at(0.5), "p50-ms")
	b.ReportMetric(at(0.95), "p95-ms")
}
