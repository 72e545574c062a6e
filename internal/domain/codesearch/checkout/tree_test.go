package checkout

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"countersign.dev/internal/testkit"
)

// store writes a loose object, and returns its id.
func store(t *testing.T, objects, kind, text string) string {
	t.Helper()
	text = fmt.Sprintf("%s %d\x00%s", kind, len(text), text)
	sum := sha1.Sum([]byte(text))
	id := hex.EncodeToString(sum[:])
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	_, _ = z.Write([]byte(text))
	_ = z.Close()
	if err := os.MkdirAll(filepath.Join(objects, id[:2]), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(objects, id[:2], id[2:]), packed.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return id
}

// entry is a line of a tree.
func entry(mode, name, id string) string {
	raw, _ := hex.DecodeString(id)
	return mode + " " + name + "\x00" + string(raw)
}

// committed is a repository whose commit has a tree.
func committed(t *testing.T, tree func(objects string) (id string)) State {
	t.Helper()
	c := State{objects: t.TempDir()}
	c.Commit = store(t, c.objects, "commit", "tree "+tree(c.objects)+"\n")
	return c
}

// TestRepeatedFoldersAreReadOnce: a tree may have a name many times, and so may those below.
func TestRepeatedFoldersAreReadOnce(t *testing.T) {
	const depth, times = 8, 100
	c := State{}
	text := Text{Path: strings.Repeat("d/", depth) + "a.go", Name: c.Name([]byte("text"))}
	c = committed(t, func(objects string) string {
		id := store(t, objects, "tree", entry("100644", "a.go", store(t, objects, "blob", "text")))
		for range depth {
			id = store(t, objects, "tree", strings.Repeat(entry("40000", "d", id), times))
		}
		return id
	})
	if same, err := c.Has(t.Context(), []Text{text}); err != nil || !same[0] {
		t.Errorf("%v, %v", same, err)
	}
}

// TestReadingOfTreesCanBeCancelled before the next one.
func TestReadingOfTreesCanBeCancelled(t *testing.T) {
	c := committed(t, func(objects string) string { return store(t, objects, "tree", "") })
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := c.Has(ctx, nil); err != nil {
		t.Error(err)
	}
	cancel()
	if _, err := c.Has(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestEveryReadingCounts: a repository cannot have one object read without end, however it
// keeps that.
func TestEveryReadingCounts(t *testing.T) {
	root := t.TempDir()
	testkit.Git(t, root, "init", "--quiet")
	for i := range 9 {
		if err := os.WriteFile(filepath.Join(root, fmt.Sprint(i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	testkit.Git(t, root, "add", ".")
	testkit.Git(t, root, "commit", "--quiet", "--message=one")
	id, err := hex.DecodeString(strings.TrimSpace(testkit.Git(t, root, "rev-parse", "HEAD^{tree}")))
	if err != nil {
		t.Fatal(err)
	}
	for _, layout := range []string{"loose", "packed"} {
		if layout == "packed" {
			testkit.Git(t, root, "gc", "--quiet")
		}
		o := openObjects(filepath.Join(root, ".git/objects"), len(id))
		data, err := o.read(t.Context(), id, treeObject)
		if err != nil {
			t.Fatal(err)
		}
		o.spent = maxSpent - budget(2*len(data))
		for range 2 {
			if _, err := o.read(t.Context(), id, treeObject); err != nil {
				t.Errorf("%s: it may be read: %v", layout, err)
			}
		}
		if _, err := o.read(t.Context(), id, treeObject); !errors.Is(err, errObject) {
			t.Errorf("%s: it is read again: %v", layout, err)
		}
		o.close()
	}
}
