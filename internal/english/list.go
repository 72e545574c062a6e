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

// Listed counts the lists in a text of paragraphs, and the items of those by the noun that comes
// first in the head of each; by the first noun where a head has none. Of several lists by one
// noun the longest counts. "- and 3 more" is no item. A paragraph in bold is of one thing.
func Listed(text string, nouns []string) (items map[string]int, lists int) {
	items = map[string]int{}
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		lines := strings.Split(paragraph, "\n")
		if strings.HasPrefix(lines[0], "**") {
			continue
		}
		of, at := append(nouns, "")[0], len(lines[0])
		for _, noun := range nouns {
			if i := strings.Index(lines[0], Singular(noun)); i >= 0 && i < at {
				of, at = noun, i
			}
		}
		n := 0
		for _, line := range lines {
			if strings.HasPrefix(line, "- ") && !strings.HasPrefix(line, "- and ") {
				n++
			}
		}
		if n > 0 {
			lists, items[of] = lists+1, max(items[of], n)
		}
	}
	return items, lists
}

// Distinct is a list without empty texts, and without what it has before in whatever case.
func Distinct(texts []string) (out []string) {
	for _, text := range texts {
		if text != "" && !slices.ContainsFunc(out, func(had string) bool { return strings.EqualFold(had, text) }) {
			out = append(out, text)
		}
	}
	return out
}
