package endpoint_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign.dev/internal/domain/codesearch/endpoint"
	"countersign.dev/internal/testkit/browsertest"
)

func TestMain(m *testing.M) { os.Exit(browsertest.Main(m)) }

// page is docs/codesearch.md.
func page(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.FromSlash("../../../../docs/codesearch.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// assistant is a client in a page: it searches and reads what a page may read.
const assistant = `(async (url) => {
	const response = await fetch(url, {method: "POST", headers: {"Content-Type": "application/json", "X-MCP-Version": "2", "X-Request-ID": "abc"}, body: '{"query":"verify"}'});
	const answer = await response.json();
	return [String(response.status), response.headers.get("X-MCP-Version"), response.headers.get("X-Request-ID"), answer.results[0]];
})(%q)`

// TestPageOfAnotherOriginSearches: a browser asks before it sends, and shows the
// page the answer and its headers.
func TestPageOfAnotherOriginSearches(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<!doctype html><title>An assistant</title><link rel=icon href=data:,>"))
	}))
	t.Cleanup(other.Close)
	b := newBench()
	b.options.CheckHost = nil
	server := httptest.NewServer(endpoint.New(b.options))
	t.Cleanup(server.Close)
	p := browsertest.New(t)
	p.Open(other.URL)
	got := browsertest.Eval[[]string](p, fmt.Sprintf(assistant, server.URL+"/mcp/search"))
	if diff := cmp.Diff([]string{"200", "2", "abc", "a place"}, got); diff != "" {
		t.Errorf("a page of another origin (-want +got):\n%s", diff)
	}
	if !b.asked.who.Page {
		t.Error("the search does not know that a page asks")
	}
}

var (
	curlLine = regexp.MustCompile(`(?m)^    curl .*(\n {6,}.*)?$`)
	curlData = regexp.MustCompile(`-d '([^']*)'`)
	curlHead = regexp.MustCompile(`-H '([^:]*): ([^']*)'`)
	curlVerb = regexp.MustCompile(`-X (\w+)`)
	curlPath = regexp.MustCompile(`http://localhost:3106(\S+)`)
)

// TestExamplesOfThePageWork runs the page's examples as they are written.
func TestExamplesOfThePageWork(t *testing.T) {
	b := newBench()
	var statuses []int
	for _, example := range curlLine.FindAllString(page(t), -1) {
		body := ""
		if data := curlData.FindStringSubmatch(example); data != nil {
			body = data[1]
		}
		w := b.send(curlVerb.FindStringSubmatch(example)[1], curlPath.FindStringSubmatch(example)[1], body, func(r *http.Request) {
			r.Header = http.Header{}
			for _, h := range curlHead.FindAllStringSubmatch(example, -1) {
				r.Header.Set(h[1], h[2])
			}
		})
		statuses = append(statuses, w.Code)
		if w.Code == http.StatusBadRequest && !strings.Contains(page(t), w.Body.String()) {
			t.Errorf("the page does not show %s", w.Body)
		}
	}
	if diff := cmp.Diff([]int{200, 204, 400}, statuses); diff != "" {
		t.Errorf("the examples (-want +got):\n%s", diff)
	}
}

// TestPageNamesEveryCode: the table of the page has the codes of the sources, and no
// others.
func TestPageNamesEveryCode(t *testing.T) {
	sources := map[string]bool{}
	for _, name := range []string{"endpoint.go", "answer.go", "validate.go"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, code := range regexp.MustCompile(`"([A-Z]+_[A-Z_]+|FORBIDDEN|UNAUTHENTICATED)"`).FindAllStringSubmatch(string(text), -1) {
			sources[code[1]] = true
		}
	}
	listed := map[string]bool{}
	for _, row := range regexp.MustCompile(`(?m)^\| [45][\d, 45]+ \| ([A-Z_, ]+) \| .+ \|$`).FindAllStringSubmatch(page(t), -1) {
		for code := range strings.SplitSeq(row[1], ", ") {
			listed[code] = true
		}
	}
	if diff := cmp.Diff(sources, listed); diff != "" {
		t.Errorf("codes (-sources +page):\n%s", diff)
	}
}

// section is the part of the page that describes the endpoint, in one line.
func section(t *testing.T) string {
	t.Helper()
	_, rest, found := strings.Cut(page(t), "\n## POST /mcp/search\n")
	text, _, ended := strings.Cut(rest, "\n## ")
	if !found || !ended {
		t.Fatal("the page has no section about POST /mcp/search")
	}
	return strings.Join(strings.Fields(text), " ")
}

// states checks that the section states something, in these words.
func states(t *testing.T, statements ...string) {
	t.Helper()
	text := section(t)
	for _, s := range statements {
		if !strings.Contains(text, s) {
			t.Errorf("the page does not state: %s", s)
		}
	}
}

// TestPageDescribesTheProtocol: what is sent, what is answered, the limits, the headers,
// the order of the checks, and the other paths.
func TestPageDescribesTheProtocol(t *testing.T) {
	states(t, "one JSON object in, one out.",
		`{"results": [{"repository", "file_path", "start_line", "end_line", "match_snippet", "snippet_line"?, "relevance_score", "symbol"?, "metadata": {"language", "last_updated", "commit", "indexed_at", "modified"?, "github_url"?, "web_url"?}}], "took_ms": 3, "note"?}`,
		"`query` has 3 to 500 characters after white space around it was cut off", "`limit` is an integer from 1 to 20, default 5", "the body has 1,024 bytes at most",
		"unknown fields are ignored, repeated ones are not JSON here", "Without `X-MCP-Version: 2` the line of the log is a warning, and the search is served.",
		"has `X-MCP-Version: 2` and `X-Request-ID`", `An error is `+"`"+`{"error": {"code", "message", "retry_after"?}}`+"`",
		"The checks run in this order: token, content type, size, JSON, query, limit.", "`GET /health` and `GET /mcp/health` answer 200 always")
}

// TestPageSaysWhyEveryOrigin: why pages of any origin may ask, and why that gives them
// nothing by itself.
func TestPageSaysWhyEveryOrigin(t *testing.T) {
	states(t, "`Access-Control-Allow-Origin` is `*` because assistants that run in web pages of any origin are clients of this endpoint.",
		"the endpoint reads no cookies", "without a token a page sees only repositories that were configured as `public`", "`Authorization` joins the headers that a page may send")
}

// TestRulesHaveComments: each function, type, constant and group of them in the file of
// the rules.
func TestRulesHaveComments(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "validate.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	rules := 0
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if rules++; strings.TrimSpace(d.Doc.Text()) == "" {
				t.Errorf("%s has no comment", d.Name.Name)
			}
		case *ast.GenDecl:
			if d.Tok != token.IMPORT && strings.TrimSpace(d.Doc.Text()) == "" {
				t.Errorf("the declarations at byte %d have no comment", d.Pos())
			}
			for _, s := range d.Specs {
				if v, ok := s.(*ast.ValueSpec); ok && !strings.HasPrefix(v.Names[0].Name, "code") && strings.TrimSpace(v.Comment.Text()) == "" {
					t.Errorf("%s has no comment", v.Names[0].Name)
				}
			}
		}
	}
	if rules < 5 {
		t.Errorf("only %d functions: the rules are elsewhere", rules)
	}
}

// TestHandlerIsCovered: the tests of this package run at least 80 % of its
// statements.
func TestHandlerIsCovered(t *testing.T) {
	if testing.Short() || testing.CoverMode() != "" {
		t.Skip("it runs the tests of the package once more")
	}
	out, err := exec.CommandContext(t.Context(), "go", "test", "-short", "-cover", "-skip", "Page", ".").CombinedOutput()
	covered := regexp.MustCompile(`coverage: ([\d.]+)% of statements`).FindSubmatch(out)
	if err != nil || covered == nil {
		t.Fatalf("%v: %s", err, out)
	}
	if part, err := strconv.ParseFloat(string(covered[1]), 64); err != nil || part < 80 {
		t.Errorf("only %s %% of the statements are covered", covered[1])
	}
}
