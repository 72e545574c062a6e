package store

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"countersign.dev/internal/confirm"
	"countersign.dev/internal/domain/tasks/record"
	"countersign.dev/internal/fault"
)

// TestCleanUpIsOfWhatWasSeen: it differs when a task was restored, changed and deleted again meanwhile, and when one
// that stays would lose what it did not have before.
func TestCleanUpIsOfWhatWasSeen(t *testing.T) {
	for name, meanwhile := range map[string]func(w *Workspace, scrap, other int64) error{
		"nothing": nil,
		"another task": func(w *Workspace, _, other int64) error {
			_, err := w.UpdateTask(t.Context(), other, TaskUpdate{Title: text("new")})
			return err
		},
		"restored": func(w *Workspace, scrap, _ int64) error {
			_, err := w.UndeleteTask(t.Context(), scrap, false)
			return err
		},
		"renamed": func(w *Workspace, scrap, _ int64) error {
			_, restored := w.UndeleteTask(t.Context(), scrap, false)
			_, renamed := w.UpdateTask(t.Context(), scrap, TaskUpdate{Title: text("Contract with ACME")})
			_, deleted := w.DeleteTask(t.Context(), scrap, false)
			return errors.Join(restored, renamed, deleted)
		},
		"one waits no more": func(w *Workspace, _, other int64) error {
			_, err := w.UpdateTask(t.Context(), other, depends())
			return err
		},
	} {
		w := opened(t)
		scrap := made(t, w, NewTask{Title: "Old scrap"}).ID
		other := made(t, w, NewTask{Title: "Other", DependsOn: []int64{scrap}}).ID
		if _, err := w.DeleteTask(t.Context(), scrap, false); err != nil {
			t.Fatal(err)
		}
		found, err := w.Purgeable(t.Context(), time.Now().Add(time.Hour).UnixMicro())
		if err != nil || len(found.IDs) != 1 {
			t.Fatalf("%s: %+v, %v", name, found, err)
		}
		if meanwhile != nil {
			if err := meanwhile(w, scrap, other); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		now, err := w.Purgeable(t.Context(), time.Now().Add(time.Hour).UnixMicro())
		if same := name == "nothing" || name == "another task"; err != nil || (now.Seen == found.Seen) != same {
			t.Errorf("%s: seen alike: %t, %v", name, !same, err)
		}
		err = w.Change(t.Context(), func(ctx context.Context) error { return w.Purge(ctx, found.IDs) })
		if restored := name == "restored"; (err != nil) != restored || restored && fault.From(err).Code != confirm.Stale().Code {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCleanUpSaysWhatItChanges of tasks that stay, and takes so many at a time.
func TestCleanUpSaysWhatItChanges(t *testing.T) {
	w := opened(t)
	parent, before := made(t, w, NewTask{Title: "parent"}).ID, made(t, w, NewTask{Title: "before"}).ID
	made(t, w, NewTask{Title: "child", ParentTaskID: &parent})
	made(t, w, NewTask{Title: "after", DependsOn: []int64{before}})
	gone := made(t, w, NewTask{Title: "goes too", ParentTaskID: &parent, DependsOn: []int64{before}}).ID
	for _, id := range []int64{parent, before, gone} {
		if _, err := w.DeleteTask(t.Context(), id, false); err != nil {
			t.Fatal(err)
		}
	}
	far := time.Now().Add(time.Hour).UnixMicro()
	if p, err := w.Purgeable(t.Context(), far); err != nil || len(p.IDs) != 3 || p.Children != 1 || p.Waiting != 1 || p.Left != 0 {
		t.Errorf("%+v, %v", p, err)
	}
	err := w.Change(t.Context(), func(ctx context.Context) error {
		_, err := w.Exec(ctx, fmt.Sprintf(`with recursive n(i) as (select 1 union all select i + 1 from n where i < %d)
  insert into tasks (title, status, priority, created_by, created_at, updated_at, deleted_at) select 'much', 'todo', 'low', 'ann', 1, 1, 1 from n`, maxPurged+5))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	p, err := w.Purgeable(t.Context(), far)
	if err != nil || len(p.IDs) != maxPurged || p.Left != 5+3 || len(p.Titles) != maxTitles {
		t.Errorf("%d tasks, %d left, %v", len(p.IDs), p.Left, err)
	}
	if err := w.Change(t.Context(), func(ctx context.Context) error { return w.Purge(ctx, p.IDs) }); err != nil {
		t.Fatal(err)
	}
	if p, err = w.Purgeable(t.Context(), far); err != nil || len(p.IDs) != 5+3 || p.Left != 0 {
		t.Errorf("then %d tasks, %d left, %v", len(p.IDs), p.Left, err)
	}
}

// TestCascadeCanBeTakenBackInTwoSteps: the task first, and then what is below it.
func TestCascadeCanBeTakenBackInTwoSteps(t *testing.T) {
	w := opened(t)
	top := made(t, w, NewTask{Title: "top"}).ID
	middle := made(t, w, NewTask{Title: "middle", ParentTaskID: &top}).ID
	made(t, w, NewTask{Title: "low", ParentTaskID: &middle})
	if n, err := w.DeleteTask(t.Context(), top, true); n != 3 || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
	for i, step := range []struct {
		id      int64
		cascade bool
		want    int64
	}{{top, false, 1}, {top, false, 0}, {top, true, 2}, {top, true, 0}, {99, true, 0}} {
		n, err := w.UndeleteTask(t.Context(), step.id, step.cascade)
		if n != step.want || (err == nil) != (step.want > 0) {
			t.Errorf("%d: %d came back, %v", i, n, err)
		}
		if step.want == 0 {
			wantFault(t, err, record.ErrNotFound, map[bool]string{true: "is not deleted", false: "There is no task 99"}[step.id == top])
		}
	}
}
