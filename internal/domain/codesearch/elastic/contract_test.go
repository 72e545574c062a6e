package elastic_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"countersign.dev/internal/domain/codesearch"
	"countersign.dev/internal/domain/codesearch/elastic"
	"countersign.dev/internal/domain/codesearch/index"
	"countersign.dev/internal/domain/codesearch/query"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/testkit/searchtest"
)

// engine is a node of OpenSearch or Elasticsearch: see package searchtest.
var engine *searchtest.Server

func TestMain(m *testing.M) {
	if os.Getenv(killedAddress) != "" {
		indexUntilKilled()
		return
	}
	if testkit.Fuzzing() { // no target needs the engine, and every worker would start one
		os.Exit(m.Run())
	}
	engine = searchtest.Start()
	code := m.Run()
	engine.Stop()
	testkit.Ran(engine.Name())
	os.Exit(code)
}

// opened is a store under test, with the repositories that it serves.
type opened struct {
	*codesearch.Server
	update func(name string) (index.Report, error)
}

// opener opens a store with indexes of repositories.
type opener func(t *testing.T, all ...codesearch.Repository) opened

// both runs a test on each implementation of the store.
func both(t *testing.T, test func(t *testing.T, open opener)) {
	t.Run("folder", func(t *testing.T) { test(t, folder) })
	t.Run("engine", func(t *testing.T) { test(t, inEngine) })
}

func folder(t *testing.T, all ...codesearch.Repository) opened {
	o := codesearch.Options{Repositories: all, Folder: t.TempDir(), Now: now}
	return serve(t, o, func(src index.Source) (index.Report, error) {
		return index.Update(t.Context(), index.FileOf(o.Folder, src.Name), src, index.Options{Now: now})
	})
}

func inEngine(t *testing.T, all ...codesearch.Repository) opened {
	s, _ := open(t)
	return served(t, s, all...)
}

// open opens a store of its own in the engine.
func open(t *testing.T) (s *elastic.Store, prefix string) {
	t.Helper()
	address, prefix := engine.Address(t)
	return connect(t, address, prefix), prefix
}

func connect(t *testing.T, address, prefix string) *elastic.Store {
	t.Helper()
	s, err := elastic.Open(address, &elastic.Options{Prefix: prefix})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func served(t *testing.T, s *elastic.Store, all ...codesearch.Repository) opened {
	return serve(t, codesearch.Options{Repositories: all, Store: s}, func(src index.Source) (index.Report, error) {
		return s.Update(t.Context(), src, index.Options{Now: now})
	})
}

// serve indexes all repositories.
func serve(t *testing.T, o codesearch.Options, update func(index.Source) (index.Report, error)) opened {
	t.Helper()
	s := opened{Server: codesearch.New(o)}
	t.Cleanup(func() { _ = s.Close() })
	s.update = func(name string) (index.Report, error) {
		for _, r := range o.Repositories {
			if r.Name == name {
				return update(index.Source{Name: name, Root: r.Path})
			}
		}
		return index.Report{}, fmt.Errorf("no repository %s", name)
	}
	for _, r := range o.Repositories {
		if _, err := s.update(r.Name); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func now() time.Time { return time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC) }

// put writes a file that was changed long ago.
func put(t testing.TB, root, name, text string) {
	t.Helper()
	file, old := filepath.Join(root, name), now().Add(-time.Hour)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(file, old, old); err != nil {
		t.Fatal(err)
	}
}

// find searches what programs of this machine may see, and writes the answer.
func (o opened) find(t *testing.T, q codesearch.Query) string {
	t.Helper()
	return written(o.Find(t.Context(), codesearch.AnonymousScope(), q))
}

func written(results []codesearch.Result, err error) string {
	text, _ := json.MarshalIndent(results, "", " ")
	return fmt.Sprint(string(text), " ", err)
}

// source is a part of this repository.
func source(name string) codesearch.Repository {
	path, err := filepath.Abs("../" + name)
	if err != nil {
		panic(err)
	}
	return codesearch.Repository{Name: name, Path: path, Anonymous: true}
}

// filters of paths, good and bad ones.
var paths = []string{"", "query.go", "doc.go", "*.go", "*_test.go", "testdata", "testdata/*", "test*/fuzz", "/", "./index.go", "s*h.go", "[a-m]*", "[^a-m]*.go", "[", "a[", "?pen.go", "o\\pen.go", "*/*/*", "testdata/fuzz/*/*", "no+such", "sta(e", "**/*.go", "testdata/**", "**/fuzz/*", "**", "test**/fuzz", "{a,b}", "[r-s][ec]*.go", "."}

// TestStoresAnswerAlike: to the last byte, where the candidates are all that match. So no query has words that more chunks have than an engine returns.
func TestStoresAnswerAlike(t *testing.T) {
	all := []codesearch.Repository{source("query"), source("index"), source("words")}
	a, b := folder(t, all...), inEngine(t, all...)
	compared := 0
	compare := func(q codesearch.Query) {
		t.Helper()
		want, got := a.find(t, q), b.find(t, q)
		if want != got {
			t.Errorf("%+v:\n%s\nin the engine:\n%s", q, want, got)
		}
		if len(want) > 100 {
			compared++
		}
	}
	for _, text := range []string{"Search", "NewPlan", "index.Open", "how are chunks ranked?", "where is a word split into parts", "posting payload", "err", "these those", "zebra crossing", "unmarshal json of a file", "TestSignals", "wait group", "ErrVersion", "initialise configuration", "Plan.Rank", "func", "wait longer after a failure", "comma separated values", "split a word into stems", "an index of another version is not read by this program", `"is not a word" in an index`, "the weight from which one word alone may be the name of what is sought"} {
		compare(codesearch.Query{Text: text, Limit: 20, Explain: true})
	}
	for _, text := range []string{"Search", "posting payload", "how are chunks ranked?"} {
		compare(codesearch.Query{Text: text, Limit: 3, Repository: "index"})
		compare(codesearch.Query{Text: text, Limit: 20, Language: "gO"})
		compare(codesearch.Query{Text: text, Limit: 20, Language: "Text"})
	}
	for _, path := range paths {
		compare(codesearch.Query{Text: "index search words", Limit: 20, Path: path})
	}
	long := "how are chunks ranked?"
	for i := range 1300 {
		long += fmt.Sprintf(" w%c%c", 'a'+i/26%26, 'a'+i%26)
	}
	compare(codesearch.Query{Text: long, Limit: 20})
	if compared < 25 {
		t.Errorf("only %d answers had places", compared)
	}
}

// TestPagesAreOfOneRanking: in both stores the answer to a limit is the beginning of that to
// the greatest one.
func TestPagesAreOfOneRanking(t *testing.T) {
	both(t, func(t *testing.T, open opener) {
		s := open(t, source("query"), source("index"), source("endpoint"))
		search := func(text string, limit int) []codesearch.Result {
			all, err := s.Find(t.Context(), codesearch.AnonymousScope(), codesearch.Query{Text: text, Limit: limit})
			if err != nil {
				t.Fatal(err)
			}
			return all
		}
		for _, text := range []string{"Search", "where is a word split into parts", "err", "NewPlan", "json of a file"} {
			whole := search(text, query.MaxHits)
			for _, limit := range []int{1, 5, 7, 20, 40, 55, 80} {
				if got := search(text, limit); !slices.Equal(got, whole[:min(limit, len(whole))]) {
					t.Errorf("%s: the first %d are not those of %d", text, limit, len(whole))
				}
				first := limit / 2
				page, err := s.Find(t.Context(), codesearch.AnonymousScope(), codesearch.Query{Text: text, First: first, Limit: limit})
				if want := whole[min(first, len(whole)):min(limit, len(whole))]; err != nil || !slices.Equal(page, want) {
					t.Errorf("%s: %d places from %d to %d, not %d: %v", text, len(page), first, limit, len(want), err)
				}
			}
		}
	})
}
