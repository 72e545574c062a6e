package store

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"countersign.dev/internal/domain/tasks/words"
)

// TestPartsOfManyWords: a part is kept when more than 64 words have it, whatever is
// before and behind it, and a search for it agrees with reading every text, while
// tasks change. What is kept of it is in the sets of the part alone.
func TestPartsOfManyWords(t *testing.T) {
	w := opened(t)
	for i := range 3 * newestRows {
		made(t, w, NewTask{Title: fmt.Sprintf("%dunder%d", i, i), Description: text(fmt.Sprintf("größe%d ababab%d", i, i))})
	}
	wantNewest(t, w, "tasks", newestRows-1)
	terms := []string{"under", "unde", "der", "nder1", "größe", "ÖßE", "bab", "under under", "7under7", "under17", "erunder"}
	agree(t, w, terms)
	for _, title := range []string{"blunder", "thunder and 17under", "thunder ", "a 1", "under"} {
		for id := range int64(20) {
			if _, err := w.UpdateTask(t.Context(), 1+id*7, TaskUpdate{Title: text(fmt.Sprint(title, id))}); err != nil {
				t.Fatal(err)
			}
		}
		agree(t, w, terms)
	}
	wantKept(t, w, "under", true)
	wantKept(t, w, "der", true)
	wantKept(t, w, "öße", true)
	wantKept(t, w, "17under", false)
	if err := changed(t, w, "delete from postings where word not like '*%' and word not like ':%'"); err != nil {
		t.Fatal(err)
	}
	if _, n, _, err := w.SearchTasks(t.Context(), "der", Page{Limit: 1}); err != nil || n < 3*newestRows-40 {
		t.Errorf("of the set of the part: got %d, %v", n, err)
	}
}

func changed(t *testing.T, w *Workspace, statement string) error {
	t.Helper()
	return w.Change(t.Context(), func(ctx context.Context) error { _, err := w.Exec(ctx, statement); return err })
}

func wantKept(t *testing.T, w *Workspace, part string, want bool) {
	t.Helper()
	kept, err := column[bool](t.Context(), w.file, "select kept from parts where part = ?", part)
	if got := len(kept) == 1 && kept[0]; err != nil || got != want {
		t.Errorf("%q: kept %v, %v, want %v", part, got, err, want)
	}
}

// TestPartsAreCounted: those of three characters have the number of their words, and
// those of more than 64 words are kept.
func TestPartsAreCounted(t *testing.T) {
	w, r := opened(t), rand.New(rand.NewPCG(7, 13))
	for range 8 * newestRows {
		made(t, w, NewTask{Title: fmt.Sprintf("%b", r.IntN(1<<12)), Description: text(strings.Repeat("xyz", 6+r.IntN(3)) + fmt.Sprint(r.IntN(1000)))})
	}
	if err := w.Change(t.Context(), w.indexAll); err != nil {
		t.Fatal(err)
	}
	all, err := column[string](t.Context(), w.file, "select word from words")
	if err != nil {
		t.Fatal(err)
	}
	frequent := map[string]int{}
	for _, word := range all {
		seen := map[string]bool{}
		for from := range word {
			for to := from + 3; to <= len(word); to++ {
				if part := word[from:to]; !seen[part] {
					seen[part] = true
					frequent[part]++
				}
			}
		}
	}
	kept, err := column[string](t.Context(), w.file, "select part from parts where kept = 1")
	if err != nil || len(kept) < 100 {
		t.Fatalf("%d parts are kept, %v", len(kept), err)
	}
	for _, part := range kept {
		if frequent[part] <= manyWords || len(part) > words.MaxPart {
			t.Errorf("%q of %d words is kept", part, frequent[part])
		}
		delete(frequent, part)
	}
	for part, n := range frequent {
		counted, err := column[int](t.Context(), w.file, "select words from parts where part = ?", part)
		if err != nil || n > manyWords && len(part) <= words.MaxPart || len(part) == words.MinPart && (len(counted) != 1 || counted[0] != n) {
			t.Errorf("%q of %d words: counted %d, %v", part, n, counted, err)
		}
	}
}

// TestPartsOfEntities: of names and identifiers, as of tasks.
func TestPartsOfEntities(t *testing.T) {
	w := opened(t)
	for i := range 2 * newestRows {
		if _, err := w.CreateEntity(t.Context(), NewEntity{Type: []string{"file", "other"}[i%2], Name: fmt.Sprint("report", i), Identifier: text(fmt.Sprint("export", i)), CreatedBy: "tester"}); err != nil {
			t.Fatal(err)
		}
	}
	for id := range int64(10) {
		if _, err := w.UpdateEntity(t.Context(), 1+id, EntityUpdate{Name: text("renamed"), Identifier: Field[string]{true, nil}}); err != nil {
			t.Fatal(err)
		}
	}
	for term, want := range map[string]int{"epor": 2*newestRows - 10, "port": 2*newestRows - 10, "xport": 2*newestRows - 10, "amed": 10, "expor report": 2*newestRows - 10} {
		if _, n, _, err := w.SearchEntities(t.Context(), term, "", Page{Limit: 1}); err != nil || n != want {
			t.Errorf("%s: got %d, %v, want %d", term, n, err, want)
		}
	}
	wantKept(t, w, "epor", true)
}

// TestPartsOfAProcessBefore: one of the version before puts rows into the sets of their
// words and not into those of parts.
func TestPartsOfAProcessBefore(t *testing.T) {
	w := opened(t)
	for i := range newestRows + 30 {
		made(t, w, NewTask{Title: fmt.Sprint("folder", i), Description: text("a")})
	}
	if err := changed(t, w, "update indexed set before = 1000 where kind = 'tasks'"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.UpdateTask(t.Context(), newestRows+3, TaskUpdate{Title: text("moulder")}); err != nil {
		t.Fatal(err)
	}
	terms := []string{"older", "oulder", "folder", "der"}
	agree(t, w, terms)
	if err := w.Change(t.Context(), func(ctx context.Context) error { return w.index(ctx, "tasks") }); err != nil {
		t.Fatal(err)
	}
	agree(t, w, terms)
}
