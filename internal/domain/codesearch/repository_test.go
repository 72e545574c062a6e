package codesearch

import (
	"os"
	"path/filepath"
	"testing"

	"countersign.dev/internal/domain/codesearch/index"
)

// TestIndexInUseIsOpen until its last search ends, also after another one has its place.
func TestIndexInUseIsOpen(t *testing.T) {
	root, file := t.TempDir(), filepath.Join(t.TempDir(), "x.csx")
	update := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(root, "a.go"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := index.Update(t.Context(), file, index.Source{Name: "x", Root: root}, index.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	update("package before\n")
	r := &repository{file: file, folder: root + "/"}
	acquired := func() *handle {
		t.Helper()
		h, err := r.acquire()
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	before, closed := acquired(), 0
	again := acquired()
	if before != again {
		t.Error("one index is open twice")
	}
	update("package after\n")
	after := acquired()
	for h, want := range map[*handle]string{before: "package before\n", after: "package after\n"} {
		if text, err := h.Text(&h.Files[0]); err != nil || string(text) != want {
			t.Errorf("%q, %v, not %q", text, err, want)
		}
	}
	for _, h := range []*handle{again, before, after} {
		h.release()
		closed += map[bool]int{true: 1}[h.old && h.users == 0]
	}
	if closed != 1 || after.old {
		t.Errorf("%d are closed; the current one: %t", closed, after.old)
	}
	if err := r.close(); err != nil {
		t.Error(err)
	}
}
