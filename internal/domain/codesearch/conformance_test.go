package codesearch_test

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/domain/codesearch"
	"countersign.dev/internal/testkit/conformance"
)

func TestConformance(t *testing.T) { conformance.Run(t, domain()) }

type args = conformance.Args

// day is when everything was indexed.
var day = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// source is a repository of a dataset.
type source struct {
	name  string
	roles []access.Role // none: every employee
	gone  bool          // its folder is not there, so it has no index
	files []sourceFile
}

// sourceFile is a file of one piece, which is found by its words.
type sourceFile struct {
	repository           *source
	path, language, text string
	words                []string
}

// uri is the address of its only piece.
func (f sourceFile) uri() string {
	return fmt.Sprintf("code://%s/%s#L1-L%d", f.repository.name, f.path, strings.Count(f.text, "\n"))
}

// topics are what files are about; each is a word of no other.
var topics = []string{"ledger", "harbour", "turnip", "glacier"}

// dataset is a company's code: in the crowd many files are about the same.
func dataset(name string) []*source {
	sources := []*source{
		{name: "app"}, {name: "books", roles: []access.Role{"finance-read"}}, {name: "staff", roles: []access.Role{"hr-read", "manager"}}, {name: "tools"},
		{name: "gone", gone: true},
	}
	perTopic := 2
	if name == conformance.Crowd {
		perTopic = 9
		for i := range 12 {
			sources = append(sources, &source{name: fmt.Sprintf("zone-%02d", i), roles: sources[i%3].roles})
		}
	}
	for at, s := range sources {
		for i, topic := range slices.Repeat(topics, perTopic) {
			if s.gone || at > 4 && i > 0 {
				break
			}
			f := sourceFile{repository: s, path: fmt.Sprintf("%s/%s%d.go", []string{"internal", "web"}[i%2], topic, i), language: "Go", words: []string{topic}}
			f.text = fmt.Sprintf("package %s\n\n// %s moves it.\nfunc %s() {}\n", topic, topic, topic)
			if i%3 == 0 {
				f.path, f.language = strings.TrimSuffix(f.path, "go")+"py", "Python"
				f.text = fmt.Sprintf("# %s moves it.\ndef %s():\n    pass\n", topic, topic)
			}
			s.files = append(s.files, f)
		}
	}
	return sources
}

// written writes and indexes a dataset, and returns the server's options.
func written(t testing.TB, root string, sources []*source) codesearch.Options {
	t.Helper()
	o := codesearch.Options{Folder: filepath.Join(root, "indexes"), Now: func() time.Time { return day }}
	for _, s := range sources {
		o.Repositories = append(o.Repositories, codesearch.Repository{Name: s.name, Path: filepath.Join(root, s.name), Roles: s.roles})
		for _, f := range s.files {
			write(t, filepath.Join(root, s.name), f.path, f.text)
			if err := os.Chtimes(filepath.Join(root, s.name, f.path), day, day); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.MkdirAll(o.Folder, 0o700); err != nil {
		t.Fatal(err)
	}
	return o
}

// open opens a store of a dataset, that was indexed or not.
func open(t testing.TB, sources []*source, indexed bool) *conformance.Store {
	t.Helper()
	root := t.TempDir()
	s := codesearch.New(written(t, root, sources))
	t.Cleanup(func() { _ = s.Close() })
	refresh := func() error {
		if err := s.Refresh(t.Context()); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	if indexed {
		if err := refresh(); err != nil {
			t.Fatal(err)
		}
	}
	return &conformance.Store{
		Domain: s, Root: root, Ready: s.Ready, Seed: refresh,
		Empty: func() *conformance.Store { return open(t, sources, false) },
		Dump:  func() string { return digest(t, filepath.Join(root, "indexes")) },
	}
}

// digest is that of every index file.
func digest(t testing.TB, folder string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	sum := sha256.New()
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(sum, "%s %d %s", filepath.Base(name), len(content), content)
	}
	return fmt.Sprintf("%x", sum.Sum(nil))
}

func domain() conformance.Domain {
	employee := []string{"employee"}
	const nina = "nina.p@tamshai.local"
	first := dataset(conformance.Company)[0].files[1]
	lines := args{"repository": "app", "file_path": first.path}
	refuse := func(code, tool string, in args) conformance.Refusal {
		return conformance.Refuse(code, "nina.patel", tool, in)
	}
	return conformance.Domain{
		Server: "codesearch", Codes: codesearch.New(codesearch.Options{}).Codes(), Oracle: oracleOf,
		Engines: []conformance.Engine{{
			Name: "folder",
			Open: func(t testing.TB, name string) *conformance.Store { return open(t, dataset(name), true) },
		}},
		Calls: []conformance.Call{
			{Tool: "search_code", Allow: employee, Email: nina, In: args{"query": "ledger"}, Text: []string{"query"}},
			{Tool: "get_file_lines", Allow: employee, Email: nina, In: lines},
			{Tool: "list_repositories", Allow: employee, Email: nina},
		},
		Inputs: map[string]string{
			"search_code":       "cursor:string explain:boolean language:string limit:integer max_tokens:integer path:string query:string! repository:string ",
			"get_file_lines":    "end_line:integer file_path:string! repository:string! start_line:integer ",
			"list_repositories": "cursor:string limit:integer name:string ",
		},
		Refusals: []conformance.Refusal{
			refuse("SEARCH_ERROR", "search_code", args{"query": "ledger", "repository": "gone"}),
			refuse("REPOSITORY_NOT_FOUND", "search_code", args{"query": "ledger", "repository": "books"}),
			refuse("REPOSITORY_NOT_FOUND", "get_file_lines", args{"repository": "none", "file_path": first.path}),
			refuse("FILE_NOT_FOUND", "get_file_lines", args{"repository": "app", "file_path": "../books/" + first.path}),
			refuse("success", "get_file_lines", args{"repository": "app", "file_path": "/./" + first.path}),
			refuse("VALIDATION_ERROR", "search_code", args{"query": ""}),
			refuse("VALIDATION_ERROR", "search_code", args{}),
			refuse("VALIDATION_ERROR", "get_file_lines", args{"repository": "app"}),
		},
	}
}

func oracleOf(name string) conformance.Oracle {
	sources := dataset(name)
	var files []sourceFile
	for _, s := range sources {
		files = append(files, s.files...)
	}
	repositories := conformance.Rows[*source]{
		Key: "name", Rows: sources, ID: func(s *source) string { return s.name }, Sees: sees,
		Shows: func(_ conformance.Asker, s *source, _ args) map[string]any {
			if s.gone {
				return map[string]any{"state": codesearch.NotIndexed, "files": 0, "indexed_at": nil}
			}
			return map[string]any{"state": codesearch.Indexed, "files": len(s.files), "indexed_at": day.Format(time.RFC3339)}
		},
	}
	places := conformance.Rows[sourceFile]{Key: "uri", Rows: files, ID: sourceFile.uri, Sees: seesFile, Shows: shows}
	return conformance.Oracle{
		Emails: []string{"nina.p@tamshai.local", "bob@tamshai.local"}, Hidden: hidden(), Leaks: leaks,
		Questions: []conformance.Question{
			conformance.List[sourceFile]{Rows: places, Tool: "search_code", Draw: draw, Fits: fits, Most: 20, Code: notFound(sources, "repository")},
			conformance.List[*source]{
				Rows: repositories, Tool: "list_repositories", Order: func(args) func(a, b *source) int {
					return func(a, b *source) int { return cmp.Compare(a.name, b.name) }
				},
				Draw: func(r *rand.Rand, some *source) args {
					return conformance.Pick(r, args{}, args{"name": some.name}, args{"name": "none"})
				},
				Fits:  func(s *source, in args) bool { return in["name"] == nil || in["name"] == s.name },
				Walks: []args{{"limit": 3}}, Churn: churn,
			},
			conformance.ByID[sourceFile]{
				Rows:  conformance.Rows[sourceFile]{Rows: files, ID: sourceFile.uri, Sees: seesFile, Shows: showsLines},
				Tool:  "get_file_lines",
				Input: func(f sourceFile) args { return args{"repository": f.repository.name, "file_path": f.path} }, Unknown: args{"repository": "none"}, NotFound: "REPOSITORY_NOT_FOUND",
			},
		},
	}
}

func sees(a conformance.Asker, s *source) bool {
	if len(s.roles) == 0 {
		return a.Has("employee")
	}
	return slices.ContainsFunc(s.roles, func(r access.Role) bool { return a.Has(string(r)) })
}

func seesFile(a conformance.Asker, f sourceFile) bool { return sees(a, f.repository) }

func shows(_ conformance.Asker, f sourceFile, in args) map[string]any {
	shown := map[string]any{
		"repository": f.repository.name, "file_path": f.path, "start_line": 1, "end_line": strings.Count(f.text, "\n"), "match_snippet": strings.TrimSpace(f.text),
		"symbol": f.words[0], "metadata": map[string]any{"language": f.language, "last_updated": day.Format(time.RFC3339), "commit": "", "indexed_at": day.Format(time.RFC3339)},
	}
	if in["explain"] == nil {
		shown["explanation"] = nil
	}
	return shown
}

func showsLines(_ conformance.Asker, f sourceFile, _ args) map[string]any {
	return map[string]any{"repository": f.repository.name, "file_path": f.path, "start_line": 1, "end_line": strings.Count(f.text, "\n"), "total_lines": strings.Count(f.text, "\n"), "text": f.text}
}

// notFound is what callers get who name a repository that they may not see, or that
// is none.
func notFound(sources []*source, field string) func(conformance.Asker, args) string {
	return func(a conformance.Asker, in args) string {
		named := func(s *source) bool { return s.name == in[field] && sees(a, s) }
		if in[field] == "gone" && a.Has("employee") {
			return "SEARCH_ERROR"
		}
		if in[field] == nil || slices.ContainsFunc(sources, named) {
			return ""
		}
		return "REPOSITORY_NOT_FOUND"
	}
}

func draw(r *rand.Rand, some sourceFile) args {
	in := args{"query": conformance.Pick(r, some.words[0], "what moves "+some.words[0]+"?", "zebra")}
	for field, value := range map[string]any{"repository": conformance.Pick(r, some.repository.name, some.repository.name, "none", "gone"), "path": filepath.Dir(some.path), "language": some.language, "explain": true} {
		if r.IntN(3) == 0 {
			in[field] = value
		}
	}
	if in["explain"] != nil {
		in["max_tokens"] = 20_000 // a page of explained places has room in that
	}
	return in
}

func fits(f sourceFile, in args) bool {
	query := in["query"].(string)
	return (strings.Contains(query, f.words[0]) || strings.Contains(query, "moves")) && (in["repository"] == nil || in["repository"] == f.repository.name) &&
		(in["path"] == nil || strings.HasPrefix(f.path, in["path"].(string)+"/")) && (in["language"] == nil || in["language"] == f.language)
}

// leaks looks for a repository that the caller may not see.
func leaks(a conformance.Asker, encoded string) error {
	for _, s := range dataset(conformance.Crowd) {
		if !sees(a, s) && strings.Contains(encoded, `"`+s.name+`"`) {
			return fmt.Errorf("%s is named", s.name)
		}
	}
	return nil
}

// hidden adds files to a repository of another role, with the words of the others.
func hidden() []conformance.Hiding {
	return []conformance.Hiding{{Name: "repositories", Blind: conformance.NotIn("finance-read"), Add: func(t testing.TB, s *conformance.Store, n int) {
		for i := range n {
			topic := topics[i%len(topics)]
			write(t, filepath.Join(s.Root, "books"), fmt.Sprintf("more/%d.go", i), fmt.Sprintf("package %s\n\n// %s moves %s, as ledger%d does.\nfunc %s() {}\n", topic, topic, topic, i, topic))
		}
		if err := s.Seed(); err != nil {
			t.Fatal(err)
		}
	}}}
}

// churn changes a repository, so that its index is another one.
func churn(t testing.TB, s *conformance.Store, step int) []string {
	write(t, filepath.Join(s.Root, "app"), fmt.Sprintf("later/%d.go", step), "package later\n")
	if err := s.Seed(); err != nil {
		t.Fatal(err)
	}
	return nil
}
