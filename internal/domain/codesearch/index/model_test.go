package index

import (
	"path/filepath"
	"testing"
)

// TestPayloadSaysWhatIsAType, also where one chunk defines a type and something else by a name.
func TestPayloadSaysWhatIsAType(t *testing.T) {
	root := t.TempDir()
	put(t, root, "a.go", "package a\n\ntype (\n\tSeal struct{}\n\tBox  struct{}\n)\n\nfunc seal() {}\n\nfunc open() {}\n")
	ix := updated(t, filepath.Join(t.TempDir(), "x.csx"), root, Options{})
	for name, want := range map[string]bool{"seal": true, "box": true, "open": false} {
		term, _ := ix.Defined(name)
		found, is := 0, false
		for p := ix.Postings(term); p.Next(); found++ {
			is = is || p.Payload.IsType()
		}
		if found == 0 || is != want {
			t.Errorf("%s: %d chunks, a type: %t", name, found, is)
		}
	}
}
