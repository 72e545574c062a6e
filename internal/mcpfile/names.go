package mcpfile

import (
	"fmt"
	"regexp"
	"strings"
)

var (
	serverName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$`)
	toolName   = regexp.MustCompile(`^[A-Za-z0-9_-]{1,60}$`)
)

// names finds names of servers that are taken or that look like another.
type names struct{ seen map[string]string }

func newNames(reserved []string) names {
	n := names{map[string]string{}}
	for _, name := range reserved {
		n.seen[Skeleton(name)] = "our own server " + name
	}
	return n
}

// take reports what is wrong with a name, or nothing.
func (n names) take(name string, line int) string {
	if !serverName.MatchString(name) {
		return fmt.Sprintf("the name %q must be 1 to 32 letters, digits, _ or -, and begin with a letter or digit: tools are called NAME.tool", name)
	}
	key := Skeleton(name)
	if other, taken := n.seen[key]; taken {
		return fmt.Sprintf("the name %q is that of %s, or looks like it: choose another", name, other)
	}
	n.seen[key] = fmt.Sprintf("server %s of line %d", name, line)
	return ""
}

// Skeleton maps names that a person could mistake for each other to one text.
// It is for names of ASCII letters, digits and signs.
func Skeleton(name string) string {
	return lookalikes.Replace(strings.ToLower(name))
}

var lookalikes = strings.NewReplacer("_", "", "-", "", ".", "", "0", "o", "1", "l", "i", "l", "5", "s", "rn", "m", "vv", "w")
