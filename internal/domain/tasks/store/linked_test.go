package store

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"countersign.dev/internal/testkit"
)

func madeEntity(t *testing.T, w *Workspace, name, identifier string) int64 {
	t.Helper()
	e, err := w.CreateEntity(t.Context(), NewEntity{Type: "file", Name: name, Identifier: text(identifier), CreatedBy: "tester"})
	if err != nil {
		t.Fatal(err)
	}
	return e.ID
}

func linkedTo(t *testing.T, w *Workspace, task, entity int64) {
	t.Helper()
	if _, err := w.Link(t.Context(), task, entity, "tester"); err != nil {
		t.Fatal(err)
	}
}

// TestSearchFindsTasksOfEntities: a task that names a file and one that is linked to it
// are both found, the one that names it first, until the link or the entity goes.
func TestSearchFindsTasksOfEntities(t *testing.T) {
	w := opened(t)
	names := made(t, w, NewTask{Title: "names it", FileReferences: []string{"internal/config/config.go"}}).ID
	linked := made(t, w, NewTask{Title: "is linked"}).ID
	made(t, w, NewTask{Title: "neither"})
	file := madeEntity(t, w, "config.go", "internal/config/config.go")
	linkedTo(t, w, linked, file)
	linkedTo(t, w, names, file)
	for _, term := range []string{"config.go", "internal/config"} {
		wantFound(t, w, term, "names it", "is linked")
	}
	wantFound(t, w, "fig.go", "is linked", "names it") // neither has it as whole words, and this one is newer
	wantFound(t, w, "linked config.go", "is linked")
	wantFound(t, w, "neither config.go", "neither", "names it", "is linked") // none has both
	page, total, _, err := w.SearchTasks(t.Context(), "config.go", Page{Limit: 1, Offset: 1})
	if err != nil || total != 2 || len(page) != 1 || page[0].Snippet != "**config.go**: internal/config/config.go" {
		t.Errorf("the second page: got %+v of %d, %v", page, total, err)
	}
	if _, err := w.UpdateEntity(t.Context(), file, EntityUpdate{Name: text("settings.go"), Identifier: Field[string]{true, text("internal/settings.go")}}); err != nil {
		t.Fatal(err)
	}
	wantFound(t, w, "config.go", "names it")
	wantFound(t, w, "settings.go", "is linked", "names it")
	if _, err := w.Unlink(t.Context(), names, file); err != nil {
		t.Fatal(err)
	}
	wantFound(t, w, "settings.go", "is linked")
	if _, err := w.DeleteEntity(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	wantFound(t, w, "settings.go")
	if _, err := w.UndeleteEntity(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	wantFound(t, w, "settings.go", "is linked")
	if _, err := w.DeleteTask(t.Context(), linked, false); err != nil {
		t.Fatal(err)
	}
	wantFound(t, w, "settings.go")
}

// TestSearchesByEntitiesAgreeWithReadingThem compares random searches with the oracle
// while links and entities come and go, and tasks are purged.
func TestSearchesByEntitiesAgreeWithReadingThem(t *testing.T) {
	testkit.Alone(t)
	r := rand.New(rand.NewPCG(8, 13))
	w := opened(t)
	for i := range 150 {
		made(t, w, NewTask{Title: sentence(r, 3), Description: text(sentence(r, 6)), FileReferences: []string{sentence(r, 1)}})
		madeEntity(t, w, sentence(r, 2), fmt.Sprint(sentence(r, 2), "/", i))
	}
	agrees(t, w, r, 30)
	for range 4 {
		for range 150 {
			task, entity := int64(1+r.IntN(150)), int64(1+r.IntN(150))
			switch r.IntN(10) {
			case 0:
				_, _ = w.DeleteEntity(t.Context(), entity)
			case 1:
				_, _ = w.UndeleteEntity(t.Context(), entity)
			case 2, 3:
				_, _ = w.Unlink(t.Context(), task, entity)
			case 4:
				_, _ = w.UpdateEntity(t.Context(), entity, EntityUpdate{Name: text(sentence(r, 2))})
			case 5:
				_, _ = w.DeleteTask(t.Context(), task, false)
			case 6:
				_ = w.Change(t.Context(), func(ctx context.Context) error { return w.Purge(ctx, []int64{task}) })
			default:
				_, _ = w.Link(t.Context(), task, entity, "tester")
			}
		}
		agrees(t, w, r, 30)
		wantLinked(t, w)
	}
}

// wantLinked checks the sets of linked tasks against the links.
func wantLinked(t *testing.T, w *Workspace) {
	t.Helper()
	links, err := column[string](t.Context(), w.file, `select distinct value || ' ' || task_id from task_entity_links, json_each(json_array(0, entity_id)) where deleted_at is null order by 1`)
	if err != nil {
		t.Fatal(err)
	}
	entities, err := column[int64](t.Context(), w.file, "select distinct entity_id from linked")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, entity := range entities {
		tasks, err := (&byEntities{file: w.file}).tasksOf(t.Context(), []int64{entity})
		if err != nil || len(tasks) == 0 {
			t.Errorf("entity %d: got %v, %v", entity, tasks, err)
		}
		for _, task := range tasks.Last(0, tasks.Len()) {
			got = append(got, fmt.Sprint(entity, " ", task))
		}
	}
	if slices.Sort(got); len(links) == 0 || !slices.Equal(got, links) {
		t.Errorf("got %v, want %v", got, links)
	}
}
