package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Load reads a configuration file and checks it for what the command
// needs. getenv returns the values of ${NAME} and of the documented variables.
func Load(path string, getenv func(string) string, need func(*Config) []string) (*Config, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("the configuration cannot be read: %w", err)
	}
	c, problems := decodeConfig(text, getenv)
	if readable := c.root.Kind != 0 || len(problems) == 0; readable { // else it is not known what it lacks
		c.override(getenv)
		c.defaults()
		problems = append(problems, c.problems()...)
		problems = append(problems, need(c)...)
	}
	if len(problems) > 0 {
		return nil, fmt.Errorf("%s is not valid:\n  %s", path, strings.Join(problems, "\n  "))
	}
	return c, nil
}

// decodeConfig decodes strictly and collects every problem.
func decodeConfig(text []byte, getenv func(string) string) (*Config, []string) {
	c := &Config{}
	if err := yaml.Unmarshal(text, &c.root); err != nil {
		return c, []string{strings.TrimPrefix(err.Error(), "yaml: ")}
	}
	if c.root.Kind == 0 {
		return c, nil
	}
	problems := slices.Concat(withoutDuplicates(&c.root), expand(&c.root, getenv), unknownKeys(&c.root, reflect.TypeFor[Config]()))
	mistyped := wrongTypes(&c.root, reflect.TypeFor[Config](), "")
	problems = append(problems, mistyped...)
	var wrong *yaml.TypeError
	if err := c.root.Decode(c); errors.As(err, &wrong) {
		for _, e := range wrong.Errors {
			if line, _, _ := strings.Cut(e, ": "); !slices.ContainsFunc(mistyped, func(p string) bool { return strings.HasPrefix(p, line+": ") }) {
				problems = append(problems, line+": the value has the wrong type") // the decoder's words have the value, which may be a secret
			}
		}
	} else if err != nil {
		problems = append(problems, err.Error())
	}
	return c, problems
}

// withoutDuplicates takes keys out that a mapping has already: the decoder would leave the
// whole mapping out, and then more would be missing than is.
func withoutDuplicates(n *yaml.Node) (problems []string) {
	if n.Kind == yaml.MappingNode {
		first, kept := map[string]int{}, n.Content[:0:0]
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			if line, twice := first[key.Value]; twice {
				problems = append(problems, fmt.Sprintf("line %d: the key %q is there already, in line %d: leave one out", key.Line, key.Value, line))
				continue
			}
			first[key.Value] = key.Line
			kept = append(kept, key, n.Content[i+1])
		}
		n.Content = kept
	}
	for _, child := range n.Content {
		problems = append(problems, withoutDuplicates(child)...)
	}
	return problems
}

// wrongTypes finds values that are not of the type of their key. It repeats none: it may be
// a secret.
func wrongTypes(n *yaml.Node, t reflect.Type, key string) (problems []string) {
	if n.Kind == yaml.DocumentNode {
		return wrongTypes(n.Content[0], t, key)
	}
	if n.Kind == yaml.AliasNode || n.Tag == "!!null" {
		return nil
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	within := func(name string) string { return strings.TrimPrefix(key+"."+name, ".") }
	form := formOf(t)
	switch {
	case n.Kind == yaml.SequenceNode && t.Kind() == reflect.Slice:
		for i, item := range n.Content {
			problems = append(problems, wrongTypes(item, t.Elem(), fmt.Sprintf("%s[%d]", key, i))...)
		}
		return problems
	case n.Kind == yaml.MappingNode && form == formMapping:
		known, others := map[string]reflect.Type(nil), reflect.Type(nil)
		if t.Kind() == reflect.Map {
			others = t.Elem()
		} else {
			known, others = keysOf(t)
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			name := n.Content[i].Value
			if of := cmp.Or(known[name], others); of != nil {
				problems = append(problems, wrongTypes(n.Content[i+1], of, within(name))...)
			}
		}
		return problems
	case form != formMapping && n.Decode(reflect.New(t).Interface()) == nil:
		return nil
	}
	return []string{fmt.Sprintf("line %d: %s must be %s", n.Line, cmp.Or(key, "the file"), form)}
}

const formMapping = "keys with values (key: value)"

// formOf is what a value of a type looks like in the file.
func formOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Map, reflect.Struct:
		return formMapping
	case reflect.Slice:
		return "a list such as [a, b]"
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "one text"
	case reflect.Float64:
		return "a number"
	}
	if t == reflect.TypeFor[time.Duration]() {
		return "a duration such as 30s"
	}
	return "a whole number"
}

var variable = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// expand replaces ${NAME} inside values, after parsing, so that no value of the
// environment can become YAML.
func expand(n *yaml.Node, getenv func(string) string) (problems []string) {
	if n.Kind == yaml.ScalarNode {
		n.Value = variable.ReplaceAllStringFunc(n.Value, func(ref string) string {
			value := getenv(ref[2 : len(ref)-1])
			if value == "" {
				problems = append(problems, fmt.Sprintf("line %d: the environment has no %s", n.Line, ref[2:len(ref)-1]))
			}
			return value
		})
	}
	for _, child := range n.Content {
		problems = append(problems, expand(child, getenv)...)
	}
	return problems
}

// unknownKeys compares the keys of a node with the type that they go into.
func unknownKeys(n *yaml.Node, t reflect.Type) (problems []string) {
	switch {
	case n.Kind == yaml.DocumentNode:
		return unknownKeys(n.Content[0], t)
	case n.Kind == yaml.SequenceNode && t.Kind() == reflect.Slice:
		for _, item := range n.Content {
			problems = append(problems, unknownKeys(item, t.Elem())...)
		}
	case n.Kind == yaml.MappingNode && t.Kind() == reflect.Map:
		for i := 1; i < len(n.Content); i += 2 {
			problems = append(problems, unknownKeys(n.Content[i], t.Elem())...)
		}
	case n.Kind == yaml.MappingNode && t.Kind() == reflect.Struct:
		known, others := keysOf(t)
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			field, ok := known[key.Value]
			switch {
			case ok:
				problems = append(problems, unknownKeys(n.Content[i+1], field)...)
			case others != nil:
				problems = append(problems, unknownKeys(n.Content[i+1], others)...)
			case t == reflect.TypeFor[Config]() && successors[key.Value] != "":
				problems = append(problems, fmt.Sprintf("line %d: %s", key.Line, successors[key.Value]))
			default:
				problems = append(problems, fmt.Sprintf("line %d: unknown key %q", key.Line, key.Value))
			}
		}
	}
	return problems
}

// successors maps removed keys to what replaced them.
var successors = map[string]string{
	"internal_keys": "internal_keys was replaced by keys.signing, private keys of the gateway only, and by keys.sealing, secrets of the gateway and of each server (keys: {signing: [PEM], sealing: {gateway: [SECRET], hr: [SECRET]}})",
	"model":         "model was replaced by models, which names each model (models: {rehearsal: {provider: rehearsal, timeout: 60s}}), and by system_prompt",
}

// keysOf returns the keys of a type, and the type of every other key where any
// name is a key.
func keysOf(t reflect.Type) (keys map[string]reflect.Type, others reflect.Type) {
	keys = make(map[string]reflect.Type, t.NumField())
	for i := range t.NumField() {
		switch key := t.Field(i).Tag.Get("yaml"); key {
		case "":
		case ",inline":
			if t.Field(i).Type.Kind() == reflect.Map {
				others = t.Field(i).Type.Elem()
				continue
			}
			inner, _ := keysOf(t.Field(i).Type)
			maps.Copy(keys, inner)
		default:
			keys[key] = t.Field(i).Type
		}
	}
	return keys, others
}
