package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"countersign.dev/internal/testkit"
	"countersign.dev/internal/testkit/browsertest"
)

// sampleRepository is a git repository with code to ask for.
func sampleRepository(t *testing.T) string {
	t.Helper()
	root := filepath.Join(t.TempDir(), "platform")
	for name, text := range map[string]string{
		"auth/verifier.go": "package auth\n\nimport \"errors\"\n\n// VerifyToken verifies a token.\nfunc VerifyToken(token string) error {\n\treturn errors.New(\"refused\")\n}\n",
		"page/cursor.go":   "package page\n\n// sealCursor seals the cursors of pages.\nfunc sealCursor(row string) string {\n\treturn \"sealed:\" + row\n}\n",
		"page/rows.go":     "package page\n\n// Rows counts rows.\nfunc Rows() int { return 3 }\n",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	testkit.Git(t, root, "init", "--quiet")
	testkit.Git(t, root, "remote", "add", "origin", "https://github.com/example/platform.git")
	testkit.Git(t, root, "add", ".")
	testkit.Git(t, root, "commit", "--quiet", "--message=one")
	return root
}

// TestDemoSearchesTheFolderThatItIsStartedIn: it is indexed in the background; programs
// of this machine read it without a token, pages of other origins do not, and the chat
// draws what it finds as code that leads to its file.
func TestDemoSearchesTheFolderThatItIsStartedIn(t *testing.T) {
	testkit.Alone(t)
	t.Parallel()
	d := demoWith(t, []string{asProgram + "=" + sampleRepository(t)})
	search := d.Servers["codesearch"] + "/mcp/search"
	deadline, again := time.After(testkit.Patience), time.NewTicker(50*time.Millisecond)
	defer again.Stop()
	for send(t, http.MethodPost, search, "", `{"query":"VerifyToken"}`).status == http.StatusServiceUnavailable {
		select {
		case <-again.C:
		case <-deadline:
			t.Fatal("the folder is not indexed")
		}
	}
	for want, headers := range map[int][]string{1: nil, 0: {"Origin", "https://elsewhere.example"}} {
		var found struct{ Results []json.RawMessage }
		a := send(t, http.MethodPost, search, "", `{"query":"VerifyToken"}`, headers...)
		if err := json.Unmarshal([]byte(a.body), &found); err != nil || a.status != http.StatusOK || len(found.Results) != want {
			t.Errorf("with %v: %d %s", headers, a.status, a.body)
		}
	}
	u := userOf(t, d)
	u.Open(d.Gateway)
	u.signIn("nina.patel")
	for _, c := range []struct{ question, place, line, keyword, address string }{
		{"Where do we verify tokens?", "auth/verifier.go:1", "6", "func", "auth/verifier.go"},
		{"Show me how cursors are sealed", "page/cursor.go:1", "4", "func", "page/cursor.go"},
	} {
		u.ask(c.question)
		place := "[data-turn=done] [data-place='" + c.place + "'] "
		u.Sees(place+".line[data-line='"+c.line+"'] .keyword", c.keyword)
		href := browsertest.Eval[string](u.Page, `document.querySelector("`+place+`figcaption a").href`)
		if want := regexp.MustCompile(`^https://github\.com/example/platform/blob/[0-9a-f]{40}/` + c.address + `#L1-L\d+$`); !want.MatchString(href) {
			t.Errorf("%s: the link is %s", c.question, href)
		}
	}
}
