package store

import (
	"context"
	"path/filepath"
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
// file with 100,000 tasks as of one with 20,000, and at 2,000 at most. It does not ask how long that takes. Two
// are left out: a search ranks all that it finds, and what is ready with a tag is found
// among all that is ready, or among all that have the tag, whichever are fewer.
func TestWorkDoesNotGrowWithTheWorkspace(t *testing.T) {
	testkit.Alone(t)
	const small, large, most = 20_000, 100_000, 2000
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
		w := at(t, r.file, time.Now)
		if err := w.Change(t.Context(), func(ctx context.Context) error {
			_, err := w.Exec(ctx, "drop trigger tasks_worded; drop trigger entities_worded")
			return err
		}); err != nil {
			t.Fatal(err)
		}
		fillRows(t, w, n)
		looked := map[string]int{}
		for _, o := range reading(w, n) {
			if strings.HasPrefix(o.name, "search") || o.name == "ready, with a tag that a fiftieth have" {
				continue
			}
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
		if few[name] == 0 || pages > few[name]*5/4+60 || pages > most {
			t.Errorf("%s looks at %d pages of %d tasks and at %d of %d", name, few[name], small, pages, large)
		}
	}
}
