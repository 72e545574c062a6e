package mcpsession

import (
	"errors"
	"strconv"
	"strings"
	"testing"
)

// TestListsEnd: a server decides neither how many pages are read nor how much of them is kept. What is null in
// them counts for the size alone.
func TestListsEnd(t *testing.T) {
	asked := 0
	pages := func(things []string, next func(n int) string) func(string) ([]*string, string, error) {
		asked = 0
		return func(string) (all []*string, _ string, _ error) {
			asked++
			for i := range things {
				all = append(all, nil, &things[i])
			}
			return all, next(asked), nil
		}
	}
	counted := func(n int) string { return strconv.Itoa(n) }
	for name, c := range map[string]struct {
		page   func(string) ([]*string, string, error)
		err    error
		things int
		pages  int
	}{
		"three pages":            {pages([]string{"a", "b"}, func(n int) string { return counted(n)[:len("x")*min(1, 3-n)] }), nil, 6, 3},
		"as many as are taken":   {pages([]string{"a", "b", "c"}, counted), nil, 10, 4},
		"empty pages":            {pages(nil, counted), errEndless, 0, maxPages},
		"a page leads to itself": {pages(nil, func(int) string { return "again" }), errEndless, 0, 2},
		"large pages":            {pages([]string{strings.Repeat("x", maxListed/3)}, counted), ErrTooLarge, 0, 3},
	} {
		asked = 0
		got, err := listed(10, c.page)
		if !errors.Is(err, c.err) || len(got) != c.things || asked != c.pages {
			t.Errorf("%s: got %d of %d pages, %v", name, len(got), asked, err)
		}
	}
}
