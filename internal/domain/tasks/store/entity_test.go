package store

import (
	"slices"
	"testing"

	"countersign.dev/internal/domain/tasks/record"
)

// TestTasksOfAnEntityAreFiltered: by status and priority, and without those that are
// deleted, whose links stay.
func TestTasksOfAnEntityAreFiltered(t *testing.T) {
	w := opened(t)
	e, err := w.CreateEntity(t.Context(), NewEntity{Type: "file", Name: "a", CreatedBy: "tester"})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []NewTask{{Priority: "low"}, {Priority: "high"}, {Priority: "high", Status: record.InProgress}, {Priority: "high"}} {
		n.Title = "a task"
		if _, err := w.Link(t.Context(), made(t, w, n).ID, e.ID, "tester"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.DeleteTask(t.Context(), 4, false); err != nil {
		t.Fatal(err)
	}
	want := func(status, priority string, want ...int64) {
		t.Helper()
		found, total, err := w.EntityTasks(t.Context(), e.ID, status, priority, Page{Limit: 10})
		var got []int64
		for _, task := range found {
			got = append(got, task.ID)
		}
		if err != nil || total != len(want) || !slices.Equal(got, want) {
			t.Errorf("%q %q: got %v of %d, %v, want %v", status, priority, got, total, err, want)
		}
	}
	want("", "", 3, 2, 1)
	want("", "high", 3, 2)
	want("todo", "", 2, 1)
	want("todo", "high", 2)
	want("done", "")
	if _, err := w.UndeleteTask(t.Context(), 4, false); err != nil {
		t.Fatal(err)
	}
	want("", "low", 1)
	want("todo", "high", 4, 2)
}

// TestIdentifierIsOfOneEntity: of a type, also when one comes back whose identifier was
// taken meanwhile; who changed an entity last is kept.
func TestIdentifierIsOfOneEntity(t *testing.T) {
	w := opened(t)
	create := func(kind string) error {
		_, err := w.CreateEntity(t.Context(), NewEntity{Type: kind, Name: "a", Identifier: text("a.go"), CreatedBy: "tester"})
		return err
	}
	if err := create("file"); err != nil {
		t.Fatal(err)
	}
	wantFault(t, create("file"), record.ErrDuplicate, "Entity 1 has this identifier")
	if err := create("other"); err != nil {
		t.Errorf("of another type: %v", err)
	}
	if _, err := w.DeleteEntity(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if err := create("file"); err != nil {
		t.Errorf("when it was deleted: %v", err)
	}
	_, err := w.UndeleteEntity(t.Context(), 1)
	wantFault(t, err, record.ErrDuplicate, "Entity 3 has this identifier")
	e, err := w.UpdateEntity(t.Context(), 3, EntityUpdate{Identifier: Field[string]{true, text("b.go")}, By: "dan"})
	if err != nil || e.UpdatedBy == nil || *e.UpdatedBy != "dan" || e.CreatedBy != "tester" {
		t.Errorf("got %+v, %v", e.EntityDetails, err)
	}
	if _, err := w.UndeleteEntity(t.Context(), 1); err != nil {
		t.Errorf("when it is free again: %v", err)
	}
}
