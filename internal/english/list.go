package english

import (
	"regexp"
	"slices"
	"strings"
)

var between = regexp.MustCompile(`[,;\n]\s*(?:and\s)?\s*`)

// Items are those of a list, "design, build and test". Where a comma parts them, too, an
// "and" that gives more than n may be part of one.
func Items(list string, n int) []string {
	texts := between.Split(strings.Trim(list, " .\n"), -1)
	if before, after, found := strings.Cut(texts[len(texts)-1], " and "); found && len(texts) != n {
		texts = append(texts[:len(texts)-1], before, after)
	}
	return slices.DeleteFunc(texts, func(text string) bool { return text == "" })
}
