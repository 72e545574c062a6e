package index

import "testing"

// TestPathsTellKinds: tests, examples, and files that only declare or keep what is
// old are known by their paths.
func TestPathsTellKinds(t *testing.T) {
	for path, want := range map[string]Flag{
		"src/parse.go":          0,
		"src/parse_test.go":     Test,
		"tests/parse.py":        Test,
		"lib/latest/parse.js":   0,
		"examples/hello.rb":     Example,
		"third_party/zlib/a.c":  Vendored,
		"index.d.ts":            Legacy | Vendored,
		"index.d.cts":           Legacy,
		"types/index.d.mts":     Legacy,
		"lib/compat/strings.py": Legacy,
	} {
		if got := pathFlags(path); got != want {
			t.Errorf("%s: %b, not %b", path, got, want)
		}
	}
}
