package embed_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign.dev/internal/domain/codesearch/embed"
	"countersign.dev/internal/domain/codesearch/index"
	"countersign.dev/internal/domain/codesearch/query"
)

// service makes vectors of meanings: a text is what words of each meaning it has.
type service struct {
	*httptest.Server

	mu      sync.Mutex
	batches []int // sizes
	fail    bool
	hang    bool
	cut     bool // vectors are shorter than they were
	few     bool // there are fewer of them than texts
	auth    string
}

var meanings = [][]string{{"login", "authenticate", "sign in"}, {"draw", "paint"}, {"sort", "order"}}

func newService(t *testing.T) *service {
	s := &service{}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

func (s *service) serve(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Model string
		Input []string
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || r.URL.Path != "/v1/embeddings" || asked.Model != "small" {
		http.Error(w, "no", http.StatusBadRequest)
		return
	}
	if slices.ContainsFunc(asked.Input, func(text string) bool { return len(text) > 7000 || strings.Contains(text, "unspeakable") }) {
		http.Error(w, "no", http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.batches, s.auth = append(s.batches, len(asked.Input)), r.Header.Get("Authorization")
	fail, hang, cut, few := s.fail, s.hang, s.cut, s.few
	s.mu.Unlock()
	switch {
	case hang:
		<-r.Context().Done()
	case fail:
		http.Error(w, "no", http.StatusServiceUnavailable)
	case few:
		_ = json.NewEncoder(w).Encode(map[string]any{"data": embedded(asked.Input)[1:]})
	case cut:
		_ = json.NewEncoder(w).Encode(map[string]any{"data": []map[string]any{{"index": 0, "embedding": []float32{1}}}})
	default:
		_ = json.NewEncoder(w).Encode(map[string]any{"data": embedded(asked.Input)})
	}
}

func embedded(texts []string) (data []map[string]any) {
	for i := len(texts) - 1; i >= 0; i-- { // an answer need not be in order
		v := make([]float32, len(meanings)+1)
		v[len(meanings)] = 0.1
		for j, words := range meanings {
			for _, word := range words {
				v[j] += float32(strings.Count(strings.ToLower(texts[i]), word))
			}
		}
		data = append(data, map[string]any{"index": i, "embedding": v})
	}
	return data
}

func (s *service) service() embed.Service {
	return embed.Service{BaseURL: s.URL + "/v1", Model: "small", APIKey: "secret"}
}

// asked returns the sizes of the batches since the last call.
func (s *service) asked() []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.batches
	s.batches = nil
	return all
}

func (s *service) set(fail, hang bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail, s.hang = fail, hang
}

// folder is a repository and its index.
type folder struct{ root, file string }

func newFolder(t *testing.T, files map[string]string) folder {
	f := folder{t.TempDir(), filepath.Join(t.TempDir(), "x.csx")}
	for name, text := range files {
		f.write(t, name, text)
	}
	f.index(t)
	return f
}

func (f folder) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(f.root, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (f folder) index(t *testing.T) {
	t.Helper()
	if _, err := index.Update(t.Context(), f.file, index.Source{Name: "x", Root: f.root}, index.Options{}); err != nil {
		t.Fatal(err)
	}
}

// search returns the files that are found by words and embeddings.
func (f folder) search(t *testing.T, s *embed.Searcher, r query.Request) (files []string, note string) {
	t.Helper()
	ix, err := index.Open(f.file)
	if err != nil {
		t.Fatal(err)
	}
	defer ix.Close()
	r.Limit = 5
	shard := query.Shard{Repository: "x", Index: ix}
	hits, note := s.Fuse(t.Context(), []embed.Shard{{Shard: shard, File: f.file}}, r, query.Search([]query.Shard{shard}, embed.Words(r)))
	for _, h := range hits {
		if h.Score <= 0 || h.Score > 1 {
			t.Errorf("a score of %v", h.Score)
		}
		files = append(files, ix.Files[ix.Chunks[h.Chunk].File].Path)
	}
	return files, note
}

func update(t *testing.T, s *service, f folder) embed.Report {
	t.Helper()
	report, err := embed.Update(t.Context(), s.service(), f.file, nil)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

var sample = map[string]string{
	"a.go": "package a\n\nfunc login() {}\n",
	"b.py": "def paint():\n    pass\n",
	"c.go": "package c\n\nfunc door() { /* authenticate */ }\n",
}

// TestMeaningIsFound: places without a word of the query are found, filters hold for
// them, and what both rankings have is first.
func TestMeaningIsFound(t *testing.T) {
	s, f := newService(t), newFolder(t, sample)
	searcher := &embed.Searcher{Service: s.service()}
	if files, note := f.search(t, searcher, query.Request{Text: "where do people sign in to the door"}); !cmp.Equal(files, []string{"c.go"}) || note != embed.NoteMissing {
		t.Errorf("before there are vectors: %v %q", files, note)
	}
	update(t, s, f)
	if files, note := f.search(t, searcher, query.Request{Text: "where do people sign in to the door"}); !cmp.Equal(files[:2], []string{"c.go", "a.go"}) || note != "" {
		t.Errorf("%v %q", files, note)
	}
	if files, _ := f.search(t, searcher, query.Request{Text: "sign in", Language: "python"}); !cmp.Equal(files, []string{"b.py"}) {
		t.Errorf("in Python: %v", files)
	}
	if s.auth != "Bearer secret" {
		t.Errorf("authorization %q", s.auth)
	}
}

// TestServiceDownLeavesWords: a service that fails or hangs is a note, and is not
// asked again for a while.
func TestServiceDownLeavesWords(t *testing.T) {
	s, f := newService(t), newFolder(t, sample)
	update(t, s, f)
	s.asked()
	clock := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	searcher := &embed.Searcher{Service: s.service(), Now: func() time.Time { return clock }}
	for _, hang := range []bool{false, true} {
		s.set(true, hang)
		searcher.Limit = time.Minute
		if hang {
			searcher.Limit = time.Millisecond
		}
		for range 3 {
			if files, note := f.search(t, searcher, query.Request{Text: "sign in at the door"}); !cmp.Equal(files, []string{"c.go"}) || note != embed.NoteDown {
				t.Errorf("hanging %v: %v %q", hang, files, note)
			}
		}
		if n := len(s.asked()); n != 1 && !hang || n > 1 {
			t.Errorf("hanging %v: it was asked %d times", hang, n)
		}
		clock = clock.Add(time.Minute)
	}
	s.set(false, false)
	searcher.Limit = time.Minute
	if files, note := f.search(t, searcher, query.Request{Text: "sign in at the door"}); len(files) < 2 || note != "" {
		t.Errorf("after the pause: %v %q", files, note)
	}
}

// TestRefusedTextLeavesWords for that search alone: a service that answers is asked for others' searches.
// No more of a text is sent than of a chunk.
func TestRefusedTextLeavesWords(t *testing.T) {
	s, f := newService(t), newFolder(t, sample)
	update(t, s, f)
	searcher := &embed.Searcher{Service: s.service(), Limit: time.Minute}
	if files, note := f.search(t, searcher, query.Request{Text: "unspeakable door"}); !cmp.Equal(files, []string{"c.go"}) || note != embed.NoteDown {
		t.Errorf("refused: %v %q", files, note)
	}
	for _, text := range []string{"sign in at the door", "sign in at the door" + strings.Repeat(" ü", 5000)} {
		if files, note := f.search(t, searcher, query.Request{Text: text}); len(files) < 2 || note != "" {
			t.Errorf("%.30q: %v %q", text, files, note)
		}
	}
}

// TestShortAnswersLeaveWords: too few vectors, or shorter ones than the code has, are a
// note.
func TestShortAnswersLeaveWords(t *testing.T) {
	s, f := newService(t), newFolder(t, sample)
	update(t, s, f)
	for note, set := range map[string]*bool{embed.NoteDown: &s.few, embed.NoteMissing: &s.cut} {
		s.mu.Lock()
		*set = true
		s.mu.Unlock()
		if files, got := f.search(t, &embed.Searcher{Service: s.service(), Limit: time.Minute}, query.Request{Text: "sign in at the door"}); !cmp.Equal(files, []string{"c.go"}) || got != note {
			t.Errorf("%q: %v %q", note, files, got)
		}
		s.mu.Lock()
		*set = false
		s.mu.Unlock()
	}
}

// TestVectorsAreKeptByContent: only texts that are new are sent, in batches, each
// once; a run that fails keeps what it has.
func TestVectorsAreKeptByContent(t *testing.T) {
	files := map[string]string{}
	for i := range 150 {
		files[fmt.Sprintf("f%03d.go", i)] = fmt.Sprintf("package a\n\nfunc F%d() {}\n", i)
	}
	files["copy.go"] = files["f000.go"]
	s, f := newService(t), newFolder(t, files)
	if report := update(t, s, f); report.Made != 151 || !cmp.Equal(s.asked(), []int{64, 64, 22}) {
		t.Errorf("at first: %+v", report)
	}
	if err := os.Rename(filepath.Join(f.root, "f001.go"), filepath.Join(f.root, "renamed.go")); err != nil {
		t.Fatal(err)
	}
	f.index(t)
	if report := update(t, s, f); report.Made != 0 || len(s.asked()) != 0 {
		t.Errorf("after renaming: %+v", report)
	}
	f.write(t, "f002.go", "package a\n\nfunc Changed() {}\n")
	f.index(t)
	if report := update(t, s, f); report.Made != 1 || !cmp.Equal(s.asked(), []int{1}) {
		t.Errorf("after a change: %+v", report)
	}
	f.write(t, "f003.go", "package a\n\nfunc ChangedToo() {}\n")
	f.index(t)
	s.set(true, false)
	if report, err := embed.Update(t.Context(), s.service(), f.file, nil); err == nil || report.Kept != 150 {
		t.Errorf("with a service that fails: %+v, %v", report, err)
	}
	s.set(false, false)
	s.asked()
	if report := update(t, s, f); report.Made != 1 {
		t.Errorf("after it came back: %+v", report)
	}
}

// TestDamagedVectorsAreMadeAgain, and never used.
func TestDamagedVectorsAreMadeAgain(t *testing.T) {
	s, f := newService(t), newFolder(t, sample)
	update(t, s, f)
	name := f.file + ".vectors"
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for i := range whole {
		damaged := append([]byte(nil), whole...)
		damaged[i] ^= 0x55
		if err := os.WriteFile(name, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, note := f.search(t, &embed.Searcher{Service: s.service()}, query.Request{Text: "sign in"}); note != embed.NoteMissing {
			t.Fatalf("byte %d: %q", i, note)
		}
	}
	if report := update(t, s, f); report.Made != report.Chunks {
		t.Errorf("%+v", report)
	}
}

// TestVectorsAreLoadedAgainWhereTheFileIsTheSame: a file system may give a new file the
// number of the one that it replaced.
func TestVectorsAreLoadedAgainWhereTheFileIsTheSame(t *testing.T) {
	s, f := newService(t), newFolder(t, map[string]string{"a.go": sample["a.go"]})
	update(t, s, f)
	name := f.file + ".vectors"
	before := read(t, name)
	f.write(t, "a.go", "package a\n\nfunc paint() {}\n")
	f.index(t)
	update(t, s, f)
	now := read(t, name)
	searcher := &embed.Searcher{Service: s.service()}
	began := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	for i, c := range []struct {
		vectors []byte
		note    string
	}{{before, embed.NoteMissing}, {now, ""}} {
		at := began.Add(time.Duration(i) * time.Second)
		if err := errors.Join(os.WriteFile(name, c.vectors, 0o600), os.Chtimes(name, at, at)); err != nil {
			t.Fatal(err)
		}
		if _, note := f.search(t, searcher, query.Request{Text: "draw"}); note != c.note {
			t.Errorf("vectors %d: %q", i, note)
		}
	}
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
