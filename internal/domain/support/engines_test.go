package support_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"countersign.dev/internal/domain/support"
	"countersign.dev/internal/domain/support/elastic"
	"countersign.dev/internal/domain/support/sqlite"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/testkit/searchtest"
)

// The contract runs on SQLite and on a search engine: a real OpenSearch node,
// or the server of COUNTERSIGN_TEST_ELASTICSEARCH_URL. Without that address
// nothing here has met Elasticsearch's own server.
var engine *searchtest.Server

func TestMain(m *testing.M) {
	if testkit.RunAsCrashProcess(closeUntilKilled) {
		return
	}
	engine = searchtest.Start()
	code := m.Run()
	engine.Stop()
	testkit.Ran("SQLite FTS5")
	testkit.Ran(engine.Name())
	os.Exit(code)
}

// rig is a store under test, and what only the engine behind it can do.
type rig struct {
	support.Store
	again   func() support.Store // another handle on the same rows: another process
	remove  func(ticketIDs ...string)
	touch   func(ticketID string)                     // somebody else writes the ticket
	settled func()                                    // returns when searches show every write
	foreign func(t *testing.T) support.Store          // where the tables or indices are somebody else's
	misread func(t *testing.T, s support.Scope) error // asks for what the engine must refuse
	analyze func(text string) []string                // the words that the engine's analyzer finds
	cut     func()                                    // from now on, changes cannot reach the store
	mend    func()
}

// engines are the implementations. Every test of the contract runs on each.
var engines = map[string]func(t *testing.T) *rig{
	"sqlite": fileRig,
	"memory": memoryRig,
	"search": searchRig,
}

func onEveryEngine(t *testing.T, test func(t *testing.T, r *rig)) {
	t.Helper()
	onEngines(t, test, "sqlite", "memory", "search")
}

// onSharedEngines leaves out the store in memory: nobody else can reach it, cut
// it off, or find it again.
func onSharedEngines(t *testing.T, test func(t *testing.T, r *rig)) {
	t.Helper()
	onEngines(t, test, "sqlite", "search")
}

func onEngines(t *testing.T, test func(t *testing.T, r *rig), names ...string) {
	t.Helper()
	for _, name := range names {
		t.Run(name, func(t *testing.T) { test(t, engines[name](t)) })
	}
}

func memoryRig(t *testing.T) *rig { return &rig{Store: sqliteAt(t, ""), settled: func() {}} }

func sqliteAt(t testing.TB, path string) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func fileRig(t *testing.T) *rig {
	path := filepath.Join(t.TempDir(), "support #1?.db")
	r := &rig{Store: sqliteAt(t, path), again: func() support.Store { return sqliteAt(t, path) }, settled: func() {}}
	other := otherProcess(t, path)
	run := func(statement string, args ...any) {
		if _, err := other.Exec(statement, args...); err != nil {
			t.Fatal(err)
		}
	}
	r.remove = func(ids ...string) {
		for _, id := range ids {
			run(`delete from tickets_words where rowid = (select n from tickets where id = ?)`, id)
			run(`delete from tickets where id = ?`, id)
		}
	}
	r.touch = func(id string) { run(`update tickets set priority = 'low', version = version + 1 where id = ?`, id) }
	r.misread = func(t *testing.T, s support.Scope) error {
		run(`drop table tickets_words`)
		_, err := r.Tickets(t.Context(), s, support.TicketQuery{Find: support.ParseQuery("login"), Limit: 5})
		return err
	}
	var hold *sql.Tx
	r.cut = func() { // another process holds the right to write
		var err error
		if hold, err = other.Begin(); err != nil {
			t.Fatal(err)
		}
	}
	r.mend = func() { _ = hold.Rollback() }
	return r
}

func otherProcess(t *testing.T, path string) *sql.DB {
	other, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path, RawQuery: "_txlock=immediate"}).String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Close() })
	return other
}

func searchRig(t *testing.T) *rig {
	address, prefix := engine.Address(t)
	near, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	w := testkit.NewProxy(t, near.Host)
	near.Host = w.Address()
	c := client{t, address}
	index := prefix + elastic.TicketIndex
	open := func(tickets string) support.Store {
		s, err := elastic.Open(near.String(), &elastic.Options{Tickets: tickets, Articles: prefix + elastic.ArticleIndex, Refresh: 100 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	r := &rig{Store: open(index), again: func() support.Store { return open(index) }, cut: w.Cut, mend: w.Restore}
	r.settled = func() { c.do(http.MethodPost, "/"+index+","+prefix+elastic.ArticleIndex+"/_refresh", nil) }
	r.remove = func(ids ...string) {
		var lines bytes.Buffer
		for _, id := range ids {
			_ = json.NewEncoder(&lines).Encode(map[string]any{"delete": map[string]any{"_id": id}})
		}
		c.do(http.MethodPost, "/"+index+"/_bulk", &lines)
	}
	r.touch = func(id string) {
		c.do(http.MethodPost, "/"+index+"/_update/"+id, bytes.NewBufferString(`{"doc":{"priority":"low"}}`))
	}
	r.analyze = func(text string) (words []string) {
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
	r.foreign = func(t *testing.T) support.Store {
		c.do(http.MethodPut, "/"+prefix+"foreign", nil)
		c.do(http.MethodPut, "/"+prefix+"foreign/_doc/1?refresh=true", bytes.NewBufferString(`{"title":"Somebody else's"}`))
		return open(prefix + "foreign")
	}
	r.misread = func(t *testing.T, s support.Scope) error { // a text cannot be sorted by
		c.do(http.MethodPut, "/"+prefix+"text", bytes.NewBufferString(`{"mappings":{"properties":{"ticket_id":{"type":"text"}}}}`))
		_, err := open(prefix+"text").Tickets(t.Context(), s, support.TicketQuery{Find: support.ParseQuery("login"), Limit: 5})
		return err
	}
	return r
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
	response, err := http.DefaultClient.Do(request)
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
