package codesearch_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"countersign.dev/internal/access"
	"countersign.dev/internal/domain/codesearch"
	"countersign.dev/internal/domain/codesearch/embed"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/testkit/domaintest"
)

// TestLinksLeadToTheLines that search_code found, whatever the names are, and to
// nothing for a person who may not see the repository.
func TestLinksLeadToTheLines(t *testing.T) {
	root := t.TempDir()
	write(t, root, "a b/50% & #ä?.go", "package p\n\n// frobnicate does.\nfunc frobnicate() {\n\tdoes()\n}\n")
	s := codesearch.New(codesearch.Options{Folder: t.TempDir(), Repositories: []codesearch.Repository{{Name: "my team/app", Path: root, Roles: []access.Role{"hr-read"}}}})
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	h := domaintest.Open(t, "codesearch", s)
	who := testkit.As(t, "nina", "employee", "hr-read")
	answer := h.Encode(h.Call(who, "search_code", json.RawMessage(`{"query":"frobnicate"}`)))
	links := codesearch.Resources{}.Links("search_code", answer)
	if len(links) != 1 || links[0].URI != "code://my%20team%2Fapp/a%20b/50%25%20&%20%23%C3%A4%3F.go#L1-L6" {
		t.Fatalf("%+v in %s", links, answer)
	}
	tool, args, ok := codesearch.Resources{}.Reader(links[0].URI)
	if !ok || tool != "get_file_lines" {
		t.Fatalf("%s %s %v", tool, args, ok)
	}
	of, text, err := codesearch.Resources{}.Content(links[0].URI, h.Encode(h.Call(who, tool, args)))
	if err != nil || of != links[0].URI || !strings.HasPrefix(text, "package p\n") || !strings.HasSuffix(text, "\tdoes()\n}\n") {
		t.Errorf("%q, %v", text, err)
	}
	if f := h.Call(testkit.As(t, "bob", "employee"), tool, args).Fault(); f == nil || f.Code.Name != "REPOSITORY_NOT_FOUND" {
		t.Errorf("bob, who may not see it, gets %v", f)
	}
	if links := (codesearch.Resources{}).Links("get_file_lines", answer); links != nil {
		t.Errorf("another tool links %v", links)
	}
}

// TestAddresses: which are of files, and what they ask for.
func TestAddresses(t *testing.T) {
	for uri, want := range map[string]string{
		"code://app/auth/token.go":              `{"repository":"app","file_path":"auth/token.go"}`,
		"code://app/auth/token.go#L3":           `{"repository":"app","file_path":"auth/token.go","start_line":3,"end_line":3}`,
		"code://app/auth/token.go#L3-L40":       `{"repository":"app","file_path":"auth/token.go","start_line":3,"end_line":40}`,
		"code://app/../../etc/passwd":           `{"repository":"app","file_path":"../../etc/passwd"}`, // which no index has
		"code://app":                            "",
		"code:///auth/token.go":                 "",
		"code://app/":                           "",
		"code://app/%zz":                        "",
		"code://app/a.go#L0":                    "",
		"code://app/a.go#L4-L3":                 "",
		"code://app/a.go#L1-L99999999":          "",
		"code://app/a.go#3":                     "",
		"file:///etc/passwd":                    "",
		"https://example.com/app/a.go#L1":       "",
		"code://app/a.go#L18446744073709551617": "",
	} {
		tool, args, ok := codesearch.Resources{}.Reader(uri)
		if string(args) != want || ok != (want != "") || ok != (tool == "get_file_lines") {
			t.Errorf("%s: %s %s %v", uri, tool, args, ok)
		}
	}
}

// FuzzAddresses: an address is of no file, or of one that get_file_lines takes.
func FuzzAddresses(f *testing.F) {
	f.Add("code://app/auth/token00.go#L1-L3")
	f.Add("code://%61pp/web%2Ftoken.js#L1")
	f.Fuzz(func(t *testing.T, uri string) {
		tool, args, ok := codesearch.Resources{}.Reader(uri)
		if !ok {
			return
		}
		var in struct {
			Repository string `json:"repository"`
			FilePath   string `json:"file_path"`
			StartLine  int    `json:"start_line"`
			EndLine    int    `json:"end_line"`
		}
		if err := json.Unmarshal(args, &in); err != nil || tool != "get_file_lines" || in.Repository == "" || in.FilePath == "" || in.EndLine < in.StartLine {
			t.Errorf("%q: %s, %v", uri, args, err)
		}
	})
}

// TestPartsHaveTheirOwnAddress: an answer with fewer lines than an address has says which.
func TestPartsHaveTheirOwnAddress(t *testing.T) {
	for uri, want := range map[string]string{
		"code://app/a.go":          "code://app/a.go#L1-L400",
		"code://app/a.go#L1-L1000": "code://app/a.go#L1-L400",
		"code://app/a.go#L1-L400":  "",
		"code://app/a.go#L1-L3":    "",
	} {
		of, _, err := codesearch.Resources{}.Content(uri, json.RawMessage(`{"data":{"repository":"app","file_path":"a.go","start_line":1,"end_line":400,"total_lines":1000}}`))
		if err != nil || of != cmp.Or(want, uri) {
			t.Errorf("%s is %s, %v", uri, of, err)
		}
	}
	if of, _, err := (codesearch.Resources{}).Content("code://app/a.go#L1-L40", json.RawMessage(`{"data":{"repository":"app","file_path":"a.go","start_line":1,"end_line":3,"total_lines":3}}`)); err != nil || of != "code://app/a.go#L1-L40" {
		t.Errorf("all that there is: %s, %v", of, err)
	}
}

// TestPagesLinkTheirRows: each row of a page has one link, in order.
func TestPagesLinkTheirRows(t *testing.T) {
	d := newHarness(t, embed.Service{})
	rows, _ := d.search(`{"query":"verify a token","limit":4}`)
	answer, err := json.Marshal(map[string]any{"data": rows})
	if err != nil {
		t.Fatal(err)
	}
	links := codesearch.Resources{}.Links("search_code", answer)
	if len(links) != 4 {
		t.Fatalf("%d links", len(links))
	}
	for i, l := range links {
		if about := fmt.Sprintf("Lines %d to %d of %s in app", rows[i].StartLine, rows[i].EndLine, rows[i].FilePath); l.URI != rows[i].URI || l.Description != about || !strings.HasSuffix(rows[i].FilePath, l.Name) {
			t.Errorf("%+v is not of %+v", l, rows[i])
		}
	}
}
