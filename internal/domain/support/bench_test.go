package support_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/company"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/domain/support"
	"countersign.dev/internal/seal"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/tool"
)

// searches are what people ask for, from all rows to one. In a scaled company
// every ticket has the word "since", one in fifteen "export", one in fifty
// "login", and one alone its case number.
var searches = []struct{ name, input string }{
	{"all/page-1", `{"query":"*"}`},
	{"open", `{"query":"*","status":"open"}`},
	{"one-customer-open-critical", `{"query":"*","status":"open","priority":"critical","customer_id":"c05700e2%016x"}`},
	{"case-number", `{"query":"x4711q"}`},
	{"login", `{"query":"login"}`},
	{"login-critical-open", `{"query":"login","status":"open","priority":"critical"}`},
	{"export", `{"query":"export"}`},
	{"export-monday-without-login", `{"query":"export monday -login"}`},
	{"phrase", `{"query":"\"export of site 17\""}`},
	{"prefix", `{"query":"expo* login"}`},
	{"since", `{"query":"since"}`},
}

// BenchmarkSearchTickets asks what a page of a million tickets costs through
// the kernel on SQLite, beside the bare statements in the same run.
func BenchmarkSearchTickets(b *testing.B) {
	if testing.Short() {
		b.Skip("a million tickets take minutes to fill in: not in -short")
	}
	const n = 1_000_000
	path := filepath.Join(b.TempDir(), "support.db")
	store := sqliteAt(b, path)
	started := time.Now()
	fill(b, store, large(n))
	b.Logf("filled %d tickets in %s", n, time.Since(started).Round(time.Second))
	raw, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path, RawQuery: "_pragma=query_only(1)&_pragma=cache_size(-16384)"}).String())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = raw.Close() })
	const page, words = `select * from tickets where (created_at, id) < (?, 'z') order by created_at desc, id desc limit 51`,
		`select t.* from tickets_words w join tickets t on t.n = w.rowid where tickets_words match ? order by rank limit 51`
	var deep int64
	if err := raw.QueryRow(`select created_at from tickets order by created_at desc limit 1 offset 49950`).Scan(&deep); err != nil {
		b.Fatal(err)
	}
	b.Run("raw/all/page-1", func(b *testing.B) { measure(b, func() { readAll(b, raw, page, int64(1)<<60) }) })
	b.Run("raw/all/page-1000", func(b *testing.B) { measure(b, func() { readAll(b, raw, page, deep) }) })
	for _, word := range []string{"x4711q", "login", "export", "since"} {
		b.Run("raw/"+word, func(b *testing.B) { measure(b, func() { readAll(b, raw, words, word) }) })
	}
	benchTools(b, store, n, 1000)
}

// BenchmarkSearchTicketsOnEngine asks the same of 10,000 tickets on the search
// engine, beside the bare request.
func BenchmarkSearchTicketsOnEngine(b *testing.B) {
	const n = 10_000
	address, prefix := engine.Address(b)
	store, err := support.OpenElastic(address, &support.ElasticOptions{Tickets: prefix + "tickets", Articles: prefix + "articles"})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = store.Close() })
	fill(b, store, large(n))
	c := client{b, address}
	for name, query := range map[string]string{
		"raw/all/page-1": `{"size":51,"track_total_hits":false,"sort":[{"created_at":"desc"},{"ticket_id":"desc"}]}`,
		"raw/login":      `{"size":51,"track_total_hits":false,"query":{"match":{"words":"login"}}}`,
	} {
		b.Run(name, func(b *testing.B) {
			measure(b, func() { c.do(http.MethodPost, "/"+prefix+"tickets/_search", bytes.NewBufferString(query)) })
		})
	}
	benchTools(b, store, n, 100)
}

// large is a department of so many tickets, made while it is read.
type large int

func (n large) rows() company.Support { return company.ScaledSupport(int(n), day) }

func benchTools(b *testing.B, store support.Store, n, deep int) {
	runner := benchRunner(b, store)
	ctx := access.With(b.Context(), testkit.Person("amy", access.SupportRead))
	call := func(b *testing.B, input string) (next string) {
		out := runner.Call(ctx, "search_tickets", json.RawMessage(input))
		if out.Fault != nil {
			b.Fatal(out.Fault, out.Fault.Unwrap())
		}
		return out.Page.Next
	}
	cursor := call(b, `{"query":"*"}`)
	for range deep - 2 {
		cursor = call(b, `{"query":"*","cursor":"`+cursor+`"}`)
	}
	b.Run(fmt.Sprintf("all/page-%d", deep), func(b *testing.B) { measure(b, func() { call(b, `{"query":"*","cursor":"`+cursor+`"}`) }) })
	for _, s := range searches {
		input := s.input
		if s.name == "one-customer-open-critical" {
			input = fmt.Sprintf(input, n/20)
		}
		b.Run(s.name, func(b *testing.B) { measure(b, func() { call(b, input) }) })
	}
}

func benchRunner(b *testing.B, store support.Store) *tool.Runner {
	b.Helper()
	ring, err := seal.NewRing("cursor", seal.RandomSecret())
	if err != nil {
		b.Fatal(err)
	}
	runner, err := tool.NewRunner(support.New(store, nil).Tools(), tool.Options{
		Server: "support", Cursors: ring, Audit: &testkit.Journal{}, Ledger: store, Desk: &confirm.Desk{},
	})
	if err != nil {
		b.Fatal(err)
	}
	return runner
}

func readAll(b *testing.B, db *sql.DB, statement string, args ...any) {
	rows, err := db.Query(statement, args...)
	if err != nil {
		b.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		b.Fatal(err)
	}
	cells := make([]any, len(columns))
	for i := range cells {
		cells[i] = new(any)
	}
	for rows.Next() {
		if err := rows.Scan(cells...); err != nil {
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
