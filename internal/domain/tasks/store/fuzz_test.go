package store

import (
	"strings"
	"testing"

	"countersign.dev/internal/fault"
)

// FuzzSearch: no text of a search is syntax: none fails, and a task is found by its
// own title.
func FuzzSearch(f *testing.F) {
	w := opened(f)
	made(f, w, NewTask{Title: "a task", Description: text("about something")})
	f.Add("fig.go")
	f.Add(`"a" AND NOT (b*) -c`)
	f.Fuzz(func(t *testing.T, term string) {
		if strings.ContainsRune(term, 0) || len(term) > 500 {
			t.Skip("refused by the schema")
		}
		found, total, _, err := w.SearchTasks(t.Context(), term, Page{Limit: 10})
		if err != nil || total < len(found) {
			t.Fatalf("%q: %d of %d, %v", term, len(found), total, fault.From(err))
		}
	})
}
