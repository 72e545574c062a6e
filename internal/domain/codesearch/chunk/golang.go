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
	for len(src) > 0 {
		end := bytes.IndexByte(src, '\n')
		if end < 0 {
			break
		}
		if src[max(0, end-1)] == '{' && declares(src[:end]) {
			if n := bytes.Index(src[end:], []byte("\n}\n")); n >= 0 && !hasDeclaration(src[end:end+n]) {
				declarations = append(declarations, src[:end]...)
				for range bytes.Count(src[end:end+n+1], []byte("\n")) {
					declarations = append(declarations, '\n')
				}
				src = src[end+n+1:]
				continue
			}
		}
		declarations, src = append(declarations, src[:end+1]...), src[end+1:]
	}
	return append(declarations, src...)
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
