package elastic

import (
	"slices"
	"strings"

	"countersign.dev/internal/domain/codesearch/glob"
)

// expressionOf writes a pattern of paths as a regular expression of the engine, with
// the meaning that it has for the index on this machine: it matches a path, or one of
// its folders; without a slash in it, a file's own name too; a part ** is any number of
// folders. ok is false for a pattern
// without wildcards, and for one that is none.
func expressionOf(pattern string) (expression string, ok bool) {
	if !glob.IsPattern(pattern) {
		return "", false
	}
	e := expressionWriter{rest: []rune(shortest(pattern)), deep: glob.HasAnyDepth(pattern)}
	for len(e.rest) > 0 && !e.bad {
		e.next()
	}
	expression = e.String() + "(/.*)?"
	if !strings.Contains(pattern, "/") {
		expression = "(.*/)?" + e.String() + "|" + expression
	}
	return expression, !e.bad
}

// shortest leaves one of several parts ** after each other.
func shortest(pattern string) string {
	parts := slices.CompactFunc(strings.Split(pattern, "/"), func(a, b string) bool { return a == "**" && b == "**" })
	return strings.Join(parts, "/")
}

// expressionWriter writes the parts of a valid pattern.
type expressionWriter struct {
	strings.Builder
	rest []rune
	deep bool // a part ** is any number of folders
	in   bool // something of the present part was written
	bad  bool // a range that begins after its end, which the engine refuses
}

func (e *expressionWriter) next() {
	if e.deep && e.anyDepth() {
		return
	}
	e.in = e.rest[0] != '/'
	switch e.rest[0] {
	case '*':
		e.WriteString("[^/]*")
		e.rest = e.rest[1:]
	case '?':
		e.WriteString("[^/]")
		e.rest = e.rest[1:]
	case '[':
		e.class()
	default:
		e.WriteString(literal(string(e.character())))
	}
}

// anyDepth writes a part ** at which the rest begins: folders with their slashes, or at
// the end all that is below.
func (e *expressionWriter) anyDepth() bool {
	switch rest := string(e.rest); {
	case rest == "/**":
		e.WriteString("(/.*)?")
		e.rest = nil
	case !e.in && rest == "**":
		e.WriteString(".*")
		e.rest = nil
	case !e.in && strings.HasPrefix(rest, "**/"):
		e.WriteString("([^/]+/)*")
		e.rest = e.rest[3:]
	default:
		return false
	}
	return true
}

// character takes the next character, which a backslash may be before.
func (e *expressionWriter) character() (c rune) {
	if e.rest[0] == '\\' {
		e.rest = e.rest[1:]
	}
	c, e.rest = e.rest[0], e.rest[1:]
	return c
}

// class writes a class of characters.
func (e *expressionWriter) class() {
	e.WriteByte('[')
	e.rest = e.rest[1:]
	if e.rest[0] == '^' {
		e.WriteByte('^')
		e.rest = e.rest[1:]
	}
	for first := true; first || e.rest[0] != ']'; first = false {
		low := e.character()
		high := low
		if e.rest[0] == '-' {
			e.rest = e.rest[1:]
			high = e.character()
		}
		e.bad = e.bad || high < low
		e.WriteString(literal(string(low)) + "-" + literal(string(high)))
	}
	e.WriteByte(']')
	e.rest = e.rest[1:]
}
