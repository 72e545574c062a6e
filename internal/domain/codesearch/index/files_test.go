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
		"index.d.ts":            Legacy,
		"vendor/index.d.ts":     Legacy | Vendored,
		"index.d.cts":           Legacy,
		"types/index.d.mts":     Legacy,
		"lib/compat/strings.py": Legacy,
		"stubs/strings.pyi":     Legacy,
		"t/parse.t":             Test,
		"t/lib/Ring.pm":         Test,
		"parse.phpt":            Test,
		"src/parse-test.cc":     Test,
		"shop/tests.py":         Test,
		"src/test_helpers/a.rs": Test,
		"cmd/test/test.go":      Test,
		"tools/test.go":         0,
		"ExampleApp/main.swift": Example,
		"benches/ring.rs":       Example,
		"src/ring.stories.tsx":  Example,
		"doc/api/ring.html":     Prose,
		"web/views/ring.html":   0,
		"CHANGES":               Prose,
		"lib/changes.go":        0,
	} {
		if got := new(rules).pathFlags(path); got != want {
			t.Errorf("%s: %b, not %b", path, got, want)
		}
	}
}

// TestHeadersThatOnlyDeclare: one with prototypes comes after the file with the
// bodies; one that has them itself, or only types, is code like any other.
func TestHeadersThatOnlyDeclare(t *testing.T) {
	const prototypes = "#ifndef A_H\n/* Seals. (Really);\n * It seals(x); */\nint seal(struct ring *r);\nvirtual void Open() const = 0;\n"
	for _, c := range []struct {
		name, src string
		want      Flag
	}{
		{"ring.h", prototypes, Legacy},
		{"ring.hpp", prototypes, Legacy},
		{"ring.c", prototypes, 0},
		{"ring.h", "struct ring {\n\tint size;\n};\n", 0},
		{"ring.h", "class Ring {\n  Ring();\n  int size() { return size_; }\n  void open() {\n    seal(this);\n  }\n};\n", 0},
		{"Ring.h", "@interface Ring\n- (void)seal;\n- (void)open:(int)n;\n@end\n", Legacy},
	} {
		if got := new(rules).contentFlags(c.name, "C++", []byte(c.src)); got != c.want {
			t.Errorf("%s: %b, not %b:\n%s", c.name, got, c.want, c.src)
		}
	}
}

// TestFilesWithoutALanguageAreData: they come after code that has the words as often.
func TestFilesWithoutALanguageAreData(t *testing.T) {
	for name, want := range map[string]Flag{"ring.aml": Data, "ring.golden": Data, "ring.tmpl": Data, "ring.go": 0, "Makefile": 0, "ring.json": Data, "ring.md": Prose} {
		src := []byte("seal the ring\n")
		if got := new(rules).contentFlags(name, languageOf(name, src), src); got != want {
			t.Errorf("%s: %b, not %b", name, got, want)
		}
	}
	if script := []byte("#!/bin/sh\nseal\n"); new(rules).contentFlags("seal", languageOf("seal", script), script) != 0 {
		t.Error("a script is data")
	}
}

// TestMovedFilesKeepWhatTheirTextDecides, and lose what their path decided.
func TestMovedFilesKeepWhatTheirTextDecides(t *testing.T) {
	f := File{Path: "tests/ring.h", Flags: Test | Legacy}
	f.moveTo(found{path: "src/ring.h"})
	if f.Flags != Legacy {
		t.Errorf("%b, not %b", f.Flags, Legacy)
	}
	f.moveTo(found{path: "examples/ring.h"})
	if f.Flags != Legacy|Example {
		t.Errorf("%b, not %b", f.Flags, Legacy|Example)
	}
}
