package elastic

import (
	"path"
	"strings"
)

// expressionOf writes a pattern of paths as a regular expression of the engine, with
// the meaning that it has for the index on this machine: it matches a path, or one of
// its folders; without a slash in it, a file's own name too. ok is false for a pattern
// without wildcards, and for one that is none.
func expressionOf(pattern string) (expression string, ok bool) {
	if _, err := path.Match(pattern, ""); err != nil || !strings.ContainsAny(pattern, "*?[") {
		return "", false
	}
	e := expressionWriter{rest: []rune(pattern)}
	for len(e.rest) > 0 && !e.bad {
		e.next()
	}
	expression = e.String() + "(/.*)?"
	if !strings.Contains(pattern, "/") {
		expression = "(.*/)?" + e.String() + "|" + expression
	}
	return expression, !e.bad
}

// expressionWriter writes the parts of a valid pattern.
type expressionWriter struct {
	strings.Builder
	rest []rune
	bad  bool // a range that begins after its end, which the engine refuses
}

func (e *expressionWriter) next() {
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
