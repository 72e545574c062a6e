package config

import (
	"fmt"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// line returns "line N: " of the key at a path of the file (an index leads into
// a list), or of the deepest key that is there, and "line 1: " when none is.
func (c *Config) line(path ...string) string {
	at := 1
	n := &c.root
	if n.Kind == yaml.DocumentNode {
		n = n.Content[0]
	}
	for _, key := range path {
		found := false
		if i, err := strconv.Atoi(key); err == nil && n.Kind == yaml.SequenceNode && i < len(n.Content) {
			at, n, found = n.Content[i].Line, n.Content[i], true
		}
		for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content) && !found; i += 2 {
			if n.Content[i].Value == key {
				at, n, found = n.Content[i].Line, n.Content[i+1], true
			}
		}
		if !found {
			break
		}
	}
	return fmt.Sprintf("line %d: ", at)
}
