package sqlite

import (
	"fmt"
	"path/filepath"
	"testing"
)

// TestStatementsThatAreKept: as many as there is room for, each once, and none is left
// as being read.
func TestStatementsThatAreKept(t *testing.T) {
	db, err := Open(t.Context(), "notes", filepath.Join(t.TempDir(), "notes.db"), "create table if not exists notes (text text)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for range 2 {
		for i := range 2 * maxStatements {
			rows, err := db.In(t.Context()).QueryContext(t.Context(), fmt.Sprintf("select %d", i))
			if err := db.Each(t.Context(), rows, err, func() error { return nil }); err != nil {
				t.Fatal(err)
			}
		}
	}
	one, err := db.read.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer one.Close()
	if err := one.Raw(func(c any) error {
		kept := c.(*conn).statements
		for text, s := range kept {
			if s.reading {
				t.Errorf("%s is left as being read", text)
			}
		}
		if len(kept) != maxStatements {
			t.Errorf("%d statements are kept, want %d", len(kept), maxStatements)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}
