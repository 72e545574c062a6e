package embedded_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"countersign.dev/internal/embedded"
	"countersign.dev/internal/fault"
)

func open(t *testing.T, dir string) (*embedded.Folder, error) {
	t.Helper()
	f, err := embedded.OpenFolder(t.Context(), embedded.FolderOptions{Dir: dir, Postgres: true})
	if err == nil {
		t.Cleanup(func() { _ = f.Close() })
	}
	return f, err
}

func TestDataFolderHasAVersion(t *testing.T) {
	dir := filepath.Join(passable(t), "data")
	f, err := open(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "version"))
	if err != nil || string(text) != "1\n" {
		t.Errorf("got %q, %v", text, err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, dir); err != nil {
		t.Errorf("opened again: %v", err)
	}
}

// TestDataFolderIsNoPartOfARepository: git adds nothing of it, so that no search of code finds its keys either.
func TestDataFolderIsNoPartOfARepository(t *testing.T) {
	repository := passable(t)
	git := func(arguments ...string) string {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", repository}, arguments...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("git %s: %v\n%s", arguments, err, out)
		}
		return string(out)
	}
	git("init", "-q")
	f, err := open(t, filepath.Join(repository, "data"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(f.Path(), "signing-key.pem"), []byte("a key"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := git("status", "--porcelain", "--untracked-files=all"); out != "" {
		t.Errorf("git would add\n%s", out)
	}
	own := filepath.Join(f.Path(), ".gitignore")
	if err := os.WriteFile(own, []byte("*\n!mcp.lock.json\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, f.Path()); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(own); err != nil || string(text) != "*\n!mcp.lock.json\n" {
		t.Errorf("what somebody wrote there is now %q, %v", text, err)
	}
}

func TestDataFolderIsRefused(t *testing.T) {
	for name, c := range map[string]struct{ file, text, message string }{
		"unknown version":  {"version", "2\n", `has version "2", and this program reads version 1 only`},
		"no version":       {"audit.jsonl", "{}\n", "holds files and no version"},
		"unreadable words": {"version", strings.Repeat("x", 100), `has version "xxxxxxxxxxxxxxxxxxxx"`},
	} {
		dir := passable(t)
		if err := os.WriteFile(filepath.Join(dir, c.file), []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		before, err := os.Stat(dir)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := open(t, dir); err == nil || !strings.Contains(fault.From(err).Message, c.message) {
			t.Errorf("%s: got %v", name, err)
		}
		if after, err := os.Stat(dir); err != nil || after.Mode() != before.Mode() {
			t.Errorf("%s: a refused folder was changed from %v to %v", name, before.Mode(), after.Mode())
		}
	}
}

// TestFolderOfAnotherUserIsRefused: its owner could read and replace what is in it.
func TestFolderOfAnotherUserIsRefused(t *testing.T) {
	needRoot(t)
	dir := passable(t)
	if err := os.Chown(dir, stranger, stranger); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, dir); err == nil || !strings.Contains(fault.From(err).Message, "is not a folder of the user that runs this program") {
		t.Errorf("got %v", err)
	}
}

func TestDataFolderInUseIsRefused(t *testing.T) {
	t.Parallel()
	dir := passable(t)
	if _, err := open(t, dir); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, dir); err == nil || !strings.Contains(fault.From(err).Message, "in use by another running countersign") {
		t.Errorf("got %v", err)
	}
}

// needRoot skips what only root can show.
func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("root is missing: only root runs the server as another user")
	}
}

// TestFolderThatTheServersUserCannotEnterIsRefused: the error names a folder
// that works, and nothing is written anywhere.
func TestFolderThatTheServersUserCannotEnterIsRefused(t *testing.T) {
	needRoot(t)
	closed := passable(t)
	if err := os.Chmod(closed, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", passable(t))
	dir := filepath.Join(closed, "below", "data")
	_, asData := open(t, dir)
	_, asCluster := embedded.StartPostgres(t.Context(), embedded.PostgresOptions{Dir: dir, Volatile: true})
	for name, err := range map[string]error{"data folder": asData, "cluster": asCluster} {
		if err == nil {
			t.Errorf("%s: a folder that the server's user cannot enter was accepted", name)
			continue
		}
		f := fault.From(err)
		if !strings.Contains(f.Message, "cannot enter "+dir) {
			t.Errorf("%s: got %v", name, err)
			continue
		}
		other := regexp.MustCompile(`such as (\S+), or`).FindStringSubmatch(f.SuggestedAction)
		if other == nil {
			t.Errorf("%s: no folder is named: %s", name, f.SuggestedAction)
			continue
		}
		if _, err := os.Stat(other[1]); err == nil {
			continue // in use by this machine: not ours to try
		}
		works, err := open(t, other[1])
		if err != nil {
			t.Errorf("%s: %s, which was named, does not work either: %v", name, other[1], err)
			continue
		}
		_ = works.Close()
		_ = os.RemoveAll(other[1])
	}
	if left, _ := os.ReadDir(closed); len(left) > 0 {
		t.Errorf("left in the refused folder: %v", left)
	}
}

// TestOthersReadNothing runs a server on a kept and on a temporary folder and
// reads, as two other users, everything that is in them.
func TestOthersReadNothing(t *testing.T) {
	t.Parallel()
	for name, dir := range map[string]string{"kept": filepath.Join(passable(t), "data"), "temporary": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, err := open(t, dir)
			if err != nil {
				t.Fatal(err)
			}
			p := start(t, embedded.PostgresOptions{Dir: filepath.Join(f.Path(), "postgres"), Volatile: true})
			if socket := ask(t, connect(t, p.AdminURL("postgres")), "select current_setting('unix_socket_directories')"); socket != "" {
				t.Errorf("the server has a socket in %s", socket)
			}
			for _, private := range []string{f.Path(), p.Dir(), filepath.Join(p.Dir(), "data")} {
				info, err := os.Stat(private)
				if err != nil || info.Mode().Perm()&0o067 != 0 { // at most rwx--x---
					t.Errorf("%s: mode %v, %v", private, info.Mode(), err)
				}
			}
			readByOthers(t, f.Path(), filepath.Join(p.Dir(), "data"))
		})
	}
}

// stranger is a user without an account.
const stranger = 65533

// readByOthers fails when another user can list or read anything below a
// folder; the server's own user can in its cluster, and nowhere else.
func readByOthers(t *testing.T, dir, cluster string) {
	t.Helper()
	needRoot(t)
	info, err := os.Stat(cluster)
	if err != nil {
		t.Fatal(err)
	}
	server := info.Sys().(*syscall.Stat_t)
	var all []string
	err = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		all = append(all, path)
		return err
	})
	if err != nil || len(all) < 100 {
		t.Fatalf("%d files, %v", len(all), err)
	}
	if got := readable(t, &syscall.Credential{Uid: stranger, Gid: stranger}, all); len(got) > 0 {
		t.Errorf("a stranger reads %v", got)
	}
	got := readable(t, &syscall.Credential{Uid: server.Uid, Gid: server.Gid}, all)
	if !slices.Contains(got, cluster) {
		t.Errorf("the server's user cannot read its own cluster: this test reads nothing")
	}
	for _, path := range got {
		if !strings.HasPrefix(path, cluster) {
			t.Errorf("the server's user reads %s", path)
		}
	}
}

// readable lists the paths that a user can read.
func readable(t *testing.T, as *syscall.Credential, paths []string) (found []string) {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", `while read -r path; do test -r "$path" && echo "$path"; done; true`)
	cmd.Dir, cmd.Stdin = "/", strings.NewReader(strings.Join(paths, "\n")+"\n")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as}
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(out))
}
