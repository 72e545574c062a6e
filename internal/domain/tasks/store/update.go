package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"countersign.dev/internal/domain/tasks/record"
	"countersign.dev/internal/fault"
)

// Field is a field of an update: left as it is unless Given, and cleared by a Value
// that is nil.
type Field[T any] struct {
	Given bool
	Value *T
}

// TaskUpdate says what of a task changes.
type TaskUpdate struct {
	Title, Status, Priority          *string // nil: unchanged; they cannot be cleared
	Description, Tags, BlockerReason Field[string]
	ParentTaskID                     Field[int64]
	DependsOn                        Field[[]int64]
	FileReferences                   Field[[]string]
}

// UpdateTask changes a task and returns it.
func (w taskRows) UpdateTask(ctx context.Context, id int64, u TaskUpdate) (t record.Task, err error) {
	err = w.Change(ctx, func(ctx context.Context) error {
		before, err := w.Task(ctx, id)
		if err != nil {
			return err
		}
		if err := w.checkUpdate(ctx, before, u); err != nil {
			return err
		}
		if err := errors.Join(w.update(ctx, before, u), w.indexSoon(ctx, "tasks")); err != nil {
			return err
		}
		t, err = w.Task(ctx, id)
		return err
	})
	return t, err
}

func (w taskRows) checkUpdate(ctx context.Context, before record.Task, u TaskUpdate) error {
	if u.ParentTaskID.Given && u.ParentTaskID.Value != nil {
		if err := w.checkParent(ctx, before.ID, *u.ParentTaskID.Value); err != nil {
			return err
		}
	}
	on := before.DependsOn
	if u.DependsOn.Given {
		on = nil
		if u.DependsOn.Value != nil {
			on = *u.DependsOn.Value
		}
		for _, other := range on {
			if _, err := w.Task(ctx, other); err != nil && !slices.Contains(before.DependsOn, other) {
				return err
			}
		}
	}
	after := before.Status
	if u.Status != nil {
		after = *u.Status
	}
	if after != before.Status {
		if err := record.CheckTransition(before.ID, before.Status, after); err != nil {
			return err
		}
	}
	switch changes := after != before.Status; {
	case after == record.Done && (changes || u.DependsOn.Given):
		return w.checkDependencies(ctx, before.ID, on)
	case after == record.Blocked && (changes || u.BlockerReason.Given) && !hasReason(before, u):
		return NoReason()
	}
	return nil
}

// NoReason is the fault of a task that would be blocked without saying why.
func NoReason() error {
	return fault.ValidationError.New("A task that is blocked needs a reason.").Instruct("blocker_reason: say in one sentence what it waits for.").Fields("blocker_reason")
}

func hasReason(before record.Task, u TaskUpdate) bool {
	if u.BlockerReason.Given {
		return u.BlockerReason.Value != nil && *u.BlockerReason.Value != ""
	}
	return before.BlockerReason != nil
}

// checkParent returns NOT_FOUND, or CYCLE when a task would be above itself.
func (w taskRows) checkParent(ctx context.Context, id, parent int64) error {
	if _, err := w.Task(ctx, parent); err != nil {
		return err
	}
	circle, err := w.circle(ctx, id, []int64{parent}, "select parent_task_id from tasks where id = ?")
	if err != nil || circle == nil {
		return err
	}
	return record.ErrCycle.New("Task %d would be above itself: %s.", id, arrows(circle)).With("cycle", circle)
}

// update writes what changes.
func (w taskRows) update(ctx context.Context, before record.Task, u TaskUpdate) error {
	var s setter
	now := w.now().UnixMicro()
	s.set("updated_at", now)
	s.text("title", u.Title)
	s.text("priority", u.Priority)
	s.text("status", u.Status)
	if u.Status != nil && *u.Status == record.Done && before.Status != record.Done {
		s.set("completed_at", now)
	}
	s.field("description", u.Description)
	s.field("tags", u.Tags)
	switch {
	case u.BlockerReason.Given:
		s.field("blocker_reason", u.BlockerReason)
	case u.Status != nil && *u.Status != record.Blocked && before.Status == record.Blocked:
		s.set("blocker_reason", nil) // it no longer holds
	}
	if u.ParentTaskID.Given {
		s.set("parent_task_id", u.ParentTaskID.Value)
	}
	if u.FileReferences.Given {
		files, err := json.Marshal(append([]string{}, orEmpty(u.FileReferences.Value)...))
		if err != nil {
			return err
		}
		s.set("file_references", string(files))
	}
	if _, err := w.Exec(ctx, "update tasks set "+s.list()+" where id = ?", append(s.args, before.ID)...); err != nil {
		return err
	}
	if u.Tags.Given {
		if err := w.setTags(ctx, taskTags, before.ID, u.Tags.Value); err != nil {
			return err
		}
	}
	if u.DependsOn.Given {
		return w.setDependencies(ctx, before.ID, orEmpty(u.DependsOn.Value))
	}
	return nil
}

func orEmpty[T any](list *[]T) []T {
	if list == nil {
		return nil
	}
	return *list
}

// setter collects the columns of an update. Their names are constants of this room.
type setter struct {
	columns []string
	args    []any
}

func (s *setter) set(column string, value any) {
	s.columns = append(s.columns, column+" = ?")
	s.args = append(s.args, value)
}

func (s *setter) text(column string, value *string) {
	if value != nil {
		s.set(column, *value)
	}
}

func (s *setter) field(column string, f Field[string]) {
	if f.Given {
		s.set(column, f.Value)
	}
}

func (s *setter) list() string { return strings.Join(s.columns, ", ") }

// below are the tasks below ?1 whose condition holds, however deep, itself too.
const below = `with recursive b(id) as (select ?1 union select t.id from tasks t join b on t.parent_task_id = b.id where %s) `

// DeleteTask deletes a task, and with cascade everything below it, so that both can
// be undone. It returns how many were deleted.
func (w taskRows) DeleteTask(ctx context.Context, id int64, cascade bool) (deleted int64, err error) {
	err = w.Change(ctx, func(ctx context.Context) error {
		if _, err := w.Task(ctx, id); err != nil {
			return err
		}
		statement := "update tasks set deleted_at = ?2, updated_at = ?2 where id = ?1"
		if cascade {
			statement = fmt.Sprintf(below, "t.deleted_at is null") + "update tasks set deleted_at = ?2, updated_at = ?2 where id in (select id from b) and deleted_at is null"
		}
		deleted, err = w.Exec(ctx, statement, id, w.now().UnixMicro())
		return err
	})
	return deleted, err
}

// UndeleteTask takes a deletion back; with cascade that of everything below it that
// was deleted together with it, or, when the task itself is not deleted, of all that is
// deleted below it. It returns how many came back.
func (w taskRows) UndeleteTask(ctx context.Context, id int64, cascade bool) (restored int64, err error) {
	err = w.Change(ctx, func(ctx context.Context) error {
		if _, err := w.task(ctx, id, ""); err != nil {
			return err
		}
		statement := "update tasks set deleted_at = null, updated_at = ?2 where id = ?1 and deleted_at is not null"
		if cascade {
			statement = fmt.Sprintf(below, "t.deleted_at = coalesce((select deleted_at from tasks where id = ?1), t.deleted_at)") + "update tasks set deleted_at = null, updated_at = ?2 where id in (select id from b) and deleted_at is not null"
		}
		if restored, err = w.Exec(ctx, statement, id, w.now().UnixMicro()); err == nil && restored == 0 {
			err = record.NotDeleted(id)
		}
		return err
	})
	return restored, err
}
