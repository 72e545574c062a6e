package sales_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/company"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/domain/sales"
	"countersign.dev/internal/domain/sales/sqlite"
	"countersign.dev/internal/seal"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/tool"
)

// BenchmarkListDeals asks what a page costs through the kernel on the embedded
// store, at the size that it is meant for and at five times that, for a caller
// who sees all deals, the manager of every seller, and one seller. "few" is the
// tightest filter, "two wide" two filters with many rows each.
func BenchmarkListDeals(b *testing.B) {
	for _, deals := range []int{sqlite.Capacity, 5 * sqlite.Capacity} {
		store, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "sales.db"))
		if err != nil {
			b.Fatal(err)
		}
		defer store.Close()
		if err := store.Fill(b.Context(), company.ScaledSales(deals, day)); err != nil {
			b.Fatal(err)
		}
		runner := benchRunner(b, store)
		for _, who := range []struct {
			name, email string
			role        access.Role
		}{
			{"all", "carol", access.Executive},
			{"manager", "person000000", "sales-read"},
			{"seller", "person000007", "sales-read"},
		} {
			p := testkit.Person(who.email, who.role)
			for _, page := range []struct{ name, input string }{
				{"newest", `{}`},
				{"by value", `{"sort":"value_desc"}`},
				{"closing soonest", `{"sort":"closing"}`},
				{"one customer", `{"customer_id":"c05700e2` + fmt.Sprintf("%016x", 471) + `"}`},
				{"few", `{"min_value":1995000}`},
				{"one stage", `{"stage":"NEGOTIATION"}`},
				{"two wide", `{"stage":"NEGOTIATION","closing_from":"2026-08-01","closing_to":"2026-08-31"}`},
				{"two wide, closing soonest", `{"stage":"NEGOTIATION","closing_from":"2026-08-01","closing_to":"2026-08-31","sort":"closing"}`},
			} {
				b.Run(fmt.Sprintf("%d/%s/%s", deals, who.name, page.name), func(b *testing.B) { toolPage(b, runner, p, page.input) })
			}
		}
		p := testkit.Person("carol", access.Executive)
		b.Run(fmt.Sprintf("%d/all/page 101", deals), func(b *testing.B) { toolPage(b, runner, p, cursorAfter(b, runner, p, 100)) })
	}
}

func benchRunner(b *testing.B, store sales.Store) *tool.Runner {
	b.Helper()
	ring, err := seal.NewRing("cursor", seal.RandomSecret())
	if err != nil {
		b.Fatal(err)
	}
	server := sales.New(store, func() time.Time { return day })
	runner, err := tool.NewRunner(server.Tools(), tool.Options{Server: "sales", Policy: server.Policy(), Cursors: ring, Audit: &testkit.MemorySink{}, Receipts: tool.OneStore(store), Confirmations: &confirm.Service{}})
	if err != nil {
		b.Fatal(err)
	}
	return runner
}

func toolPage(b *testing.B, runner *tool.Runner, p *access.Principal, input string) {
	ctx := access.With(b.Context(), p)
	testkit.Measure(b, func() {
		if out := runner.Call(ctx, "list_deals", json.RawMessage(input)); out.Fault() != nil {
			b.Fatal(out.Fault())
		}
	})
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
