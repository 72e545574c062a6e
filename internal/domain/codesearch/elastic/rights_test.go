package elastic_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"countersign.dev/internal/access"
	"countersign.dev/internal/domain/codesearch"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/testkit/domaintest"
)

// repositories are two that all employees may see, and one that few may, with hundreds
// of places that match better.
func repositories(t *testing.T) (seen []codesearch.Repository, hidden codesearch.Repository) {
	root := t.TempDir()
	hidden = codesearch.Repository{Name: "Hidden Pay/1", Path: filepath.Join(root, "hidden"), Roles: []access.Role{"finance-read"}}
	for f := range 12 {
		text := "package pay\n"
		for j := range 40 {
			text += fmt.Sprintf("\n// verifyToken%d verifies a token of the payroll, and of the payroll again.\nfunc verifyToken%d(token string) bool {\n%s\treturn payroll(token)\n}\n", j, j, strings.Repeat("\tverify(token)\n", 30))
		}
		put(t, hidden.Path, fmt.Sprintf("verify_token_%d.go", f), text)
	}
	for _, name := range []string{"app", "app-1"} { // the name of one begins with that of the other
		one := codesearch.Repository{Name: name, Path: filepath.Join(root, name), Anonymous: true}
		for i := range 7 {
			put(t, one.Path, fmt.Sprintf("token%d.go", i), fmt.Sprintf("package token\n\n// verify%d verifies a token.\nfunc verify%d(token string) bool { return len(token) > %d }\n", i, i, i))
		}
		put(t, one.Path, "README.md", "# "+name+"\n\nHow a token is verified, and what the payroll has to do with it.\n")
		seen = append(seen, one)
	}
	return seen, hidden
}

var cursor = regexp.MustCompile(`"nextCursor":"[^"]*"`) // sealed, and never the same

// TestHiddenRepositoriesChangeNoByte: neither what is found, nor a score, its
// explanation, the order or an error.
func TestHiddenRepositoriesChangeNoByte(t *testing.T) {
	both(t, func(t *testing.T, open opener) {
		seen, hidden := repositories(t)
		without, with := answers(t, open(t, seen...)), answers(t, open(t, hidden, seen[0], seen[1]))
		for call, answer := range without {
			if with[call] != answer {
				t.Errorf("%s:\nwithout %s\nwith    %s", call, answer, with[call])
			}
		}
		if len(without) < 15 {
			t.Errorf("only %d answers", len(without))
		}
	})
}

// answers are those to an employee.
func answers(t *testing.T, s opened) map[string]string {
	t.Helper()
	all := map[string]string{}
	h, employee := domaintest.Open(t, "codesearch", s.Server), testkit.As(t, "nina", "employee")
	call := func(tool, format string, args ...any) {
		in := fmt.Sprintf(format, args...)
		all[tool+in] = cursor.ReplaceAllString(string(h.Encode(h.Call(employee, tool, json.RawMessage(in)))), "")
	}
	call("list_repositories", `{}`)
	for _, query := range []string{"verify token", "payroll", "verifyToken3", "how is a token verified?", "zebra"} {
		call("search_code", `{"query":%q,"explain":true,"limit":20}`, query)
		call("search_code", `{"query":%q,"limit":1}`, query)
	}
	for _, repository := range []string{"app", "Hidden Pay/1", "gone"} {
		call("search_code", `{"query":"verify token","repository":%q}`, repository)
		call("get_file_lines", `{"repository":%q,"file_path":"verify_token_1.go"}`, repository)
		call("get_file_lines", `{"repository":%q,"file_path":"token1.go","start_line":3}`, repository)
	}
	return all
}

// TestPagesAreTheWhole: the pages of an answer are its places, each once, with the
// parts of their scores.
func TestPagesAreTheWhole(t *testing.T) {
	both(t, func(t *testing.T, open opener) {
		seen, _ := repositories(t)
		h, employee := domaintest.Open(t, "codesearch", open(t, seen...).Server), testkit.As(t, "nina", "employee")
		type row struct {
			URI         string
			Explanation []struct{ Signal string }
		}
		whole := domaintest.Get[[]row](h, employee, "search_code", domaintest.Args{"query": "verify token", "limit": 20, "explain": true})
		var paged []string
		in := domaintest.Args{"query": "verify token", "limit": 3, "explain": true}
		for range 10 {
			o := h.Ask(employee, "search_code", in)
			for _, r := range domaintest.Decode[[]row](t, o) {
				paged = append(paged, r.URI)
			}
			next := regexp.MustCompile(`"nextCursor":"([^"]*)"`).FindSubmatch(h.Encode(o))
			if next == nil {
				break
			}
			in["cursor"] = string(next[1])
		}
		var once []string
		for _, r := range whole {
			once = append(once, r.URI)
			if len(r.Explanation) == 0 || r.Explanation[0].Signal != "words" {
				t.Errorf("%s is not explained: %v", r.URI, r.Explanation)
			}
		}
		if len(once) < 10 || !slices.Equal(once, paged) {
			t.Errorf("%v, in pages %v", once, paged)
		}
	})
}
