package schema

import (
	"errors"
	"strings"
)

// maxWork bounds the parts of a schema from elsewhere with every reference
// replaced by what it refers to: so many are evaluated for one value at most.
const maxWork = 10_000

var errUnbounded = errors.New("the schema refers to itself or to another document, or is larger than is evaluated")

// bounded returns an error for a schema that can be made to take long: one that
// refers to itself, that branches into too many copies of its parts, or whose
// references are not plain pointers into it.
func bounded(root any) error {
	w := work{root: root, known: make(map[string]int)}
	_, err := w.of(root)
	return err
}

// work counts the parts of one schema.
type work struct {
	root  any
	known map[string]int // by reference; 0 while it is being counted
}

// of counts the parts of a value.
func (w work) of(value any) (parts int, err error) {
	parts = 1
	add := func(child any) {
		n := 0
		if err == nil {
			n, err = w.of(child)
		}
		if parts += n; parts > maxWork {
			err = errUnbounded
		}
	}
	switch v := value.(type) {
	case []any:
		for _, child := range v {
			add(child)
		}
	case map[string]any:
		for key, child := range v {
			if text, ok := child.(string); ok && err == nil {
				var n int
				n, err = w.keyword(key, text)
				parts += n
				continue
			}
			add(child)
		}
	}
	return parts, err
}

// keyword counts what a keyword with a text refers to.
func (w work) keyword(name, text string) (parts int, err error) {
	switch name {
	case "$ref":
		return w.reference(text)
	case "$id", "id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef":
		if name == "id" && !strings.Contains(text, "/") { // a word, not draft 4's address
			return 1, nil
		}
		return 0, errUnbounded
	}
	return 1, nil
}

func (w work) reference(pointer string) (parts int, err error) {
	if parts, seen := w.known[pointer]; seen {
		if parts == 0 {
			return 0, errUnbounded
		}
		return parts, nil
	}
	target, err := w.resolve(pointer)
	if err != nil {
		return 0, err
	}
	w.known[pointer] = 0
	if parts, err = w.of(target); err == nil {
		w.known[pointer] = parts
	}
	return parts, err
}

// resolve follows a JSON pointer of names: "#/$defs/point".
func (w work) resolve(pointer string) (target any, err error) {
	path, ok := strings.CutPrefix(pointer, "#/")
	if !ok || strings.ContainsAny(path, "%~") {
		return nil, errUnbounded
	}
	target = w.root
	for name := range strings.SplitSeq(path, "/") {
		object, ok := target.(map[string]any)
		if !ok || object[name] == nil {
			return nil, errUnbounded
		}
		target = object[name]
	}
	return target, nil
}
