package codesearch_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/domain/codesearch"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/testkit/domaintest"
)

// TestHiddenRepositoriesChangeNoByte: repositories that one may not see, with 1,000
// places that match better, change no result, no score, no order and no error. A
// word's rarity is counted in what one may see.
func TestHiddenRepositoriesChangeNoByte(t *testing.T) {
	root, hidden := t.TempDir(), []codesearch.Repository{}
	for i := range 3 {
		one := codesearch.Repository{Name: fmt.Sprint("hidden-", i), Path: filepath.Join(root, fmt.Sprint("hidden-", i)), Roles: []access.Role{"finance-read"}}
		for f := range 20 {
			text := "package pay\n"
			for j := range 17 {
				text += fmt.Sprintf("\n// verifyToken%d verifies a token of the payroll, and of the payroll again.\nfunc verifyToken%d(token string) bool { return payroll(token) }\n", j, j)
			}
			write(t, one.Path, fmt.Sprintf("verify_token_%d.go", f), text)
		}
		hidden = append(hidden, one)
	}
	var seen []codesearch.Repository
	for i, name := range []string{"app", "tools"} {
		one := codesearch.Repository{Name: name, Path: filepath.Join(root, name), Anonymous: true, Public: i == 0}
		write(t, one.Path, "token.go", "package token\n\n// verify verifies a token.\nfunc verify(token string) bool { return len(token) > 0 }\n")
		write(t, one.Path, "README.md", "# "+name+"\n\nHow a token is verified, and what the payroll has to do with it.\n")
		seen = append(seen, one)
	}
	without := codeAnswers(t, seen)
	with := codeAnswers(t, []codesearch.Repository{hidden[0], seen[0], hidden[1], seen[1], hidden[2]})
	for call, answer := range without {
		if with[call] != answer {
			t.Errorf("%s:\nwithout %s\nwith    %s", call, answer, with[call])
		}
	}
}

var cursor = regexp.MustCompile(`"nextCursor":"[^"]*"`) // sealed, and never the same

// codeAnswers are the answers to an employee, to a program and to a page.
func codeAnswers(t *testing.T, repositories []codesearch.Repository) map[string]string {
	t.Helper()
	s := codesearch.New(codesearch.Options{Folder: t.TempDir(), Repositories: repositories, Now: func() time.Time { return time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC) }})
	defer s.Close()
	if err := s.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	answers := map[string]string{}
	h, employee := domaintest.Open(t, "codesearch", s), testkit.As(t, "nina", "employee")
	call := func(tool, format string, args ...any) {
		in := fmt.Sprintf(format, args...)
		answers[tool+in] = cursor.ReplaceAllString(string(h.Encode(h.Call(employee, tool, json.RawMessage(in)))), "")
	}
	call("list_repositories", `{}`)
	for _, query := range []string{"verify token", "payroll", "verifyToken3", "pay", "how is a token verified?", "verify_token_1.go", "zebra"} {
		call("search_code", `{"query":%q,"explain":true,"limit":20}`, query)
		call("search_code", `{"query":%q,"explain":true,"limit":1}`, query)
		for kind, scope := range map[string]codesearch.Scope{"program": codesearch.AnonymousScope(), "page": codesearch.PublicScope()} {
			results, err := s.Find(t.Context(), scope, codesearch.Query{Text: query, Limit: 20})
			text, _ := json.Marshal(results)
			answers[kind+" "+query] = fmt.Sprint(string(text), err)
		}
	}
	for _, repository := range []string{"app", "hidden-1", "hidden-9"} {
		call("search_code", `{"query":"verify token","repository":%q}`, repository)
		call("list_repositories", `{"name":%q}`, repository)
		call("get_file_lines", `{"repository":%q,"file_path":"verify_token_1.go"}`, repository)
		call("get_file_lines", `{"repository":%q,"file_path":"../hidden-1/verify_token_1.go"}`, repository)
	}
	return answers
}
