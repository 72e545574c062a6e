package chunk

import (
	"bytes"
	"slices"
)

// goCuts cuts Go source at its declarations. ok is false for a file that has anything
// else outside of them.
func (m *memory) goCuts(src []byte) (cuts []cut, ok bool) {
	m.declarations = appendDeclarations(m.declarations[:0], src)
	if cuts, ok = outlined(m.declarations); !ok {
		cuts, ok = outlined(src)
	}
	return cuts, ok
}

// appendDeclarations appends a source with the same lines, where the bodies of functions and types and
// the elements of variables are left out: to read them takes most of the time, and only the
// names and lines of declarations count. A body ends at the first line that is a closing brace
// alone, as gofmt has it. Where that line is in a raw string, the rest has no outline.
func appendDeclarations(declarations, src []byte) []byte {
	at, closing := 0, -1 // the next of those lines is looked for once, however many functions precede it
	for at < len(src) {
		n := bytes.IndexByte(src[at:], '\n')
		if n < 0 {
			break
		}
		end := at + n
		if src[max(at, end-1)] == '{' && declares(src[at:end]) {
			if closing < end {
				closing = nextClosing(src, end)
			}
			if closing < len(src) && !hasDeclaration(src[end:closing]) {
				declarations = append(declarations, src[at:end]...)
				for range bytes.Count(src[end:closing+1], []byte("\n")) {
					declarations = append(declarations, '\n')
				}
				at = closing + 1
				continue
			}
		}
		declarations, at = append(declarations, src[at:end+1]...), end+1
	}
	return append(declarations, src[at:]...)
}

// nextClosing returns where the line ends that precedes the next closing brace alone, or the end of the source.
func nextClosing(src []byte, from int) int {
	if n := bytes.Index(src[from:], []byte("\n}\n")); n >= 0 {
		return from + n
	}
	return len(src)
}

// declaring are the words that declarations begin with, and a space.
var declaring = [][]byte{[]byte("func "), []byte("type "), []byte("var "), []byte("const ")}

// declares reports whether a line begins as a declaration does.
func declares(line []byte) bool {
	return slices.ContainsFunc(declaring, func(word []byte) bool { return bytes.HasPrefix(line, word) })
}

// hasDeclaration reports whether a line of a body, whose first one is empty, begins as a
// declaration does: the body ended before.
func hasDeclaration(body []byte) bool {
	for {
		n := bytes.IndexByte(body, '\n')
		if n < 0 {
			return false
		}
		if body = body[n+1:]; declares(body) {
			return true
		}
	}
}
