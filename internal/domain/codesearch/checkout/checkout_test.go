package checkout

import (
	"os"
	"path/filepath"
	"testing"

	"countersign.dev/internal/testkit"
)

func put(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestRemotesHaveOneForm, however git is asked to reach them, and no password.
func TestRemotesHaveOneForm(t *testing.T) {
	for address, want := range map[string]string{
		"https://github.com/a/b":                          "https://github.com/a/b",
		"https://nina:se@cret@github.com/a/b.git":         "https://github.com/a/b",
		"git@GitHub.com:a/b.git":                          "https://github.com/a/b",
		"github.com:a/b/":                                 "https://github.com/a/b",
		"ssh://git@git.example.com:7999/group/b.git":      "https://git.example.com/group/b",
		"https://git.example.com:8443/one/two/three.git":  "https://git.example.com/one/two/three",
		"https://nina@dev.azure.com/org/my%20app/_git/b":  "https://dev.azure.com/org/my%20app/_git/b",
		"/srv/git/a/b.git":                                "",
		"../a/b":                                          "",
		"file:///srv/git/a/b.git":                         "",
		"https://git.example.com/b.git":                   "",
		"javascript://git.example.com/a/b":                "",
		"https://nina:secret@git.example.com/a/b?token=1": "",
	} {
		config := filepath.Join(t.TempDir(), "config")
		put(t, config, "[remote \"upstream\"]\n\turl = https://github.com/c/d\n[remote \"origin\"]\n\turl = "+address+"\n")
		if got := remoteOf(config); got != want {
			t.Errorf("%s: %q, not %q", address, got, want)
		}
	}
}

// TestFileNamesItsOwnRepository: a worktree and a submodule have the commit of theirs. A file .git that
// names the repository of another folder has none, and neither has one that names a copy of a worktree's.
func TestFileNamesItsOwnRepository(t *testing.T) {
	root := t.TempDir()
	repository, worktree, super := filepath.Join(root, "repository"), filepath.Join(root, "w"), filepath.Join(root, "super")
	for _, folder := range []string{repository, super} {
		put(t, filepath.Join(folder, "a.go"), "package a\n")
		testkit.Git(t, folder, "init", "--quiet")
		testkit.Git(t, folder, "add", ".")
		testkit.Git(t, folder, "commit", "--quiet", "--message=one")
	}
	testkit.Git(t, repository, "worktree", "add", "--quiet", worktree)
	testkit.Git(t, super, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", repository, "sub")
	commit := At(repository).Commit
	for _, folder := range []string{repository, worktree, filepath.Join(super, "sub")} {
		if got := At(folder).Commit; got != commit || got == "" {
			t.Errorf("%s has %q, not %q", folder, got, commit)
		}
	}
	put(t, filepath.Join(repository, ".git/info/exclude"), "secret.txt\n")
	for name, gitdir := range map[string]string{"repository": filepath.Join(repository, ".git"), "worktree": filepath.Join(repository, ".git/worktrees/w"), "submodule": filepath.Join(super, ".git/modules/sub"), "copy": "git"} {
		planted := filepath.Join(root, "planted", name)
		put(t, filepath.Join(planted, ".git"), "gitdir: "+gitdir+"\n")
		put(t, filepath.Join(planted, "git/gitdir"), filepath.Join(planted, ".git"))
		put(t, filepath.Join(planted, "git/commondir"), filepath.Join(repository, ".git"))
		put(t, filepath.Join(planted, "git/HEAD"), "ref: refs/heads/"+branch(t, repository)+"\n")
		patterns, _ := Excludes(planted)
		if got := At(planted); got.Commit != "" || got.objects != "" || len(patterns) > 0 {
			t.Errorf("%s: %+v, %q", name, got, patterns)
		}
	}
}

// branch is what is checked out: its name depends on the machine's settings.
func branch(t *testing.T, repository string) string {
	t.Helper()
	head, err := os.ReadFile(filepath.Join(repository, ".git/HEAD"))
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Base(string(head[:len(head)-1]))
}
