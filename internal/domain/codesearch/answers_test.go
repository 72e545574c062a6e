package codesearch_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/domain/codesearch"
	"countersign.dev/internal/domain/codesearch/endpoint"
	"countersign.dev/internal/domain/codesearch/index"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/testkit/domaintest"
)

// indexInto indexes a repository for a server with these options, at a time.
func indexInto(t *testing.T, o codesearch.Options, r codesearch.Repository, at time.Time) {
	t.Helper()
	if _, err := index.Update(t.Context(), index.FileOf(o.Folder, r.Name), index.Source{Name: r.Name, Root: r.Path}, index.Options{Now: func() time.Time { return at }}); err != nil {
		t.Fatal(err)
	}
}

// two are the options of a server with two repositories, of which one is indexed.
func two(t *testing.T) codesearch.Options {
	t.Helper()
	o := codesearch.Options{Folder: t.TempDir()}
	for _, name := range []string{"indexed", "later"} {
		root := t.TempDir()
		for i := range 3 {
			write(t, root, fmt.Sprintf("seal%d.go", i), "package seal\n\ntype Box struct{}\n\n// Seal seals a cursor.\nfunc (b *Box) Seal(cursor string) string {\n"+strings.Repeat("\tb.round(cursor, \"größe\")\n", 60)+"\treturn cursor\n}\n")
		}
		o.Repositories = append(o.Repositories, codesearch.Repository{Name: name, Path: root})
	}
	indexInto(t, o, o.Repositories[0], time.Now())
	return o
}

func served(t *testing.T, o codesearch.Options) (*codesearch.Server, harness) {
	s := codesearch.New(o)
	t.Cleanup(func() { _ = s.Close() })
	return s, harness{t, domaintest.Open(t, "codesearch", s)}
}

// TestHintsNameWhatIsMissing: repositories without an index, and an index that is
// another one than that of the page before.
func TestHintsNameWhatIsMissing(t *testing.T) {
	o := two(t)
	_, d := served(t, o)
	_, e := d.search(`{"query":"seal a cursor","limit":1}`)
	if !strings.Contains(e.Metadata.Hint, "1 more repository is not indexed yet and was not searched.") {
		t.Errorf("the other repository has no index: %q", e.Metadata.Hint)
	}
	next := `{"query":"seal a cursor","limit":1,"cursor":"` + e.Metadata.NextCursor + `"}`
	if _, e := d.search("%s", next); strings.Contains(e.Metadata.Hint, "has changed") {
		t.Errorf("the index is the same: %q", e.Metadata.Hint)
	}
	indexInto(t, o, o.Repositories[0], time.Now().Add(time.Minute))
	if _, e := d.search("%s", next); !strings.Contains(e.Metadata.Hint, "has changed since the page before") {
		t.Errorf("the index is another one: %q", e.Metadata.Hint)
	}
}

// TestNoMatchNamesWhatWasSearched: of what is indexed, the commit and the time.
func TestNoMatchNamesWhatWasSearched(t *testing.T) {
	o := two(t)
	write(t, o.Repositories[0].Path, ".git/HEAD", strings.Repeat("5", 40)+"\n")
	at := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	indexInto(t, o, o.Repositories[0], at)
	s, d := served(t, o)
	rows, e := d.search(`{"query":"zebra crossing"}`)
	want := "Nothing matches in indexed (indexed 2026-11-22 12:00 UTC at commit 555555555555). 1 more repository is not indexed yet and was not searched."
	if len(rows) > 0 || e.Metadata.Hint != want {
		t.Errorf("%d places, %q, not %q", len(rows), e.Metadata.Hint, want)
	}
	nina := testkit.As(t, "nina", "employee")
	handler := s.Endpoint(endpoint.Options{Loopback: true, Enter: func(_ http.ResponseWriter, r *http.Request) (*http.Request, error) { return r.WithContext(nina), nil }})
	r := httptest.NewRequest(http.MethodPost, "/mcp/search", strings.NewReader(`{"query":"zebra crossing"}`))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	var answer struct{ Note string }
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || answer.Note != want {
		t.Errorf("the endpoint's note is %q, %v: %s", answer.Note, err, w.Body)
	}
	for i := range 4 {
		r := codesearch.Repository{Name: fmt.Sprint("more", i), Path: t.TempDir()}
		o.Repositories = append(o.Repositories, r)
		indexInto(t, o, r, at)
	}
	_, d = served(t, o)
	if _, e := d.search(`{"query":"zebra crossing"}`); !strings.Contains(e.Metadata.Hint, "more1 (indexed 2026-11-22 12:00 UTC), 2 more. 1 more") {
		t.Errorf("of five: %q", e.Metadata.Hint)
	}
}

// TestSnippetsAreWholeLines, or whole letters of one, with the type that a method belongs
// to, and a link where a remote is known.
func TestSnippetsAreWholeLines(t *testing.T) {
	o := two(t)
	o.Repositories[0].Anonymous = true
	s, d := served(t, o)
	rows, _ := d.search(`{"query":"Box.Seal","limit":5,"max_tokens":400}`)
	cut := 0
	for _, r := range rows {
		if r.Symbol != "Box.Seal" && r.Symbol != "Box" || r.Metadata.GitHubURL != "" {
			t.Errorf("%s, %q", r.Symbol, r.Metadata.GitHubURL)
		}
		text, err := os.ReadFile(filepath.Join(o.Repositories[0].Path, r.FilePath))
		if err != nil {
			t.Fatal(err)
		}
		if lines := strings.SplitAfter(string(text), "\n")[cmp.Or(r.First, r.StartLine)-1:]; !strings.HasPrefix(strings.Join(lines, ""), r.Snippet+"\n") {
			t.Errorf("it begins at another line than it says, or ends within one: %+v", r)
		}
		if strings.Count(r.Snippet, "\n") < r.EndLine-r.StartLine {
			cut++
		}
	}
	if cut == 0 {
		t.Errorf("nothing of %d places was cut: it proves nothing", len(rows))
	}
	old := strings.Repeat("\tsetting = 1; /* \xef\xf0\xee\xe2\xe5\xf0\xea\xe0 \xef\xe0\xf0\xee\xeb\xff */ other = compute(setting)\n", 28) // in CP1251
	write(t, o.Repositories[0].Path, "old.c", old)
	indexInto(t, o, o.Repositories[0], time.Now())
	if found, err := s.Find(t.Context(), codesearch.AnonymousScope(), codesearch.Query{Text: "compute setting", Path: "old.c", Limit: 1}); err != nil || len(found) == 0 || !strings.HasSuffix(found[0].Snippet, "compute(setting)") || len(found[0].Snippet) < 1000 {
		t.Errorf("a text that is not UTF-8 is cut within a line: %v, %+v", err, found)
	}
	write(t, o.Repositories[0].Path, "line.txt", "unbroken "+strings.Repeat("ö", 2*codesearch.DefaultSnippet)+".")
	indexInto(t, o, o.Repositories[0], time.Now())
	for _, tokens := range []int{400, 401, 4000} {
		rows, _ := d.search(`{"query":"line.txt unbroken","path":"line.txt","max_tokens":%d}`, tokens)
		if len(rows) != 1 || rows[0].Metadata.GitHubURL != "" || strings.Contains(rows[0].Snippet, "\uFFFD") || strings.HasSuffix(rows[0].Snippet, ".") {
			t.Errorf("%d tokens, no remote is known: %+v", tokens, rows)
		}
	}
}

// TestSnippetsHaveWhatAnswers: of a place that is longer than its snippet the part that
// answers best is shown, and not what is before it.
func TestSnippetsHaveWhatAnswers(t *testing.T) {
	o := two(t)
	before := "// Wobble grinds the beans.\nfunc Wobble() {\n" + strings.Repeat("\t_ = \"the beans are ground to a fine powder\"\n", 35) + "}\n\n"
	write(t, o.Repositories[0].Path, "mill.go", "package mill\n\n"+before+"// Frobnicate brews the ground beans.\nfunc Frobnicate() {\n\tbrew()\n}\n")
	indexInto(t, o, o.Repositories[0], time.Now())
	_, d := served(t, o)
	for tokens, first := range map[int]int{400: 42, 4000: 0} {
		rows, _ := d.search(`{"query":"how does frobnicate brew ground beans?","path":"mill.go","limit":1,"max_tokens":%d}`, tokens)
		if len(rows) != 1 || rows[0].StartLine > 4 || rows[0].EndLine != 45 || rows[0].First != first || !strings.Contains(rows[0].Snippet, "func Frobnicate") {
			t.Errorf("%d tokens: %+v", tokens, rows)
		}
	}
}

// TestSnippetMovesWithinAChunk to the definition that a query names, or to the line with
// most of its words, where it would be cut off, and the symbol is that definition.
func TestSnippetMovesWithinAChunk(t *testing.T) {
	o := two(t)
	o.Repositories[0].Anonymous = true
	var limits, steps strings.Builder
	for i := range 70 {
		fmt.Fprintf(&limits, "\tOther%cLimit = %d // of beans that are ground at once\n", 'A'+i%26, i)
		fmt.Fprintf(&steps, "\tgrind(beans, %d, \"to a fine powder\")\n", i)
	}
	write(t, o.Repositories[0].Path, "limits.go", "package mill\n\nconst (\n"+limits.String()+"\tFrobnicateLimit = 9\n)\n")
	write(t, o.Repositories[0].Path, "steps.go", "package mill\n\nfunc grindAll() {\n"+steps.String()+"\tcross(zebra, beans)\n}\n")
	indexInto(t, o, o.Repositories[0], time.Now())
	s, _ := served(t, o)
	for _, c := range []struct {
		query, file, shown, symbol string
		first                      int
	}{
		{"FrobnicateLimit", "limits.go", "FrobnicateLimit = 9", "FrobnicateLimit", 71},
		{"the limit of frobnicate", "limits.go", "FrobnicateLimit = 9", "FrobnicateLimit", 71},
		{"where does a zebra cross beans", "steps.go", "cross(zebra, beans)", "grindAll", 71},
		{"grindAll", "steps.go", "func grindAll", "grindAll", 0},
		{"limit of beans", "limits.go", "OtherALimit", "OtherALimit", 0},
	} {
		rows, err := s.Find(t.Context(), codesearch.AnonymousScope(), codesearch.Query{Text: c.query, Path: c.file, Limit: 1, Snippet: 800})
		if err != nil || len(rows) != 1 || rows[0].First != c.first || rows[0].Symbol != c.symbol || !strings.Contains(rows[0].Snippet, c.shown) {
			t.Errorf("%s: %v, %+v", c.query, err, rows)
		}
	}
}

// commitAll makes a folder a repository of one commit, with a remote.
func commitAll(t *testing.T, root, origin string) {
	t.Helper()
	testkit.Git(t, root, "init", "--quiet")
	testkit.Git(t, root, "remote", "add", "origin", origin)
	testkit.Git(t, root, "add", ".")
	testkit.Git(t, root, "commit", "--quiet", "--message=one")
}

// TestLinksAreToLinesOfTheCommit: what is not in it as it was indexed says so, and has no
// link; a part of a repository has its path there.
func TestLinksAreToLinesOfTheCommit(t *testing.T) {
	o := two(t)
	root := o.Repositories[0].Path
	write(t, root, "part/a file.go", "package part\n\nfunc Frobnicate() {}\n")
	commitAll(t, root, "https://nina:secret@github.com/a/b.git")
	o.Repositories = append(o.Repositories, codesearch.Repository{Name: "part", Path: filepath.Join(root, "part")})
	_, d := served(t, o)
	place := func(repository, file string) codesearch.Metadata {
		t.Helper()
		for _, r := range o.Repositories {
			if r.Name == repository {
				indexInto(t, o, r, time.Now())
			}
		}
		found, _ := d.search(`{"query":"Frobnicate","repository":%q,"limit":1}`, repository)
		var lines codesearch.FileLines
		if err := json.Unmarshal(d.ask("get_file_lines", `{"repository":%q,"file_path":%q}`, repository, file).Data, &lines); err != nil || len(found) != 1 || found[0].FilePath != file {
			t.Fatalf("%v, %+v", err, found)
		}
		if found[0].Metadata != lines.Metadata {
			t.Errorf("search_code says %+v, get_file_lines %+v", found[0].Metadata, lines.Metadata)
		}
		return lines.Metadata
	}
	for repository, file := range map[string]string{"indexed": "part/a file.go", "part": "a file.go"} {
		got := place(repository, file)
		if want := "https://github.com/a/b/blob/" + got.Commit + "/part/a%20file.go#L1-L3"; got.GitHubURL != want || got.Modified || len(got.Commit) != 40 {
			t.Errorf("%s: %+v, not %s", repository, got, want)
		}
	}
	write(t, root, "part/a file.go", "package part\n\n// It is new.\nfunc Frobnicate() {}\n")
	for repository, file := range map[string]string{"indexed": "part/a file.go", "part": "a file.go"} {
		if got := place(repository, file); got.GitHubURL != "" || !got.Modified || len(got.Commit) != 40 {
			t.Errorf("%s, changed: %+v", repository, got)
		}
	}
}

// TestLinksHaveTheFormOfTheirHost: of well-known ones, and of those that the operator names. Others have none.
func TestLinksHaveTheFormOfTheirHost(t *testing.T) {
	o := two(t)
	root := o.Repositories[0].Path
	write(t, root, "c++/a&b.go", "package a\n\nfunc Frobnicate() {}\n")
	commitAll(t, root, "https://example.com/a/b.git")
	o.Links = map[string]string{
		"git.example.com": "https://code.example.com:8443/projects/{group}/repos/{name}/browse?path={path}&at={commit}#{first}-{last}",
		"github.com":      "https://mirror.example.com/{name}/{commit}/{path}#{first}",
	}
	_, d := served(t, o)
	for remote, want := range map[string]string{
		"git@gitlab.com:one/two/b.git":              "https://gitlab.com/one/two/b/-/blob/COMMIT/c%2B%2B/a%26b.go#L1-3",
		"https://nina@bitbucket.org/a/b":            "https://bitbucket.org/a/b/src/COMMIT/c%2B%2B/a%26b.go#lines-1:3",
		"ssh://git@codeberg.org/a/b.git":            "https://codeberg.org/a/b/src/commit/COMMIT/c%2B%2B/a%26b.go#L1-L3",
		"ssh://git@git.example.com:7999/TEAM/b.git": "https://code.example.com:8443/projects/TEAM/repos/b/browse?path=c%2B%2B/a%26b.go&at=COMMIT#1-3",
		"https://github.com/a/b":                    "https://mirror.example.com/b/COMMIT/c%2B%2B/a%26b.go#1",
		"https://other.example.com/a/b":             "",
	} {
		testkit.Git(t, root, "remote", "set-url", "origin", remote)
		indexInto(t, o, o.Repositories[0], time.Now())
		found, _ := d.search(`{"query":"Frobnicate","repository":"indexed","limit":1}`)
		if len(found) != 1 {
			t.Fatalf("%s: %+v", remote, found)
		}
		got := found[0].Metadata
		if want = strings.Replace(want, "COMMIT", got.Commit, 1); got.WebURL != want || got.GitHubURL != "" || got.Modified {
			t.Errorf("%s: %+v, not %q", remote, got, want)
		}
	}
}

// TestFileLinesAreBounded: 400 at most, also when more are asked for. What no file can have
// is refused, and what this one does not have, with how many lines it has.
func TestFileLinesAreBounded(t *testing.T) {
	o := two(t)
	write(t, o.Repositories[0].Path, "long.txt", strings.Repeat("a line\n", 1000))
	indexInto(t, o, o.Repositories[0], time.Now())
	_, d := served(t, o)
	for given, want := range map[string][2]int{"": {1, 400}, `,"end_line":401`: {1, 400}, `,"start_line":2,"end_line":401`: {2, 401}, `,"start_line":700`: {700, 1000}} {
		var lines codesearch.FileLines
		if err := json.Unmarshal(d.ask("get_file_lines", `{"repository":"indexed","file_path":"/./long.txt"%s}`, given).Data, &lines); err != nil {
			t.Fatal(err)
		}
		if lines.StartLine != want[0] || lines.EndLine != want[1] || strings.Count(lines.Text, "\n") != want[1]-want[0]+1 || lines.TotalLines != 1000 {
			t.Errorf("%s: %d to %d of %d, %d lines", given, lines.StartLine, lines.EndLine, lines.TotalLines, strings.Count(lines.Text, "\n"))
		}
	}
}

// TestLongLinesAreBounded: what is too long together is left for the next call, and a line
// that is too long itself is cut, between two letters, and says so.
func TestLongLinesAreBounded(t *testing.T) {
	o := two(t)
	wide := strings.Repeat("word ", codesearch.MaxText/10) + "\n" // half of what is allowed
	write(t, o.Repositories[0].Path, "wide.txt", "first\n"+wide+wide+"a"+strings.Repeat("ö", codesearch.MaxText)+"\nlast\n")
	indexInto(t, o, o.Repositories[0], time.Now())
	_, d := served(t, o)
	for given, want := range map[string]struct {
		last, bytes int
		cut         bool
	}{
		"":                {2, 6 + len(wide), false},
		`,"start_line":2`: {2, len(wide), false},
		`,"start_line":4`: {4, codesearch.MaxText - 1, true},
		`,"start_line":5`: {5, 5, false},
	} {
		var lines codesearch.FileLines
		if err := json.Unmarshal(d.ask("get_file_lines", `{"repository":"indexed","file_path":"wide.txt"%s}`, given).Data, &lines); err != nil {
			t.Fatal(err)
		}
		if lines.EndLine != want.last || len(lines.Text) != want.bytes || lines.Cut != want.cut || lines.TotalLines != 5 {
			t.Errorf("%s: to line %d of %d, %d bytes, cut: %v; want %+v", given, lines.EndLine, lines.TotalLines, len(lines.Text), lines.Cut, want)
		}
	}
}

// TestLinesThatAreNotThereAreRefused: with how many there are.
func TestLinesThatAreNotThereAreRefused(t *testing.T) {
	o := two(t)
	write(t, o.Repositories[0].Path, "three.txt", "a\nb\nc")
	write(t, o.Repositories[0].Path, "empty.txt", "")
	indexInto(t, o, o.Repositories[0], time.Now())
	_, d := served(t, o)
	for given, want := range map[string]string{
		`"three.txt","start_line":4`:              "The file has 3 lines: there is no line 4.",
		`"three.txt","start_line":4,"end_line":9`: "The file has 3 lines: there is no line 4.",
		`"three.txt","start_line":3,"end_line":2`: "The last line is before the first.",
		`"three.txt","start_line":3,"end_line":9`: "",
		`"three.txt","end_line":1`:                "",
		`"empty.txt"`:                             "",
		`"empty.txt","start_line":2`:              "The file has 0 lines: there is no line 2.",
	} {
		text := d.raw("get_file_lines", `{"repository":"indexed","file_path":%s}`, given)
		if refused := strings.Contains(text, `"INVALID_INPUT"`); refused != (want != "") || !strings.Contains(text, want) {
			t.Errorf("%s: %s, not %q", given, text, want)
		}
	}
}

// TestPatternsThatFindNothingAreRefused: with what to do.
func TestPatternsThatFindNothingAreRefused(t *testing.T) {
	_, d := served(t, two(t))
	for path, want := range map[string]string{"{seal0,seal1}.go": "braces", "[": "no valid pattern", "..": "leave", "../**": "leave", "a/../b": "leave"} {
		if text := d.raw("search_code", `{"query":"seal","path":%q}`, path); !strings.Contains(text, `"INVALID_INPUT"`) || !strings.Contains(text, want) {
			t.Errorf("%s: %s", path, text)
		}
	}
	if rows, _ := d.search(`{"query":"seal","path":"**/seal1.go"}`); len(rows) == 0 || rows[0].FilePath != "seal1.go" {
		t.Errorf("any depth: %+v", rows)
	}
}

// TestQueriesWithoutAWordSaySo: nothing was searched then, which "nothing matches" would hide.
func TestQueriesWithoutAWordSaySo(t *testing.T) {
	_, d := served(t, two(t))
	for text, said := range map[string]string{"x y z": "no word to search for", "1234": "no word to search for", "zebra": "Nothing matches in", "the seal": ""} {
		if rows, e := d.search(`{"query":%q}`, text); len(rows) > 0 != (said == "") || !strings.Contains(e.Metadata.Hint, said) {
			t.Errorf("%s: %d places, %q", text, len(rows), e.Metadata.Hint)
		}
	}
}

// TestLanguagesHaveTheirUsualNames: as the files have them, or as people call them.
func TestLanguagesHaveTheirUsualNames(t *testing.T) {
	o := two(t)
	write(t, o.Repositories[0].Path, "seal.js", "function seal() {}\n")
	indexInto(t, o, o.Repositories[0], time.Now())
	_, d := served(t, o)
	for language, found := range map[string]bool{"Go": true, "go": true, "golang ": true, "GoLang": true, "js": true, "rust": false, "klingon": false} {
		if rows, _ := d.search(`{"query":"seal","language":%q}`, language); len(rows) > 0 != found {
			t.Errorf("%s: %d places", language, len(rows))
		}
	}
}

// TestRepositoriesNameTheirMainLanguages: eight, most lines first.
func TestRepositoriesNameTheirMainLanguages(t *testing.T) {
	o := two(t)
	for i, ending := range []string{"go", "py", "js", "rs", "java", "rb", "php", "c", "lua", "swift"} {
		write(t, o.Repositories[0].Path, "x."+ending, strings.Repeat("x = 1\n", 10-i))
	}
	indexInto(t, o, o.Repositories[0], time.Now())
	_, d := served(t, o)
	var rows []codesearch.Listed
	if err := json.Unmarshal(d.ask("list_repositories", `{"name":"indexed"}`).Data, &rows); err != nil || len(rows) != 1 || len(rows[0].Languages) != 8 || rows[0].Languages[0] != "Go" {
		t.Errorf("%v: %+v", err, rows)
	}
}

// TestDamageLeavesTheOldIndexServed: a file that cannot be read any more changes nothing
// for a server that has the index open.
func TestDamageLeavesTheOldIndexServed(t *testing.T) {
	o := two(t)
	_, d := served(t, o)
	before, _ := d.search(`{"query":"Box.Seal"}`)
	file := index.FileOf(o.Folder, "indexed")
	torn := file + ".torn"
	if err := os.WriteFile(torn, []byte("torn"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(torn, file); err != nil {
		t.Fatal(err)
	}
	after, _ := d.search(`{"query":"Box.Seal"}`)
	if len(before) == 0 || len(after) != len(before) {
		t.Errorf("%d places, and %d after the damage", len(before), len(after))
	}
}

// TestIndexOfAnotherFolderIsNotSearched: who may see a repository is said of its folder. A server that was
// started goes on with the index of its own; a new one has none until that is made.
func TestIndexOfAnotherFolderIsNotSearched(t *testing.T) {
	o := two(t)
	mine, closed := o.Repositories[0], o.Repositories[0]
	closed.Path = t.TempDir()
	write(t, closed.Path, "seal.go", "package seal\n\n// Seal is another team's business.\nfunc Seal() {}\n")
	_, before := served(t, o)
	before.search(`{"query":"seal"}`)
	indexInto(t, o, closed, time.Now())
	_, after := served(t, o)
	if rows, _ := before.search(`{"query":"seal"}`); len(rows) == 0 || strings.Contains(fmt.Sprint(rows), "business") {
		t.Errorf("the server from before: %v", rows)
	}
	o.Repositories = o.Repositories[:1]
	_, alone := served(t, o)
	for _, d := range []harness{after, alone} {
		if answer := d.raw("search_code", `{"query":"seal"}`); !strings.Contains(answer, "The index of indexed cannot be read: the index was made of another folder than the one that is configured.") {
			t.Error(answer)
		}
	}
	indexInto(t, o, mine, time.Now())
	if rows, _ := alone.search(`{"query":"seal"}`); len(rows) == 0 {
		t.Error("nothing is found when the right folder is indexed")
	}
}

// TestHealthSaysHowMuchIsIndexed: none, some, all.
func TestHealthSaysHowMuchIsIndexed(t *testing.T) {
	o := two(t)
	for _, want := range []string{`{"services":{"index":"partial"},"status":"degraded"}`, `{"services":{"index":"ready"},"status":"healthy"}`, `{"services":{"index":"not_indexed"},"status":"degraded"}`} {
		s, _ := served(t, o)
		w := httptest.NewRecorder()
		s.Endpoint(endpoint.Options{Loopback: true}).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/health", nil))
		if w.Body.String() != want {
			t.Errorf("%s, not %s", w.Body, want)
		}
		if indexInto(t, o, o.Repositories[1], time.Now()); strings.Contains(want, "ready") {
			o.Folder = t.TempDir()
		}
	}
}

// TestWhoReadsWhatOverHTTP: without a token a page reads what is public and a program
// what is anonymous; a person reads what a role of theirs may see, on a page, too.
func TestWhoReadsWhatOverHTTP(t *testing.T) {
	o := codesearch.Options{Folder: t.TempDir()}
	for _, r := range []codesearch.Repository{{Name: "public", Public: true}, {Name: "anonymous", Anonymous: true}, {Name: "staff"}} {
		r.Path = t.TempDir()
		write(t, r.Path, "seal.go", "package seal\n\nfunc Seal() {}\n")
		indexInto(t, o, r, time.Now())
		o.Repositories = append(o.Repositories, r)
	}
	s, _ := served(t, o)
	nina := testkit.As(t, "nina", "employee")
	for _, c := range []struct {
		who, origin string
		as          context.Context
		want        []string
	}{
		{"a program", "", t.Context(), []string{"anonymous"}},
		{"a page", "https://example.com", t.Context(), []string{"public"}},
		{"a page of no origin", "null", t.Context(), []string{"public"}},
		{"nina", "", nina, []string{"anonymous", "public", "staff"}},
		{"nina on a page", "https://example.com", nina, []string{"anonymous", "public", "staff"}},
	} {
		handler := s.Endpoint(endpoint.Options{Loopback: true, Enter: func(_ http.ResponseWriter, r *http.Request) (*http.Request, error) { return r.WithContext(c.as), nil }})
		r := httptest.NewRequest(http.MethodPost, "/mcp/search", strings.NewReader(`{"query":"Seal","limit":20}`))
		r.Header.Set("Content-Type", "application/json")
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		var answer struct{ Results []codesearch.Result }
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range answer.Results {
			got = append(got, r.Repository)
		}
		if slices.Sort(got); !slices.Equal(got, c.want) {
			t.Errorf("%s reads %v, not %v", c.who, got, c.want)
		}
	}
}

// TestNothingToSearchIsSaid: to one who may see no repository, without its name.
func TestNothingToSearchIsSaid(t *testing.T) {
	o := two(t)
	for i := range o.Repositories {
		o.Repositories[i].Roles = []access.Role{access.Executive}
	}
	_, d := served(t, o)
	if rows, e := d.search(`{"query":"seal"}`); len(rows) > 0 || e.Metadata.Hint != "There is no repository that you may search." {
		t.Errorf("%d places, %q", len(rows), e.Metadata.Hint)
	}
}
