package checkout

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"countersign.dev/internal/testkit"
)

// FuzzPatched: no difference makes the program fail, or an object of another size.
func FuzzPatched(f *testing.F) {
	f.Add([]byte("some text"), []byte("\x09\x05\x90\x04\x01!"))
	f.Add([]byte("some text"), []byte("\x09\x09\x90\x04\x91\x04\x05"))
	f.Fuzz(func(t *testing.T, from, delta []byte) {
		to, err := patched(from, delta)
		if err != nil {
			return
		}
		r := difference{delta}
		if was, is := r.number(), r.number(); was != len(from) || is != len(to) {
			t.Errorf("%d bytes of %d, not %d of %d", len(to), len(from), is, was)
		}
	})
}

// FuzzPack: what is in a pack is read, or refused.
func FuzzPack(f *testing.F) {
	const idSize = 20
	root := f.TempDir()
	testkit.Git(f, root, "init", "--quiet")
	for i := range 9 {
		if err := os.WriteFile(filepath.Join(root, fmt.Sprint(i)), []byte(fmt.Sprint(strings.Repeat("alike\n", 50), i)), 0o600); err != nil {
			f.Fatal(err)
		}
	}
	testkit.Git(f, root, "add", ".")
	testkit.Git(f, root, "commit", "--quiet", "--message=one")
	testkit.Git(f, root, "gc", "--quiet")
	names, err := filepath.Glob(filepath.Join(root, ".git/objects/pack/pack-*.idx"))
	if err != nil || len(names) != 1 {
		f.Fatal(names, err)
	}
	index, err := os.ReadFile(names[0])
	if err != nil {
		f.Fatal(err)
	}
	data, err := os.ReadFile(strings.TrimSuffix(names[0], "idx") + "pack")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(index, data)
	f.Fuzz(func(t *testing.T, index, data []byte) {
		folder := t.TempDir()
		for name, text := range map[string][]byte{"pack-1.idx": index, "pack-1.pack": data} {
			if err := os.WriteFile(filepath.Join(folder, name), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		p, err := openPack(filepath.Join(folder, "pack-1.idx"), idSize, new(budget))
		if err != nil {
			return
		}
		defer p.close()
		const ids = 8 + 4*256
		for at := ids; at+idSize <= len(index) && at < ids+64*idSize; at += idSize {
			if place, ok := p.find(index[at : at+idSize]); ok {
				_, _, _ = p.object(place)
			}
		}
	})
}
