package upstream

import (
	"encoding/json"
	"errors"
	"strings"
)

// maxSchemaWork bounds the parts of a foreign schema with every reference
// replaced by what it refers to: so many are evaluated for one value at most.
const maxSchemaWork = 10_000

var errUnboundedSchema = errors.New("the schema refers to itself, or is larger than is evaluated")

// checkReferences returns an error for a schema that can be made to take long:
// one that refers to itself, that branches into too many copies of its parts, or
// whose references are not plain pointers into it.
func checkReferences(encoded json.RawMessage) error {
	var root any
	if err := json.Unmarshal(encoded, &root); err != nil {
		return err
	}
	w := schemaWork{root: root, known: make(map[string]int)}
	_, err := w.of(root)
	return err
}

// schemaWork counts the parts of one schema.
type schemaWork struct {
	root  any
	known map[string]int // by reference; 0 while it is being counted
}

// of counts the parts of a value.
func (w schemaWork) of(value any) (parts int, err error) {
	parts = 1
	add := func(child any) {
		n := 0
		if err == nil {
			n, err = w.of(child)
		}
		if parts += n; parts > maxSchemaWork {
			err = errUnboundedSchema
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
func (w schemaWork) keyword(name, text string) (parts int, err error) {
	switch name {
	case "$ref":
		return w.reference(text)
	case "$id", "id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef":
		if name == "id" && !strings.Contains(text, "/") { // a word, not draft 4's address
			return 1, nil
		}
		return 0, errUnboundedSchema
	}
	return 1, nil
}

func (w schemaWork) reference(pointer string) (parts int, err error) {
	if parts, seen := w.known[pointer]; seen {
		if parts == 0 {
			return 0, errUnboundedSchema
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
func (w schemaWork) resolve(pointer string) (target any, err error) {
	path, ok := strings.CutPrefix(pointer, "#/")
	if !ok || strings.ContainsAny(path, "%~") {
		return nil, errUnboundedSchema
	}
	target = w.root
	for name := range strings.SplitSeq(path, "/") {
		object, ok := target.(map[string]any)
		if !ok || object[name] == nil {
			return nil, errUnboundedSchema
		}
		target = object[name]
	}
	return target, nil
}
