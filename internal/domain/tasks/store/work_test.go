package store

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"modernc.org/sqlite"

	"countersign.dev/internal/testkit"
)

// readers are the connections of this process that were opened to one file, whose
// counters say how much of it they read.
type readers struct {
	mu    sync.Mutex
	file  string
	conns []sqlite.DBStatus
}

// pages is how many pages of the file were looked at so far.
func (r *readers) pages(t *testing.T) (n int) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.conns {
		for _, counter := range []sqlite.DBStatusOp{sqlite.DBStatusCacheHit, sqlite.DBStatusCacheMiss} {
			at, _, err := c.Status(counter, false)
			if err != nil {
				t.Fatal(err)
			}
			n += at
		}
	}
	return n
}

// TestWorkDoesNotGrowWithTheWorkspace: an operation looks at about as many pages of a
// file with 60,000 tasks as of one with 20,000, and at 2,000 at most. It does not ask
// how long that takes. Searches for words that must stand beside one another elsewhere
// than in files are not among them.
func TestWorkDoesNotGrowWithTheWorkspace(t *testing.T) {
	testkit.Alone(t)
	const small, large, most = 20_000, 60_000, 2000
	r := &readers{}
	sqlite.RegisterConnectionHook(func(conn sqlite.ExecQuerierContext, dsn string) error {
		r.mu.Lock()
		defer r.mu.Unlock()
		if c, ok := conn.(sqlite.DBStatus); ok && r.file != "" && strings.Contains(dsn, r.file) {
			r.conns = append(r.conns, c)
		}
		return nil
	})
	work := func(n int) map[string]int {
		r.file, r.conns = filepath.Join(t.TempDir(), "w.db"), nil
		defer func() { r.file = "" }()
		old, err := open(t.Context(), r.file, "/somewhere", time.Now, steps()[:3]) // the upgrade indexes all rows together
		if err != nil {
			t.Fatal(err)
		}
		if err := old.Change(t.Context(), func(ctx context.Context) error {
			_, err := old.Exec(ctx, "drop trigger tasks_worded; drop trigger entities_worded")
			return err
		}); err != nil {
			t.Fatal(err)
		}
		fillRows(t, old, n)
		if err := old.Close(); err != nil {
			t.Fatal(err)
		}
		r.conns = nil
		w := at(t, r.file, time.Now)
		looked := map[string]int{}
		for _, o := range slices.Concat(reading(w, n), cleaning(w)) {
			before := r.pages(t)
			if err := o.do(t.Context()); err != nil {
				t.Fatalf("%s: %v", o.name, err)
			}
			looked[o.name] = r.pages(t) - before
		}
		return looked
	}
	few, many := work(small), work(large)
	for name, pages := range many {
		t.Logf("%s: %d pages, then %d", name, few[name], pages)
		const spans = 100 // a search reads each span of a set: seven, where the small file has two
		if few[name] == 0 || pages > few[name]*5/4+spans || pages > most {
			t.Errorf("%s looks at %d pages of %d tasks and at %d of %d", name, few[name], small, pages, large)
		}
	}
}
