package support_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/company"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/domain/support"
	"countersign.dev/internal/domain/support/elastic"
	"countersign.dev/internal/domain/support/sqlite"
	"countersign.dev/internal/result"
	"countersign.dev/internal/seal"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/testkit/searchtest"
	"countersign.dev/internal/tool"
)

// documents names the variable that says how many tickets and how many articles
// the search engine is measured with. Without it they are 10,000, which every
// run can afford. A million takes minutes to load, and a node of 2 GB:
//
//	COUNTERSIGN_BENCH_DOCUMENTS=1000000 go test ./internal/domain/support -run '^$' -bench OnEngine -benchtime 1s -timeout 30m
const documents = "COUNTERSIGN_BENCH_DOCUMENTS"

// BenchmarkSearchTickets asks what a page costs through the kernel on SQLite, at
// the size that it is meant for, beside the bare statements in the same run.
func BenchmarkSearchTickets(b *testing.B) { onSQLite(b, ticketBench(sqlite.Capacity)) }

// BenchmarkSearchKnowledgeBase asks the same of as many articles, for a reader
// who sees the published ones.
func BenchmarkSearchKnowledgeBase(b *testing.B) { onSQLite(b, articleBench(sqlite.Capacity)) }

// BenchmarkSearchOnEngine asks the same of both lists on the search engine,
// beside the bare requests.
func BenchmarkSearchOnEngine(b *testing.B) {
	n, node := 10_000, searchServer
	if text := os.Getenv(documents); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			b.Fatalf("%s: %v", documents, err)
		}
		node = searchtest.StartLarge()
		b.Cleanup(node.Stop)
	}
	for _, d := range []bench{ticketBench(n), articleBench(n)} {
		b.Run(d.tool, func(b *testing.B) { onEngine(b, node, d) })
	}
}

// bench is a list tool under measurement.
type bench struct {
	tool  string
	rows  company.Support
	table string     // of SQLite, and how an index's name ends
	id    string     // what the engine calls an id
	scope []narrowed // what the reader is narrowed to without asking
	asks  []question
}

// question is one search. One with plain words is compared with a bare statement
// and a bare request.
type question struct {
	name   string
	words  string
	narrow []narrowed
}

// narrowed is a condition that a column equals a value.
type narrowed struct{ column, value string }

// ticketBench has n tickets. Every one has the word "since", one in fifteen
// "export", one in fifty "login", and one alone its case number.
func ticketBench(n int) bench {
	open, critical := narrowed{"status", "open"}, narrowed{"priority", "critical"}
	rows := company.ScaledSupport(n, day)
	customer := narrowed{column: "customer_id"}
	for t := range rows.Tickets {
		if t.Status == open.value && t.Priority == critical.value {
			customer.value = t.CustomerID // has about ten tickets
			break
		}
	}
	return bench{
		tool: "search_tickets", table: "tickets", id: "ticket_id", rows: rows,
		asks: []question{
			{"all", "*", nil},
			{"open", "*", []narrowed{open}},
			{"one-customer", "*", []narrowed{customer}},
			{"one-customer-open-critical", "*", []narrowed{open, critical, customer}},
			{"case-number", "x4711q", nil},
			{"login", "login", nil},
			{"login-open-critical", "login", []narrowed{open, critical}},
			{"export", "export", nil},
			{"export-monday-without-login", "export monday -login", nil},
			{"phrase", `"export of site 17"`, nil},
			{"prefix", "expo* login", nil},
			{"since", "since", nil},
			{"since-one-customer-open-critical", "since", []narrowed{open, critical, customer}},
		},
	}
}

// articleBench has n articles, three in five of them published, one in a thousand
// about security. Every one has the word "again", one in fifteen "export", half
// of these "mail" too, and one alone its number.
func articleBench(n int) bench {
	security := []narrowed{{"category", "security"}}
	return bench{
		tool: "search_knowledge_base", table: "articles", id: "article_id", rows: library(n), scope: []narrowed{{"status", "published"}},
		asks: []question{
			{"all", "*", nil},
			{"category", "*", security},
			{"number", "4711", nil},
			{"export-mail", "export mail", nil},
			{"export-mail-category", "export mail", security},
			{"export", "export", nil},
			{"phrase", `"export again"`, nil},
			{"prefix", "expo* mail", nil},
			{"again", "again", nil},
		},
	}
}

// library is a support department of articles only, made while it is read.
func library(n int) company.Support {
	scaled := company.ScaledSupport(n*company.TicketsPerArticle, day)
	return company.Support{
		Tickets: func(func(company.Ticket) bool) {},
		Articles: func(yield func(company.Article) bool) {
			for a := range scaled.Articles {
				if a.Views%1000 == 15 { // its number
					a.Category = "security"
				}
				if !yield(a) {
					return
				}
			}
		},
	}
}

func (d bench) input(q question, cursor string) json.RawMessage {
	input := map[string]string{"query": q.words}
	for _, n := range q.narrow {
		input[n.column] = n.value
	}
	if cursor != "" {
		input["cursor"] = cursor
	}
	encoded, _ := json.Marshal(input) // texts always encode
	return encoded
}

// plain reports whether the bare statement for the words is the words.
func (q question) plain() bool {
	return !strings.ContainsAny(q.words, `"-`) && !strings.Contains(q.words, "* ")
}

// place is the last row before a page.
type place struct {
	created time.Time
	id      string
}

// statement is the plain SQL for a question.
func (d bench) statement(q question, after *place) (text string, args []any) {
	text = "select t.* from " + d.table + " t where true"
	order := " order by t.created_at desc, t.id desc limit 51"
	if q.words != "*" {
		text = "select t.* from " + d.table + "_words w join " + d.table + " t on t.n = w.rowid where " + d.table + "_words match ?"
		order = " order by rank limit 51"
		args = append(args, q.words)
	}
	for _, n := range slices.Concat(d.scope, q.narrow) {
		text += " and t." + n.column + " = ?"
		args = append(args, n.value)
	}
	if after != nil {
		text += " and (t.created_at, t.id) < (?, ?)"
		args = append(args, after.created.UnixMilli(), after.id)
	}
	return text + order, args
}

// request is the same for the engine.
func (d bench) request(q question, after *place) []byte {
	type object = map[string]any
	filter := []object{}
	for _, n := range slices.Concat(d.scope, q.narrow) {
		filter = append(filter, object{"term": object{n.column: n.value}})
	}
	condition := object{"filter": filter}
	body := object{"size": 51, "track_total_hits": false, "query": object{"bool": condition}}
	if q.words == "*" {
		body["sort"] = []object{{"created_at": "desc"}, {d.id: "desc"}}
	} else {
		condition["must"] = object{"match": object{"words": object{"query": q.words, "operator": "and"}}}
	}
	if after != nil {
		body["search_after"] = []any{after.created.UnixMilli(), after.id}
	}
	encoded, _ := json.Marshal(body) // texts and numbers always encode
	return encoded
}

func onSQLite(b *testing.B, d bench) {
	path := filepath.Join(b.TempDir(), "support.db")
	store := sqliteAt(b, path)
	load(b, store, d)
	raw, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path, RawQuery: "_pragma=query_only(1)&_pragma=cache_size(-16384)"}).String())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = raw.Close() })
	compare(b, store, d, 100, func(b *testing.B, q question, after *place) {
		text, args := d.statement(q, after)
		readAll(b, raw, text, args...)
	})
}

func onEngine(b *testing.B, node *searchtest.Server, d bench) {
	address, prefix := node.Address(b)
	store, err := elastic.Open(address, &elastic.Options{Tickets: prefix + "tickets", Articles: prefix + "articles"})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = store.Close() })
	if err := store.Migrate(b.Context()); err != nil {
		b.Fatal(err)
	}
	c, index := client{b, address}, "/"+prefix+d.table
	refresh := func(interval string) {
		c.do(http.MethodPut, index+"/_settings", strings.NewReader(`{"index":{"refresh_interval":`+interval+`}}`))
	}
	refresh(`"-1"`)
	load(b, store, d)
	refresh("null")
	c.do(http.MethodPost, index+"/_refresh", nil)
	b.Logf("segments:\n%s", c.do(http.MethodGet, "/_cat/segments"+index+"?h=segment,docs.count,size", nil))
	deep := 1000
	if os.Getenv(documents) == "" {
		deep = 100
	}
	compare(b, store, d, deep, func(b *testing.B, q question, after *place) {
		client{b, address}.do(http.MethodPost, index+"/_search", bytes.NewReader(d.request(q, after)))
	})
}

// load fills the store in one go: calls of a benchmark have no deadline of their
// own, and a fill has one here.
func load(b *testing.B, store support.Store, d bench) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), 20*time.Minute)
	defer cancel()
	started := time.Now()
	if err := store.Fill(ctx, d.rows); err != nil {
		b.Fatal(err)
	}
	b.Logf("filled for %s in %s", d.tool, time.Since(started).Round(time.Second))
}

// compare measures every question, through the kernel and bare, and a deep page
// of everything.
func compare(b *testing.B, store support.Store, d bench, deep int, bare func(*testing.B, question, *place)) {
	runner := benchRunner(b, store)
	ctx := access.With(b.Context(), testkit.Person("amy", "support-read"))
	call := func(b *testing.B, q question, cursor string) result.Outcome {
		out := runner.Call(ctx, d.tool, d.input(q, cursor))
		switch {
		case out.Code() == "TIMEOUT":
			b.Skip("it is over its deadline")
		case out.Fault() != nil:
			b.Fatal(out.Fault(), out.Fault().Unwrap())
		case string(out.Data()) == "[]":
			b.Fatal("nothing is found")
		}
		return out
	}
	run := func(name string, q question, cursor string, after *place) {
		b.Run(name+"/tool", func(b *testing.B) { testkit.Measure(b, func() { call(b, q, cursor) }) })
		if q.plain() {
			b.Run(name+"/bare", func(b *testing.B) { testkit.Measure(b, func() { bare(b, q, after) }) })
		}
	}
	everything := d.asks[0]
	page := call(b, everything, "")
	for range deep - 2 {
		page = call(b, everything, page.Page().Next)
	}
	run(fmt.Sprintf("all/page-%d", deep), everything, page.Page().Next, d.last(b, page))
	for _, q := range d.asks {
		run(q.name, q, "", nil)
	}
}

// last is where a page ends.
func (d bench) last(b *testing.B, page result.Outcome) *place {
	b.Helper()
	var shown []struct {
		Created time.Time `json:"created_at"`
		Ticket  string    `json:"ticket_id"`
		Article string    `json:"article_id"`
	}
	if err := json.Unmarshal(page.Data(), &shown); err != nil {
		b.Fatal(err)
	}
	end := shown[len(shown)-1]
	return &place{end.Created, end.Ticket + end.Article}
}

func benchRunner(b *testing.B, store support.Store) *tool.Runner {
	b.Helper()
	ring, err := seal.NewRing("cursor", seal.RandomSecret())
	if err != nil {
		b.Fatal(err)
	}
	server := support.New(store, nil)
	runner, err := tool.NewRunner(server.Tools(), tool.Options{
		Server: "support", Policy: server.Policy(), Cursors: ring, Audit: &testkit.MemorySink{}, Receipts: tool.OneStore(store), Confirmations: &confirm.Service{},
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
