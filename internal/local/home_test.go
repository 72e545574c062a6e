package local_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"countersign.dev/internal/local"
)

// TestNothingIsWrittenThroughALink: a folder that was cloned may have brought a link in
// each place where something is written. What it leads to stays as it is.
func TestNothingIsWrittenThroughALink(t *testing.T) {
	for _, place := range []string{".countersign", ".countersign/.gitignore", ".countersign/code", ".countersign/code/project.csx", ".countersign/local.db", ".countersign/tasks", ".countersign/tasks/a"} {
		t.Run(place, func(t *testing.T) {
			top := t.TempDir()
			folder, other := filepath.Join(top, "project"), filepath.Join(top, "other")
			for _, made := range []string{filepath.Dir(filepath.Join(folder, place)), other} {
				if err := os.MkdirAll(made, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			mine := filepath.Join(other, ".gitignore")
			if err := os.WriteFile(mine, []byte("mine\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			to := other
			if filepath.Ext(place) != "" && place != ".countersign" {
				to = mine
			}
			if err := os.Symlink(to, filepath.Join(folder, place)); err != nil {
				t.Fatal(err)
			}
			_, err := local.IndexFolder(folder)
			refused(t, "index", place, err)
			for _, server := range []string{local.CodeSearch, local.Tasks} {
				refused(t, "serve "+server, place, local.Serve(context.Background(), local.Options{Server: server, Folder: folder, In: strings.NewReader(""), Out: io.Discard}))
			}
			refused(t, "approve", place, local.Approve(t.Context(), local.ApproveOptions{ID: "x", Folder: folder, In: strings.NewReader(""), Out: io.Discard}))
			text, err := os.ReadFile(mine)
			entries, unread := os.ReadDir(other)
			if string(text) != "mine\n" || err != nil || unread != nil || len(entries) != 1 {
				t.Errorf("the folder that the link leads to: %v, .gitignore is %q, %v %v", entries, text, err, unread)
			}
		})
	}
}

func refused(t *testing.T, what, place string, err error) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), filepath.FromSlash(place)+" in ") || !strings.Contains(err.Error(), "symbolic link") || !strings.Contains(err.Error(), "remove it") {
		t.Errorf("%s: got %v, want what to do about the link %s", what, err, place)
	}
}

// TestOthersFilesInTheDataFolderStay: a .gitignore that is there already, and a file that
// is in the place of a folder.
func TestOthersFilesInTheDataFolderStay(t *testing.T) {
	folder := t.TempDir()
	data := filepath.Join(folder, ".countersign")
	if _, err := local.IndexFolder(folder); err != nil {
		t.Fatal(err)
	}
	ignore := filepath.Join(data, ".gitignore")
	if text, err := os.ReadFile(ignore); err != nil || string(text) != "*\n" {
		t.Errorf("a new one has a .gitignore of %q, %v", text, err)
	}
	if err := os.WriteFile(ignore, []byte("code\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := local.IndexFolder(folder); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(ignore); err != nil || string(text) != "code\n" {
		t.Errorf("it was written again: %q, %v", text, err)
	}
	if err := os.WriteFile(filepath.Join(data, "code"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := local.IndexFolder(folder); err == nil || !strings.Contains(err.Error(), "remove it") {
		t.Errorf("a file in the place of the indexes: %v", err)
	}
}
