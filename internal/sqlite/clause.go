package sqlite

import "strings"

// Clause collects the parts of a condition, all of which must hold. Its texts are
// constants of the store that writes them; every value is a parameter.
type Clause struct {
	texts []string
	Args  []any // in the order of their parameters
}

// And adds a part with its parameters.
func (c *Clause) And(text string, args ...any) {
	c.texts = append(c.texts, text)
	c.Args = append(c.Args, args...)
}

// String is the condition; without parts it is true.
func (c Clause) String() string {
	if len(c.texts) == 0 {
		return "true"
	}
	return strings.Join(c.texts, " and ")
}
