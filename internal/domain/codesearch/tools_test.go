package codesearch_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/domain/codesearch"
	"countersign.dev/internal/domain/codesearch/embed"
	"countersign.dev/internal/domain/codesearch/index"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/testkit/domaintest"
)

// envelope is what the tools answer, as far as these tests look at it.
type envelope struct {
	Data     json.RawMessage
	Metadata struct {
		NextCursor string
		Hint       string
		TotalCount string
	}
}

// harness is a server with one repository, and an employee who asks it.
type harness struct {
	*testing.T
	h *domaintest.Harness
}

func newHarness(t *testing.T, service embed.Service) harness {
	root := t.TempDir()
	for i := range 12 {
		write(t, root, fmt.Sprintf("auth/token%02d.go", i), fmt.Sprintf("package auth\n\n// verify%d verifies a token.\nfunc verify%d(token string) bool {\n%s}\n", i, i, strings.Repeat("\tcheck(token)\n", 70)))
	}
	write(t, root, "web/token.js", "// verifies a token\nfunction verify(token) {\n}\n")
	s := codesearch.New(codesearch.Options{Folder: t.TempDir(), Repositories: []codesearch.Repository{{Name: "app", Path: root}}, Embeddings: service})
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Refresh(t.Context()); err != nil && !service.On() {
		t.Fatal(err)
	}
	return harness{t, domaintest.Open(t, "codesearch", s)}
}

// raw is the answer to a call.
func (d harness) raw(tool, format string, args ...any) string {
	d.Helper()
	return string(d.h.Encode(d.h.Call(testkit.As(d.T, "nina", "employee"), tool, json.RawMessage(fmt.Sprintf(format, args...)))))
}

func (d harness) ask(tool, format string, args ...any) (e envelope) {
	d.Helper()
	encoded := d.raw(tool, format, args...)
	if err := json.Unmarshal([]byte(encoded), &e); err != nil || len(e.Data) == 0 {
		d.Fatalf("%s: %v: %s", tool, err, encoded)
	}
	return e
}

// search returns the rows of search_code.
func (d harness) search(format string, args ...any) (rows []codesearch.Match, e envelope) {
	d.Helper()
	e = d.ask("search_code", format, args...)
	if err := json.Unmarshal(e.Data, &rows); err != nil {
		d.Fatal(err)
	}
	return rows, e
}

// TestBudgetShortensSnippets, and an explanation is there when it is asked for.
func TestBudgetShortensSnippets(t *testing.T) {
	d := newHarness(t, embed.Service{})
	long, _ := d.search(`{"query":"verify7","limit":1}`)
	short, _ := d.search(`{"query":"verify7","limit":1,"max_tokens":200,"explain":true}`)
	if long[0].FilePath != "auth/token07.go" || len(short[0].Snippet) >= len(long[0].Snippet) || short[0].Why == nil || long[0].Why != nil {
		t.Errorf("%d and %d characters, %v and %v", len(long[0].Snippet), len(short[0].Snippet), long[0].Why, short[0].Why)
	}
}

// TestBudgetEndsThePage: what has no room is on the next one, and nothing is lost.
func TestBudgetEndsThePage(t *testing.T) {
	d := newHarness(t, embed.Service{})
	whole, _ := d.search(`{"query":"verifies a token","limit":20,"max_tokens":20000}`)
	var all []string
	cursor := ""
	for pages := 1; ; pages++ {
		rows, e := d.search(`{"query":"verifies a token","limit":20,"max_tokens":600%s}`, cursor)
		if size := len(e.Data) / 4; size > 600 || len(rows) < 2 && e.Metadata.NextCursor != "" {
			t.Errorf("page %d has %d places and %d tokens", pages, len(rows), size)
		}
		for _, r := range rows {
			all = append(all, r.URI)
		}
		if e.Metadata.NextCursor == "" || pages > len(whole) {
			break
		}
		cursor = `,"cursor":"` + e.Metadata.NextCursor + `"`
	}
	if len(all) != len(whole) || len(whole) < 12 {
		t.Errorf("%d places page by page, %d at once", len(all), len(whole))
	}
	for i, r := range whole {
		if i < len(all) && all[i] != r.URI {
			t.Errorf("place %d is %s, not %s", i, all[i], r.URI)
		}
	}
}

// TestEmbeddingsAwayIsANote: a service that does not answer makes no call fail.
func TestEmbeddingsAwayIsANote(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	d := newHarness(t, embed.Service{BaseURL: gone.URL + "/v1", Model: "small"})
	rows, e := d.search(`{"query":"verify7"}`)
	if len(rows) == 0 || rows[0].FilePath != "auth/token07.go" || !strings.Contains(e.Metadata.Hint, embed.NoteDown) {
		t.Errorf("%d places, hint %q", len(rows), e.Metadata.Hint)
	}
}

// TestFailingEmbeddingsAreLoggedOnce: until the service has answered again, as a warning.
func TestFailingEmbeddingsAreLoggedOnce(t *testing.T) {
	fails := true
	var logs testkit.Logs
	clock := time.Now()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if fails {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		_, _ = w.Write([]byte(`{"data":[{"index":0,"embedding":[1,2]}]}`))
	}))
	t.Cleanup(service.Close)
	o := two(t)
	o.Embeddings, o.Now = embed.Service{BaseURL: service.URL + "/v1", Model: "small"}, func() time.Time { return clock }
	s, d := served(t, o)
	s.Run(t.Context(), slog.New(slog.NewTextHandler(&logs, nil)))
	for _, fails = range []bool{true, true, false, true, true} {
		clock = clock.Add(time.Minute)
		d.search(`{"query":"seal"}`)
	}
	if text := logs.String(); strings.Count(text, "level=WARN") != 2 || strings.Count(text, "embeddings") < 2 || !strings.Contains(text, "502") {
		t.Errorf("two failures began; logged:\n%s", text)
	}
}

// TestCheckSaysWhyAnIndexIsNotRead: for operators with the repository's name, for everyone
// without.
func TestCheckSaysWhyAnIndexIsNotRead(t *testing.T) {
	o := two(t)
	file := index.FileOf(o.Folder, "indexed")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text[4]++ // the version
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	s, _ := served(t, o)
	if err := s.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "another version") || !strings.Contains(err.Error(), "countersign index") || strings.Contains(err.Error(), "indexed:") {
		t.Errorf("got %v", err)
	}
	indexInto(t, o, o.Repositories[1], time.Now())
	if said, err := s.Check(t.Context()); err != nil || !strings.HasPrefix(said, "1 of 2 repositories are indexed; the index of indexed cannot be read: the index has another version") {
		t.Errorf("got %q, %v", said, err)
	}
}

// TestIndexThatIsNotReadIsOneAnswer: both tools say of the only index whether it is absent or
// cannot be read, and name no folder of the server.
func TestIndexThatIsNotReadIsOneAnswer(t *testing.T) {
	change := func(at int) func(file string, text []byte) error {
		return func(file string, text []byte) error {
			text[(at+len(text))%len(text)]++
			return os.WriteFile(file, text, 0o600)
		}
	}
	for want, spoil := range map[string]func(file string, text []byte) error{
		"The index of later is not there yet.":                                func(file string, _ []byte) error { return os.Remove(file) },
		"The index of later cannot be read: the index file is damaged: build": change(-1),
		"The index of later cannot be read: the index file is damaged":        change(0),
		"The index of later cannot be read: the index has another version":    change(4),
		"The index of later cannot be read.": func(file string, _ []byte) error {
			return errors.Join(os.Remove(file), os.MkdirAll(file+"/more", 0o700))
		},
	} {
		o := two(t)
		o.Repositories = o.Repositories[1:]
		indexInto(t, o, o.Repositories[0], time.Now())
		file := index.FileOf(o.Folder, "later")
		text, err := os.ReadFile(file)
		if err := errors.Join(err, spoil(file, text)); err != nil {
			t.Fatal(err)
		}
		_, d := served(t, o)
		for tool, in := range map[string]string{"search_code": `{"query":"seal"}`, "get_file_lines": `{"repository":"later","file_path":"seal0.go"}`} {
			if got := d.raw(tool, "%s", in); !strings.Contains(got, "SEARCH_ERROR") || !strings.Contains(got, want) || strings.Contains(got, o.Folder) {
				t.Errorf("%s answers %s, not %q", tool, got, want)
			}
		}
	}
}

// TestOneIndexThatIsNotReadIsSaid: the places of the others are there, and which kind of
// repository was not searched.
func TestOneIndexThatIsNotReadIsSaid(t *testing.T) {
	o := two(t)
	file := index.FileOf(o.Folder, "later")
	if err := os.WriteFile(file, make([]byte, 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	_, d := served(t, o)
	if rows, e := d.search(`{"query":"seal"}`); len(rows) == 0 || !strings.Contains(e.Metadata.Hint, "1 more repository has an index that cannot be read and was not searched.") || strings.Contains(e.Metadata.Hint, "not indexed yet") {
		t.Errorf("%d places, %q", len(rows), e.Metadata.Hint)
	}
}

// TestIndexThatCannotBeTakenOverIsLoggedOnce: the one before is searched on, with a warning for operators.
func TestIndexThatCannotBeTakenOverIsLoggedOnce(t *testing.T) {
	var logs testkit.Logs
	o := two(t)
	s, d := served(t, o)
	s.Run(t.Context(), slog.New(slog.NewTextHandler(&logs, nil)))
	before, _ := d.search(`{"query":"seal"}`)
	file := index.FileOf(o.Folder, "indexed")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	text[4]++ // the version
	if err := errors.Join(os.WriteFile(file+".new", text, 0o600), os.Rename(file+".new", file)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if rows, _ := d.search(`{"query":"seal"}`); len(rows) == 0 || len(rows) != len(before) {
			t.Errorf("%d places, before %d", len(rows), len(before))
		}
	}
	if text := logs.String(); strings.Count(text, "level=WARN") != 1 || !strings.Contains(text, "repository=indexed") || !strings.Contains(text, "another version") {
		t.Errorf("logged:\n%s", text)
	}
}
