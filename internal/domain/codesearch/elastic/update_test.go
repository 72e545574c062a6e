package elastic_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign.dev/internal/domain/codesearch"
	"countersign.dev/internal/domain/codesearch/elastic"
	"countersign.dev/internal/domain/codesearch/index"
	"countersign.dev/internal/testkit"
)

// TestUpdateWritesWhatChanged: a changed file is read again, a renamed one is not, and
// nothing else is; what is gone is not found any more.
func TestUpdateWritesWhatChanged(t *testing.T) {
	both(t, func(t *testing.T, open opener) {
		one := codesearch.Repository{Name: "one", Path: t.TempDir(), Anonymous: true}
		put(t, one.Path, "a.go", "package a\n\nfunc Alpha() {}\n")
		put(t, one.Path, "b.go", "package b\n\nfunc Beta() {}\n")
		put(t, one.Path, "c.md", "About gamma.\n")
		s := open(t, one)
		update := func(read, reused, lines int) {
			t.Helper()
			r, err := s.update("one")
			if err != nil || r.Read != read || r.Reused != reused || r.Lines != lines {
				t.Fatalf("read %d, reused %d, %d lines, %v; want %d, %d and %d", r.Read, r.Reused, r.Lines, err, read, reused, lines)
			}
		}
		found := func(text string) (places string) {
			t.Helper()
			all, err := s.Find(t.Context(), codesearch.AnonymousScope(), codesearch.Query{Text: text, Limit: 5})
			for _, r := range all {
				places += fmt.Sprintf("%s:%d %s ", r.FilePath, r.StartLine, r.Symbol)
			}
			return fmt.Sprint(places, err)
		}
		check := func(text, want string) {
			t.Helper()
			if got := found(text); got != want+"<nil>" {
				t.Errorf("%s: %s, not %s", text, got, want)
			}
		}
		update(0, 3, 7) // nothing changed
		check("Beta", "b.go:1 Beta ")
		if err := os.Rename(filepath.Join(one.Path, "b.go"), filepath.Join(one.Path, "b2.go")); err != nil {
			t.Fatal(err)
		}
		update(0, 3, 7)
		check("Beta", "b2.go:1 Beta ")
		put(t, one.Path, "a.go", "package a\n\nfunc Delta() {}\n\nvar more = 1\n")
		if err := os.Remove(filepath.Join(one.Path, "c.md")); err != nil {
			t.Fatal(err)
		}
		update(1, 1, 8)
		check("Delta", "a.go:1 Delta ")
		check("gamma", "")
		check("Alpha", "")
	})
}

// TestWordsAreCountedAfterChanges: an index that was changed, renamed and shortened weighs
// words as one that was made at once, which the explanations tell.
func TestWordsAreCountedAfterChanges(t *testing.T) {
	one := codesearch.Repository{Name: "one", Path: t.TempDir(), Anonymous: true}
	for i := range 6 {
		put(t, one.Path, fmt.Sprintf("f%d.go", i), fmt.Sprintf("package p\n\n// marker of token%d, tokenizer\nfunc Marker%d() {}\n", i, i))
	}
	s := inEngine(t, one)
	put(t, one.Path, "f1.go", "package p\n\n// another tokenist\nfunc Other() {}\n")
	if err := os.Remove(filepath.Join(one.Path, "f2.go")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(one.Path, "f3.go"), filepath.Join(one.Path, "g3.go")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.update("one"); err != nil {
		t.Fatal(err)
	}
	fresh := folder(t, one)
	for _, text := range []string{"marker", "tokens", "where is another token marked", "Other"} {
		q := codesearch.Query{Text: text, Limit: 20, Explain: true}
		if got, want := s.find(t, q), fresh.find(t, q); got != want || len(want) < 100 {
			t.Errorf("%s:\n%s\nmade at once:\n%s", text, got, want)
		}
	}
}

// TestTextsOfWhatIsShownAreRead: the ranking needs no texts, and one that it does not show
// is not fetched.
func TestTextsOfWhatIsShownAreRead(t *testing.T) {
	address, prefix := engine.Address(t)
	one := codesearch.Repository{Name: "one", Path: t.TempDir(), Anonymous: true}
	for i := range 9 {
		put(t, one.Path, fmt.Sprintf("f%d.go", i), fmt.Sprintf("package p\n\n// marker\nfunc Marker%d() {}\n", i))
	}
	proxy := testkit.NewProxy(t, host(t, address))
	s := served(t, connect(t, "http://"+proxy.Address(), prefix), one)
	var answers bytes.Buffer
	var mu sync.Mutex
	proxy.Filter(func(toServer bool, data []byte) bool {
		mu.Lock()
		defer mu.Unlock()
		if !toServer {
			answers.Write(data)
		}
		return true
	})
	if found := s.find(t, codesearch.Query{Text: "marker", Limit: 2}); !strings.Contains(found, "func Marker") {
		t.Error(found)
	}
	mu.Lock()
	defer mu.Unlock()
	if about, texts := strings.Count(answers.String(), `"about"`), strings.Count(answers.String(), `"_source":{"text"`); about < 9 || texts != 2 {
		t.Errorf("%d files and %d texts were read", about, texts)
	}
}

// TestSearchSeesOneIndex: while indexes replace each other, every answer is of one of
// them, and none fails.
func TestSearchSeesOneIndex(t *testing.T) {
	const files, rounds = 8, 4
	both(t, func(t *testing.T, open opener) {
		one := codesearch.Repository{Name: "one", Path: t.TempDir(), Anonymous: true}
		generation := func(n int) {
			for i := range files {
				put(t, one.Path, fmt.Sprintf("f%d.go", i), fmt.Sprintf("package p\n\n// marker of the generation%d\nvar x%d%s int\n", n, n, strings.Repeat("y", n)))
			}
		}
		generation(0)
		s := open(t, one)
		done := make(chan error, 1)
		ended, searched := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(done)
			for {
				found, err := s.Find(t.Context(), codesearch.AnonymousScope(), codesearch.Query{Text: "marker", Limit: 20})
				if err != nil || len(found) != files {
					done <- fmt.Errorf("%d places, %v", len(found), err)
					return
				}
				for _, r := range found {
					if r.Snippet != found[0].Snippet {
						done <- fmt.Errorf("of two indexes: %q and %q", r.Snippet, found[0].Snippet)
						return
					}
				}
				select {
				case <-ended:
					return
				case searched <- struct{}{}:
				default:
				}
			}
		}()
		for n := range rounds {
			generation(n + 1)
			if _, err := s.update("one"); err != nil {
				t.Error(err)
			}
			select { // a search between two updates, however slow either is
			case <-searched:
			case err := <-done:
				t.Fatal(err)
			}
		}
		close(ended)
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

const (
	killedAddress = "COUNTERSIGN_TEST_KILLED_ADDRESS"
	killedFolder  = "COUNTERSIGN_TEST_KILLED_FOLDER"
	killedPrefix  = "COUNTERSIGN_TEST_KILLED_PREFIX"
)

// indexUntilKilled is the process that TestKilledIndexingLeavesTheOldIndex kills.
func indexUntilKilled() {
	s, err := elastic.Open(os.Getenv(killedAddress), &elastic.Options{Prefix: os.Getenv(killedPrefix)})
	if err == nil {
		_, err = s.Update(context.Background(), index.Source{Name: "one", Root: os.Getenv(killedFolder)}, index.Options{})
	}
	fmt.Fprintln(os.Stderr, "it was not killed:", err)
}

// TestKilledIndexingLeavesTheOldIndex: a process is killed when it has begun to write.
// What it wrote is not searched, and removed when it is old.
func TestKilledIndexingLeavesTheOldIndex(t *testing.T) {
	address, prefix := engine.Address(t)
	one := codesearch.Repository{Name: "one", Path: t.TempDir(), Anonymous: true}
	put(t, one.Path, "a.go", "package a\n\nfunc Alpha() {}\n")
	s := served(t, connect(t, address, prefix), one)
	before := s.find(t, codesearch.Query{Text: "Alpha", Limit: 5})
	put(t, one.Path, "a.go", "package a\n\nfunc Omega() {}\n\nfunc Alpha() {}\n")

	proxy, writing := testkit.NewProxy(t, host(t, address)), make(chan struct{}, 1)
	proxy.Filter(func(toServer bool, data []byte) bool {
		if !toServer || !bytes.Contains(data, []byte("_bulk")) {
			return true
		}
		select {
		case writing <- struct{}{}:
		default:
		}
		return false
	})
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), killedAddress+"=http://"+proxy.Address(), killedFolder+"="+one.Path, killedPrefix+"="+prefix)
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-writing:
	case <-t.Context().Done():
	}
	_ = child.Process.Kill()
	if err := child.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("the process ended with %v", err)
	}
	if after := s.find(t, codesearch.Query{Text: "Alpha", Limit: 5}); after != before {
		t.Errorf("%s\nbefore:\n%s", after, before)
	}
	if n := len(indices(t, address, prefix)); n != 2 {
		t.Errorf("%d indices are there", n)
	}
	old := prefix + "one-" + strconv.FormatInt(time.Now().Add(-2*time.Hour).UnixNano(), 36)
	ask(t, http.MethodPut, address+"/"+old, `{}`)
	if _, err := s.update("one"); err != nil {
		t.Fatal(err)
	}
	left := indices(t, address, prefix)
	if _, there := left[old]; there || len(left) != 2 { // the killed one's is too young
		t.Errorf("these are left: %v", left)
	}
	if found := s.find(t, codesearch.Query{Text: "Omega", Limit: 5}); !strings.Contains(found, "a.go") {
		t.Error(found)
	}
}

// TestOtherVersionIsRefused with a sentence that says what to do, and built again.
func TestOtherVersionIsRefused(t *testing.T) {
	address, prefix := engine.Address(t)
	one := codesearch.Repository{Name: "one", Path: t.TempDir(), Anonymous: true}
	put(t, one.Path, "a.go", "package a\n\nfunc Alpha() {}\n")
	store := connect(t, address, prefix)
	s := served(t, store, one)
	for name := range indices(t, address, prefix) {
		ask(t, http.MethodPut, address+"/"+name+"/_mapping", `{"_meta": {"version": 99, "repository": {"name": "one", "chunks": 1}}}`)
	}
	other := served(t, connect(t, address, prefix)) // that has not looked yet
	if _, err := other.Find(t.Context(), codesearch.AnonymousScope(), codesearch.Query{Text: "Alpha", Limit: 5}); err == nil {
		t.Error("a server without repositories answers")
	}
	fresh := codesearch.New(codesearch.Options{Store: connect(t, address, prefix), Repositories: []codesearch.Repository{one}})
	_, err := fresh.Find(t.Context(), codesearch.AnonymousScope(), codesearch.Query{Text: "Alpha", Limit: 5})
	if err == nil || !strings.HasPrefix(err.Error(), "SEARCH_ERROR") || !strings.Contains(err.Error(), "version: 99") || !strings.Contains(err.Error(), "countersign index") {
		t.Errorf("another version: %v", err)
	}
	if r, err := s.update("one"); err != nil || r.Read != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	if found := s.find(t, codesearch.Query{Text: "Alpha", Limit: 5}); !strings.Contains(found, "a.go") {
		t.Error(found)
	}
}

func host(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.Host
}

// indices are those of a prefix.
func indices(t *testing.T, address, prefix string) (all map[string]json.RawMessage) {
	t.Helper()
	if err := json.Unmarshal(ask(t, http.MethodGet, address+"/"+prefix+"*", ""), &all); err != nil {
		t.Fatal(err)
	}
	return all
}

func ask(t *testing.T, method, address, body string) []byte {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	response, err := testkit.Client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	said, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode >= 300 {
		t.Fatalf("%s: %s, %v", response.Status, said, err)
	}
	return said
}
