package chunk

import (
	"bytes"
	"maps"
	"slices"
	"testing"
)

// languages are those with a scanner, Go, and one without.
func languages() []string {
	return append(slices.Sorted(maps.Keys(syntaxes)), "Go", "Text")
}

// check compares the chunks of a file with what Chunk promises.
func check(t *testing.T, language string, src []byte) {
	t.Helper()
	lines := appendStarts(nil, src)
	covered := make([]bool, len(lines))
	last, end := 0, 0
	for _, c := range Of(language, src) {
		if c.Line <= last || c.Last < c.Line || c.Last > len(lines)-1 || c.Start < end || c.Start != lines[c.Line-1] || c.End != lines[c.Last] || c.Doc < 0 || c.Doc > c.End-c.Start {
			t.Fatalf("%s: chunk %+v after line %d, byte %d of %q", language, c, last, end, src)
		}
		last, end = c.Last, c.End
		for i := c.Line; i <= c.Last; i++ {
			covered[i-1] = true
		}
		for _, d := range c.Definitions {
			if d.Name == "" || d.Line < 1 || d.Line > len(lines)-1 {
				t.Fatalf("%s: definition %+v of %q", language, d, src)
			}
		}
	}
	for i := range len(lines) - 1 {
		if !covered[i] && len(bytes.TrimSpace(src[lines[i]:lines[i+1]])) > 0 {
			t.Fatalf("%s: line %d of %q is in no chunk", language, i+1, src)
		}
	}
}

// TestOddLinesAreChunked: lines that begin or end where a name would be.
func TestOddLinesAreChunked(t *testing.T) {
	for _, line := range []string{
		":", ":x", ": x = 1", ":: x", "  :a => b", "::before {", "class :", "class ::A::B", "def :", "def self.", "def ", "=", "= function", "x: ", "x = ", "(", "()", ") {", "~", "~A()", "#", "#define", "#[", "[", "]",
		"@", "impl<", "impl<T", "impl for ", "func (", "func ()", "func (r", "struct", "struct (", "enum class", "function*", "\\", `"`, `"\`, "'''", "/*", "*/", "`", "}", "}}}", "{", "\x00", "\xff", "\r", "\t", "export default", "pub(", "pub(crate)",
	} {
		for _, language := range languages() {
			for _, src := range []string{line, line + "\n", "a\n\n" + line + "\nclass X {\n" + line + "\n}\n"} {
				check(t, language, []byte(src))
			}
		}
	}
}

// FuzzOf: any bytes in any language become chunks in order that cover every line.
func FuzzOf(f *testing.F) {
	f.Add([]byte("// A verifies.\nclass A {\n  :x\n  run() {\n  }\n}\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		for _, language := range languages() {
			check(t, language, src)
		}
	})
}
