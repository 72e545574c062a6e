package mcpfile

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// problem is one fault of the file.
type problem struct {
	line int
	text string
}

// reader collects servers and problems.
type reader struct {
	o        Options
	file     *File
	problems []problem
}

func (r *reader) report(line int, format string, args ...any) {
	r.problems = append(r.problems, problem{line, fmt.Sprintf(format, args...)})
}

func (r *reader) warn(line int, key, why string) {
	r.file.Warnings = append(r.file.Warnings, fmt.Sprintf("line %d: %q %s", line, key, why))
}

// Keys of desktop clients that have no effect here.
var (
	clientKeys = map[string]string{
		"$schema": "is not read", "globalShortcut": "is a setting of a desktop client", "preferences": "is a setting of a desktop client",
		"inputs": "is a desktop client's: values come from the environment, as ${NAME}",
	}
	serverKeys = map[string]string{
		"autoApprove": "is not honoured: a person approves each change here", "alwaysAllow": "is not honoured: a person approves each change here",
		"disabledTools": "is a desktop client's: use deny", "description": "is not read", "version": "is not read", "gallery": "is not read",
		"trust": "is not honoured: a person approves each change here",
	}
)

// fields are what reads the value of each key of an object.
type fields map[string]func(*node)

// object reads an object by its keys; others are problems, or warnings when
// ignored has them.
func (r *reader) object(n *node, what string, known fields, ignored map[string]string) {
	if n.kind != '{' {
		r.report(n.line, "%s must be an object", what)
		return
	}
	seen := map[string]bool{}
	for _, m := range n.members {
		read, ok := known[m.name]
		switch {
		case seen[m.name]:
			r.report(m.line, "%q is repeated", m.name)
		case ok:
			read(m.value)
		case ignored[m.name] != "":
			r.warn(m.line, m.name, ignored[m.name])
		default:
			r.report(m.line, "unknown key %q; known are %s", m.name, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
		seen[m.name] = true
	}
}

func (r *reader) text(n *node, key string) string {
	if n.kind != '"' {
		r.report(n.line, "%s must be a text", key)
		return ""
	}
	return r.expand(n)
}

var variable = regexp.MustCompile(`\$\{([^}]*)\}?`)

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// expand replaces ${NAME} by a value of the environment, after parsing, so that
// no value can become JSON.
func (r *reader) expand(n *node) string {
	return variable.ReplaceAllStringFunc(n.text, func(ref string) string {
		name := strings.TrimSuffix(strings.TrimPrefix(ref, "${"), "}")
		if !strings.HasSuffix(ref, "}") || !variableName.MatchString(name) {
			r.report(n.line, "only ${NAME} is replaced by a value of the environment")
			return ""
		}
		value := ""
		if r.o.Getenv != nil {
			value = r.o.Getenv(name)
		}
		if value == "" {
			r.report(n.line, "the environment has no %s", name)
		}
		return value
	})
}

func (r *reader) flag(n *node, key string) bool {
	if n.kind != 't' && n.kind != 'f' {
		r.report(n.line, "%s must be true or false", key)
	}
	return n.kind == 't'
}

// maxTimeout is the longest that one call may be given.
const maxTimeout = 10 * time.Minute

func (r *reader) timeout(n *node, key string) time.Duration {
	ms, err := strconv.Atoi(n.text)
	if n.kind != '0' || err != nil || ms <= 0 || time.Duration(ms)*time.Millisecond > maxTimeout {
		r.report(n.line, "%s must be a whole number of milliseconds, from 1 to %d", key, maxTimeout.Milliseconds())
		return 0
	}
	return time.Duration(ms) * time.Millisecond
}

// texts reads a list of texts, which is not nil when it is empty.
func (r *reader) texts(n *node, key string) []string {
	if n.kind != '[' {
		r.report(n.line, "%s must be a list of texts", key)
		return nil
	}
	list := make([]string, 0, len(n.items))
	for _, item := range n.items {
		list = append(list, r.text(item, "each of "+key))
	}
	return list
}

// names reads a list of names, of roles or tools: none is empty or repeated.
func (r *reader) names(n *node, key string) []string {
	list := r.texts(n, key)
	for i, name := range list {
		if name == "" || slices.Contains(list[:i], name) {
			r.report(n.line, "%s must not have an empty or a repeated name", key)
			break
		}
	}
	return list
}

// pairs reads an object of texts, in the file's order.
func (r *reader) pairs(n *node, key string, each func(line int, name, value string)) {
	if n.kind != '{' {
		r.report(n.line, "%s must be an object of texts", key)
		return
	}
	seen := map[string]bool{}
	for _, m := range n.members {
		if seen[m.name] {
			r.report(m.line, "%q is repeated", m.name)
		}
		seen[m.name] = true
		each(m.line, m.name, r.text(m.value, key+"."+m.name))
	}
}
