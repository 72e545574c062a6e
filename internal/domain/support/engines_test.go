package support_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/company"
	"countersign.dev/internal/domain/support"
	"countersign.dev/internal/domain/support/elastic"
	"countersign.dev/internal/domain/support/sqlite"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/testkit/conformance"
	"countersign.dev/internal/testkit/domaintest"
	"countersign.dev/internal/testkit/searchtest"
)

// searchServer is a node of OpenSearch or Elasticsearch: see package searchtest.
var searchServer *searchtest.Server

func TestMain(m *testing.M) {
	if conformance.RunAsCrashProcess(domain()) {
		return
	}
	if testkit.Fuzzing() { // no target needs the engine, and every worker would start one
		os.Exit(m.Run())
	}
	searchServer = searchtest.Start()
	code := m.Run()
	searchServer.Stop()
	testkit.Ran("SQLite FTS5")
	testkit.Ran(searchServer.Name())
	os.Exit(code)
}

// later is when another process writes a ticket.
var later = day.Add(time.Hour)

// engine is a store under test, and what only the engine behind it can do.
type engine struct {
	support.Store
	direct       support.Store // the same rows, not through the proxy
	address      string        // for another process
	remove       func(ticketIDs ...string)
	touch        func(ticketID string)                     // another process writes the ticket, at later
	settled      func()                                    // returns when searches show every write
	foreign      func(t *testing.T) support.Store          // on tables or indices that are not ours
	misread      func(t *testing.T, s support.Scope) error // asks for what the engine must refuse
	analyze      func(text string) []string                // the words that the engine's analyzer finds
	cut, restore func()                                    // changes cannot reach the store, and can again
}

func engineOf(s *conformance.Store) *engine { return s.Handle.(*engine) }

// engines are the implementations of the store.
var engines = []conformance.Engine{
	{Name: "memory", Slow: true, Open: opens(memory)},
	{Name: "sqlite", Open: opens(file), Connect: func(ctx context.Context, path string) (domaintest.Domain, error) {
		return served(sqlite.Open(ctx, path))
	}},
	{Name: "search", Slow: true, Open: opens(search), Connect: func(_ context.Context, address string) (domaintest.Domain, error) {
		server, prefix, _ := strings.Cut(address, " ")
		return served(elastic.Open(server, indices(prefix, elastic.TicketIndex)))
	}},
}

func served[S support.Store](store S, err error) (domaintest.Domain, error) {
	return support.New(store, func() time.Time { return day }), err
}

// opens is the Open of an engine.
func opens(open func(t testing.TB) *engine) func(t testing.TB, dataset string) *conformance.Store {
	return func(t testing.TB, name string) *conformance.Store {
		e := open(t)
		fill(t, e.direct, dataset(name))
		return stored(t, e, func() *conformance.Store { return stored(t, open(t), nil) })
	}
}

// stored is a store as the suite takes it.
func stored(t testing.TB, e *engine, empty func() *conformance.Store) *conformance.Store {
	server := support.New(e.Store, func() time.Time { return day })
	return &conformance.Store{
		Domain: server, Handle: e, Address: e.address, Ready: server.Ready, Empty: empty, Cut: e.cut, Restore: e.restore, CutsReads: e.direct != e.Store,
		Seed: func() error { return server.Seed(t.Context(), company.At(day.AddDate(1, 0, 0))) },
		Dump: func() string { return dump(t, e.direct) },
	}
}

// dump writes every row of the sample company down, versions included.
func dump(t testing.TB, s support.Store) (out string) {
	t.Helper()
	ctx := testkit.Patiently(t)
	for _, row := range sample().tickets {
		ticket, found, err := s.Ticket(ctx, everything, row.ID)
		encoded, err2 := json.Marshal(ticket)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		out += fmt.Sprintf("%v %s %v\n", found, encoded, ticket.Version)
	}
	return out
}

// onEveryEngine runs a test on each store, without rows.
func onEveryEngine(t *testing.T, test func(t *testing.T, e *engine)) {
	t.Helper()
	t.Parallel()
	for name, open := range map[string]func(testing.TB) *engine{"memory": memory, "sqlite": file, "search": search} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

// harness is the domain as the kernel runs it, with the sample company.
type harness struct {
	*domaintest.Harness
	store *engine
}

// onEveryStore runs a test on each store with the sample company.
func onEveryStore(t *testing.T, test func(t *testing.T, h *harness)) {
	t.Helper()
	t.Parallel()
	for _, e := range engines {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			s := e.Open(t, conformance.Company)
			test(t, &harness{domaintest.Open(t, "support", s), engineOf(s)})
		})
	}
}

func (h *harness) ticket(id string) support.Ticket {
	h.Helper()
	row, _, err := h.store.Ticket(h.Context(), everything, id)
	if err != nil {
		h.Fatal(err)
	}
	return row
}

func sqliteAt(t testing.TB, path string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// memory is a store that no other process reaches.
func memory(t testing.TB) *engine {
	s := sqliteAt(t, "")
	return &engine{Store: s, direct: s, settled: func() {}}
}

func file(t testing.TB) *engine {
	path := filepath.Join(t.TempDir(), "support #1?.db")
	s := sqliteAt(t, path)
	e := &engine{Store: s, direct: s, address: path, settled: func() {}}
	other := otherProcess(t, path)
	run := func(statement string, args ...any) {
		if _, err := other.Exec(statement, args...); err != nil {
			t.Fatal(err)
		}
	}
	e.remove = func(ids ...string) {
		for _, id := range ids {
			run(`delete from tickets_words where rowid = (select n from tickets where id = ?)`, id)
			run(`delete from tickets where id = ?`, id)
		}
	}
	e.touch = func(id string) {
		run(`update tickets set priority = 'low', updated_at = ?, version = version + 1 where id = ?`, later.UnixMilli(), id)
	}
	e.misread = func(t *testing.T, s support.Scope) error {
		run(`drop table tickets_words`)
		_, err := e.Tickets(t.Context(), s, support.TicketQuery{Find: support.ParseQuery("login"), Limit: 5})
		return err
	}
	var hold *sql.Tx
	e.cut = func() { // another process holds the right to write
		var err error
		if hold, err = other.Begin(); err != nil {
			t.Fatal(err)
		}
	}
	e.restore = func() { _ = hold.Rollback() }
	return e
}

// earlierFile is a store in a file that was made before tickets had a time of closing.
func earlierFile(t testing.TB) support.Store {
	path := filepath.Join(t.TempDir(), "support.db")
	s := sqliteAt(t, path)
	fill(t, s, sample())
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := otherProcess(t, path).Exec(`alter table tickets drop column closed_at`); err != nil {
		t.Fatal(err)
	}
	return sqliteAt(t, path)
}

func otherProcess(t testing.TB, path string) *sql.DB {
	other, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path, RawQuery: "_txlock=immediate"}).String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Close() })
	return other
}

// indices names a test's own indices.
func indices(prefix, tickets string) *elastic.Options {
	return &elastic.Options{Tickets: prefix + tickets, Articles: prefix + elastic.ArticleIndex, Refresh: 100 * time.Millisecond, Scored: 10}
}

// search is a pair of indices on the server of this run, behind a proxy.
func search(t testing.TB) *engine {
	address, prefix := searchServer.Address(t)
	near, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	proxy := testkit.NewProxy(t, near.Host)
	near.Host = proxy.Address()
	open := func(address, tickets string) support.Store {
		s, err := elastic.Open(address, indices(prefix, tickets))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	c, index := client{t, address}, prefix+elastic.TicketIndex
	e := &engine{
		Store: open(near.String(), elastic.TicketIndex), direct: open(address, elastic.TicketIndex), address: address + " " + prefix, cut: proxy.Cut, restore: proxy.Restore,
	}
	e.settled = func() { c.do(http.MethodPost, "/"+index+","+prefix+elastic.ArticleIndex+"/_refresh", nil) }
	e.remove = func(ids ...string) {
		var lines bytes.Buffer
		for _, id := range ids {
			_ = json.NewEncoder(&lines).Encode(map[string]any{"delete": map[string]any{"_id": id}})
		}
		c.do(http.MethodPost, "/"+index+"/_bulk", &lines)
	}
	e.touch = func(id string) {
		c.do(http.MethodPost, "/"+index+"/_update/"+id, bytes.NewBufferString(`{"doc":{"priority":"low","updated_at":"`+later.Format(time.RFC3339)+`"}}`))
	}
	e.analyze = func(text string) (words []string) {
		body, _ := json.Marshal(map[string]string{"analyzer": "words", "text": text}) // texts always encode
		var answer struct{ Tokens []struct{ Token string } }
		if err := json.Unmarshal(c.do(http.MethodPost, "/"+index+"/_analyze", bytes.NewReader(body)), &answer); err != nil {
			t.Fatal(err)
		}
		for _, token := range answer.Tokens {
			words = append(words, token.Token)
		}
		return words
	}
	e.foreign = func(t *testing.T) support.Store {
		c.do(http.MethodPut, "/"+prefix+"foreign", nil)
		c.do(http.MethodPut, "/"+prefix+"foreign/_doc/1?refresh=true", bytes.NewBufferString(`{"title":"Another's"}`))
		return open(address, "foreign")
	}
	e.misread = func(t *testing.T, s support.Scope) error { // a text cannot be sorted by
		c.do(http.MethodPut, "/"+prefix+"text", bytes.NewBufferString(`{"mappings":{"properties":{"ticket_id":{"type":"text"}}}}`))
		_, err := open(address, "text").Tickets(t.Context(), s, support.TicketQuery{Find: support.ParseQuery("login"), Limit: 5})
		return err
	}
	return e
}

// earlierIndex is a store in indices that were made before tickets had a time of closing.
func earlierIndex(t testing.TB) support.Store {
	address, prefix := searchServer.Address(t)
	options := indices(prefix, elastic.TicketIndex)
	s, err := elastic.Open(address, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	c, path := client{t, address}, "/"+options.Tickets
	var made map[string]struct {
		Mappings struct {
			Dynamic    string         `json:"dynamic"`
			Properties map[string]any `json:"properties"`
		} `json:"mappings"`
		Settings struct {
			Index map[string]any `json:"index"`
		} `json:"settings"`
	}
	if err := json.Unmarshal(c.do(http.MethodGet, path, nil), &made); err != nil {
		t.Fatal(err)
	}
	earlier := made[options.Tickets]
	delete(earlier.Mappings.Properties, "closed_at")
	for _, own := range []string{"creation_date", "provided_name", "uuid", "version"} {
		delete(earlier.Settings.Index, own)
	}
	body, _ := json.Marshal(earlier) // what was read always encodes
	c.do(http.MethodDelete, path, nil)
	c.do(http.MethodPut, path, bytes.NewReader(body))
	fill(t, s, sample())
	return s
}

// client asks the engine past the store.
type client struct {
	t       testing.TB
	address string
}

func (c client) do(method, path string, body io.Reader) []byte {
	c.t.Helper()
	request, err := http.NewRequestWithContext(c.t.Context(), method, c.address+path, body)
	if err != nil {
		c.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := testkit.Client.Do(request)
	if err != nil {
		c.t.Fatal(err)
	}
	defer response.Body.Close()
	said, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode >= 300 {
		c.t.Fatalf("%s %s: %s %s, %v", method, path, response.Status, said, err)
	}
	return said
}
