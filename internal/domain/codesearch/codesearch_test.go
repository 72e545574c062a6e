package codesearch_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/domain/codesearch"
	"countersign.dev/internal/domain/codesearch/index"
)

// write writes a file of a repository.
func write(t *testing.T, root, name, text string) {
	t.Helper()
	path := filepath.Join(root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestResultsAreInsideTheScope: for any roles and query, results come only from
// repositories that an independent rule permits.
func TestResultsAreInsideTheScope(t *testing.T) {
	roles := []access.Role{"employee", "manager", "finance-read", "auditor"}
	r := rand.New(rand.NewPCG(1, 2))
	o := codesearch.Options{Folder: t.TempDir()}
	for i := range 8 {
		root := t.TempDir()
		write(t, root, "verify.go", fmt.Sprintf("package p\n\n// verifyToken%d verifies a token.\nfunc verifyToken%d() {}\n", i, i))
		one := codesearch.Repository{Name: fmt.Sprint("r", i), Path: root, Anonymous: i%3 == 0, Public: i%4 == 0}
		for _, role := range roles {
			if r.IntN(3) == 0 {
				one.Roles = append(one.Roles, role)
			}
		}
		o.Repositories = append(o.Repositories, one)
	}
	s := codesearch.New(o)
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	seen := 0
	for range 500 {
		var held []string
		for _, role := range roles {
			if r.IntN(2) == 0 {
				held = append(held, string(role))
			}
		}
		kind := r.IntN(3)
		scope := []codesearch.Scope{
			codesearch.ScopeOf(access.NewPrincipal(access.Claims{Issuer: "i", Subject: "s", Roles: held})), codesearch.AnonymousScope(), codesearch.PublicScope(),
		}[kind]
		permitted := func(one codesearch.Repository) bool {
			needed := fmt.Sprint(one.Roles)
			if len(one.Roles) == 0 {
				needed = "[employee]"
			}
			for _, role := range held {
				if kind == 0 && strings.Contains(needed, role) {
					return true
				}
			}
			return kind == 1 && one.Anonymous || kind == 2 && one.Public
		}
		q := codesearch.Query{Text: []string{"verify token", "verifyToken3", "package"}[r.IntN(3)], Limit: 20}
		if r.IntN(4) == 0 {
			q.Repository = fmt.Sprint("r", r.IntN(9))
		}
		results, err := s.Find(t.Context(), scope, q)
		if err != nil && q.Repository == "" {
			t.Fatal(err)
		}
		for _, found := range results {
			seen++
			if i := int(found.Repository[1] - '0'); !permitted(o.Repositories[i]) {
				t.Fatalf("%v, kind %d, sees %s of %v", held, kind, found.Repository, o.Repositories[i])
			}
		}
	}
	if seen < 500 {
		t.Errorf("only %d results: it proves nothing", seen)
	}
}

// TestNoMatchAndNoIndexDiffer: an empty answer and SEARCH_ERROR.
func TestNoMatchAndNoIndexDiffer(t *testing.T) {
	root := t.TempDir()
	write(t, root, "a.go", "package a\n")
	s := codesearch.New(codesearch.Options{Folder: t.TempDir(), Repositories: []codesearch.Repository{{Name: "a", Path: root, Anonymous: true}}})
	t.Cleanup(func() { _ = s.Close() })
	q := codesearch.Query{Text: "zebra crossing", Limit: 5}
	if _, err := s.Find(t.Context(), codesearch.AnonymousScope(), q); err == nil || !strings.HasPrefix(err.Error(), "SEARCH_ERROR") {
		t.Errorf("without an index: %v", err)
	}
	if err := s.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if found, err := s.Find(t.Context(), codesearch.AnonymousScope(), q); err != nil || len(found) > 0 {
		t.Errorf("without a match: %v %v", found, err)
	}
}

// TestUpdateReadsWhatChanged: a changed file is read again, a renamed one is not;
// links that lead out are not followed, ignored files not indexed.
func TestUpdateReadsWhatChanged(t *testing.T) {
	root, outside, file := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "x.csx")
	write(t, outside, "secret.go", "package secret\n")
	write(t, root, ".gitignore", "ignored/\n")
	write(t, root, "ignored/a.go", "package ignored\n")
	write(t, root, "a.go", "package a\n\nfunc Alpha() {}\n")
	write(t, root, "b.go", "package b\n\nfunc Beta() {}\n")
	write(t, root, "c.bin", "\x00\x01\x02")
	if err := os.Symlink(outside, filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	update := func(read, reused int) {
		t.Helper()
		r, err := index.Update(t.Context(), file, index.Source{Name: "x", Root: root}, index.Options{})
		if err != nil || r.Read != read || r.Reused != reused || r.Skipped != 1 {
			t.Fatalf("read %d, reused %d, skipped %d, %v; want %d and %d", r.Read, r.Reused, r.Skipped, err, read, reused)
		}
	}
	update(3, 0) // .gitignore too
	if err := os.Rename(filepath.Join(root, "b.go"), filepath.Join(root, "c.go")); err != nil {
		t.Fatal(err)
	}
	update(0, 3)
	write(t, root, "a.go", "package a\n\nfunc Gamma() {}\n")
	update(1, 2)
	ix, err := index.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer ix.Close()
	for name, defined := range map[string]bool{"gamma": true, "beta": true, "alpha": false} {
		if _, ok := ix.Defined(name); ok != defined {
			t.Errorf("%s is defined: %v", name, ok)
		}
	}
}

// TestDamagedIndexIsRefused: any changed byte, another version, a torn file.
func TestDamagedIndexIsRefused(t *testing.T) {
	root, file := t.TempDir(), filepath.Join(t.TempDir(), "x.csx")
	write(t, root, "a.go", "package a\n\nfunc Alpha() {}\n")
	if _, err := index.Update(t.Context(), file, index.Source{Name: "x", Root: root}, index.Options{}); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for at := range whole {
		changed := append([]byte(nil), whole...)
		changed[at] ^= 0x40
		for _, data := range [][]byte{changed, whole[:at]} {
			if err := os.WriteFile(file, data, 0o600); err != nil {
				t.Fatal(err)
			}
			if ix, err := index.Open(file); err == nil {
				_ = ix.Close()
				t.Fatalf("byte %d was changed or all from it is gone, and it opened", at)
			} else if at == 4 && len(data) > at+1 && !strings.Contains(err.Error(), "countersign index") {
				t.Errorf("another version: %v", err)
			}
		}
	}
}

// TestRefreshKeepsWhatIsTheSame: a server that keeps its index current does not write it
// again while no file changes, and does when one has.
func TestRefreshKeepsWhatIsTheSame(t *testing.T) {
	root, clock := t.TempDir(), time.Now().Add(time.Hour) // later than the files
	write(t, root, "a.go", "package a\n\nfunc Alpha() {}\n")
	o := codesearch.Options{Folder: t.TempDir(), Repositories: []codesearch.Repository{{Name: "one", Path: root}}, Now: func() time.Time { return clock }}
	s := codesearch.New(o)
	t.Cleanup(func() { _ = s.Close() })
	refreshed := func() os.FileInfo {
		t.Helper()
		if err := s.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(index.FileOf(o.Folder, "one"))
		if err != nil {
			t.Fatal(err)
		}
		clock = clock.Add(time.Minute)
		return info
	}
	first := refreshed()
	if !os.SameFile(first, refreshed()) {
		t.Error("no file changed, and the index was written again")
	}
	write(t, root, "b.go", "package a\n\nfunc Beta() {}\n")
	if os.SameFile(first, refreshed()) {
		t.Error("a file is new, and the index is the old one")
	}
}
