package store

import (
	"path/filepath"
	"testing"
	"time"

	"countersign.dev/internal/domain/tasks/record"
	"countersign.dev/internal/fault"
)

// TestDoneNeedsWhatTheTaskWaitsFor: as the same change leaves it, done and not only
// closed.
func TestDoneNeedsWhatTheTaskWaitsFor(t *testing.T) {
	w := opened(t)
	made(t, w, NewTask{Title: "open"})
	made(t, w, NewTask{Title: "cancelled", Status: record.Cancelled})
	for range 3 {
		made(t, w, NewTask{Title: "waits", Status: record.InProgress, DependsOn: []int64{2}})
	}
	done := func(id int64, on ...int64) error {
		_, err := w.UpdateTask(t.Context(), id, TaskUpdate{Status: text(record.Done), DependsOn: Field[[]int64]{on != nil, &on}})
		return err
	}
	wantFault(t, done(3), record.ErrDependency, "Task 3 cannot be done before 2")
	wantFault(t, done(3, 2, 1), record.ErrDependency, "before 2, 1")
	if err := done(4, 3); err == nil {
		t.Error("done before one that is added in the same change")
	}
	none := []int64{}
	if _, err := w.UpdateTask(t.Context(), 5, TaskUpdate{Status: text(record.Done), DependsOn: Field[[]int64]{true, &none}}); err != nil {
		t.Errorf("without dependencies from the same change on: %v", err)
	}
	_, err := w.CreateTask(t.Context(), NewTask{Title: "done at once", Status: record.Done, Priority: "low", DependsOn: []int64{1}, CreatedBy: "tester"})
	wantFault(t, err, record.ErrDependency, "cannot be done before 1")
	_, err = w.UpdateTask(t.Context(), 5, depends(1)) // which is done
	wantFault(t, err, record.ErrDependency, "Task 5 cannot be done before 1")
}

// TestCompletedOnce: a task has the time at which it was first done, also one that was
// made so.
func TestCompletedOnce(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	w := at(t, filepath.Join(t.TempDir(), "w.db"), func() time.Time { now = now.Add(time.Hour); return now })
	task := made(t, w, NewTask{Title: "done at once", Status: record.Done})
	if task.CompletedAt == nil || !task.CompletedAt.Equal(task.CreatedAt) {
		t.Fatalf("completed at %v", task.CompletedAt)
	}
	again, err := w.UpdateTask(t.Context(), task.ID, TaskUpdate{Status: text(record.Done)})
	if err != nil || !again.CompletedAt.Equal(*task.CompletedAt) || !again.UpdatedAt.After(task.UpdatedAt) {
		t.Errorf("again: completed at %v, updated at %v, %v", again.CompletedAt, again.UpdatedAt, err)
	}
}

// TestReasonOfABlockedTask: an empty one is none, and one that is there already is
// enough.
func TestReasonOfABlockedTask(t *testing.T) {
	w := opened(t)
	made(t, w, NewTask{Title: "a"})
	_, err := w.UpdateTask(t.Context(), 1, TaskUpdate{Status: text(record.Blocked), BlockerReason: Field[string]{true, text("")}})
	wantFault(t, err, fault.ValidationError, "needs a reason")
	if _, err := w.UpdateTask(t.Context(), 1, TaskUpdate{BlockerReason: Field[string]{true, text("the key is missing")}}); err != nil {
		t.Fatal(err)
	}
	if got, err := w.UpdateTask(t.Context(), 1, TaskUpdate{Status: text(record.Blocked)}); err != nil || got.BlockerReason == nil || *got.BlockerReason != "the key is missing" {
		t.Errorf("got %+v, %v", got.TaskDetails, err)
	}
	for _, none := range []*string{nil, text("")} {
		_, err := w.UpdateTask(t.Context(), 1, TaskUpdate{BlockerReason: Field[string]{true, none}})
		wantFault(t, err, fault.ValidationError, "needs a reason")
	}
	if got, err := w.UpdateTask(t.Context(), 1, TaskUpdate{Status: text(record.InProgress), BlockerReason: Field[string]{Given: true}}); err != nil || got.BlockerReason != nil {
		t.Errorf("no longer blocked: %+v, %v", got.TaskDetails, err)
	}
}

// TestNewTaskNamesTasksThatAreThere: a parent and what it depends on, at first and in a
// change.
func TestNewTaskNamesTasksThatAreThere(t *testing.T) {
	w := opened(t)
	made(t, w, NewTask{Title: "deleted"})
	made(t, w, NewTask{Title: "there"})
	if _, err := w.DeleteTask(t.Context(), 1, false); err != nil {
		t.Fatal(err)
	}
	for _, id := range []int64{1, 99} {
		for name, n := range map[string]NewTask{"parent": {ParentTaskID: &id}, "dependency": {DependsOn: []int64{2, id}}} {
			n.Title, n.Status, n.Priority, n.CreatedBy = "new", record.Todo, "low", "tester"
			if _, err := w.CreateTask(t.Context(), n); fault.From(err).Code != record.ErrNotFound {
				t.Errorf("%s %d of a new task: %v", name, id, err)
			}
		}
		_, err := w.UpdateTask(t.Context(), 2, TaskUpdate{ParentTaskID: Field[int64]{true, &id}})
		wantFault(t, err, record.ErrNotFound, "no task")
		_, err = w.UpdateTask(t.Context(), 2, depends(id))
		wantFault(t, err, record.ErrNotFound, "no task")
	}
}
