package sales_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"testing"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/company"
	"countersign.dev/internal/domain/sales"
	"countersign.dev/internal/seal"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/tool"

	"countersign.dev/internal/confirm"
)

// BenchmarkListDeals asks what a page of a million deals costs through the
// kernel, for somebody who sees all by a role, the manager of everybody, managers
// of a hundred sellers and of ten, and one seller, beside the bare statements for
// the same rows in the same run. min_value=2000500 is the tightest filter.
func BenchmarkListDeals(b *testing.B) {
	if testing.Short() {
		b.Skip("filling in a million deals takes a minute")
	}
	const deals = 1_000_000
	path := filepath.Join(b.TempDir(), "sales.db")
	store, err := sales.OpenSQLite(b.Context(), path)
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	started := time.Now()
	if err := store.Fill(b.Context(), company.ScaledSales(deals, day)); err != nil {
		b.Fatal(err)
	}
	b.Logf("filled %d deals in %s", deals, time.Since(started).Round(time.Second))
	raw, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path, RawQuery: "_pragma=query_only(1)"}).String())
	if err != nil {
		b.Fatal(err)
	}
	defer raw.Close()
	const team = `owner_id in (select owner_id from reach where email = ?)`
	manager := company.ScaledEmail(1)
	created, id := keyAt(b, raw, `true`)
	teamCreated, teamID := keyAt(b, raw, team, manager)
	for _, floor := range []struct {
		name, where string
		args        []any
	}{
		{"all/page 1", `true`, nil},
		{"all/page 1000", `(created_at, id) < (?, ?)`, []any{created, id}},
		{"all/few rows", `value >= ?`, []any{2000500}},
		{"manager/page 1", team, []any{manager}},
		{"manager/page 1000", team + ` and (created_at, id) < (?, ?)`, []any{manager, teamCreated, teamID}},
		{"manager/few rows", team + ` and value >= ?`, []any{manager, 2000500}},
	} {
		b.Run("raw/"+floor.name, func(b *testing.B) { rawPage(b, raw, floor.where, floor.args...) })
	}

	runner := benchRunner(b, store)
	for _, who := range []struct {
		name  string
		email string
		role  access.Role
	}{
		{"all", "carol", access.Executive},
		{"everybody's manager", "person000000", access.SalesRead},
		{"manager", "person000001", access.SalesRead},
		{"manager of ten", "person000012", access.SalesRead},
		{"seller", "person000777", access.SalesRead},
	} {
		p := testkit.Person(who.email, who.role)
		for _, page := range []struct{ name, input string }{
			{"page 1", `{}`},
			{"page 1 by value", `{"sort":"value_desc"}`},
			{"one customer", `{"customer_id":"c05700e2` + fmt.Sprintf("%016x", 4711) + `"}`},
			{"few rows", `{"min_value":2000500}`},
			{"one stage", `{"stage":"NEGOTIATION"}`},
			{"few in the middle", `{"stage":"NEGOTIATION","closing_from":"2026-08-01","closing_to":"2026-08-31"}`},
			{"this month, open", `{"stage":"NEGOTIATION","closing_from":"2026-08-01","closing_to":"2026-08-31","sort":"closing"}`},
		} {
			b.Run(who.name+"/"+page.name, func(b *testing.B) { toolPage(b, runner, p, page.input) })
		}
		pages := 999
		switch who.name { // ten sellers have 200 pages, one has 20
		case "manager of ten":
			pages = 150
		case "seller":
			pages = 15
		}
		b.Run(fmt.Sprintf("%s/page %d", who.name, pages+1), func(b *testing.B) { toolPage(b, runner, p, cursorAfter(b, runner, p, pages)) })
	}
}

func rawPage(b *testing.B, db *sql.DB, where string, args ...any) {
	for b.Loop() {
		rows, err := db.Query(`select * from deals where `+where+` order by created_at desc, id desc limit 51`, args...)
		if err != nil {
			b.Fatal(err)
		}
		cells := make([]any, 15)
		for i := range cells {
			cells[i] = new(any)
		}
		n := 0
		for ; rows.Next(); n++ {
			if err := rows.Scan(cells...); err != nil {
				b.Fatal(err)
			}
		}
		if rows.Close(); n == 0 {
			b.Fatal("got no rows")
		}
	}
}

// keyAt is where page 999 of these deals ends.
func keyAt(b *testing.B, db *sql.DB, where string, args ...any) (created int64, id string) {
	b.Helper()
	statement := `select created_at, id from deals where ` + where + ` order by created_at desc, id desc limit 1 offset 999 * 50 - 1`
	if err := db.QueryRow(statement, args...).Scan(&created, &id); err != nil {
		b.Fatal(err)
	}
	return created, id
}

func benchRunner(b *testing.B, store sales.Store) *tool.Runner {
	b.Helper()
	ring, err := seal.NewRing("cursor", seal.RandomSecret())
	if err != nil {
		b.Fatal(err)
	}
	server := sales.New(store, func() time.Time { return day })
	runner, err := tool.NewRunner(server.Tools(), tool.Options{Server: "sales", Cursors: ring, Audit: &testkit.MemorySink{}, Receipts: tool.OneStore(store), Confirmations: &confirm.Service{}})
	if err != nil {
		b.Fatal(err)
	}
	return runner
}

func toolPage(b *testing.B, runner *tool.Runner, p *access.Principal, input string) {
	ctx := access.With(b.Context(), p)
	for b.Loop() {
		if out := runner.Call(ctx, "list_deals", json.RawMessage(input)); out.Fault() != nil {
			b.Fatal(out.Fault())
		}
	}
}

// cursorAfter turns pages until it holds the cursor of a deep one.
func cursorAfter(b *testing.B, runner *tool.Runner, p *access.Principal, pages int) string {
	b.Helper()
	input := `{}`
	for range pages {
		out := runner.Call(access.With(b.Context(), p), "list_deals", json.RawMessage(input))
		if out.Fault() != nil || out.Page().Next == "" {
			b.Fatalf("no next page: %v", out.Fault())
		}
		input = `{"cursor":"` + out.Page().Next + `"}`
	}
	return input
}
