package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"countersign.dev/internal/domain/tasks/graph"
	"countersign.dev/internal/domain/tasks/record"
)

const (
	summaryColumns = `t.id, t.title, t.status, t.priority, t.tags, t.parent_task_id, t.created_at, t.updated_at`
	detailColumns  = summaryColumns + `, t.description, t.blocker_reason, t.file_references, t.created_by, t.created_by_label, t.completed_at, t.deleted_at, t.workspace_metadata,
  (select json_group_array(depends_on_id) from (select depends_on_id from dependencies d where d.task_id = t.id order by depends_on_id))`
)

func columns(details bool) string {
	if details {
		return detailColumns
	}
	return summaryColumns
}

// scanTask reads the columns of a task, and more after them.
func scanTask(scan func(...any) error, details bool, more ...any) (t record.Task, err error) {
	var tags sql.NullString
	var created, updated int64
	into := []any{&t.ID, &t.Title, &t.Status, &t.Priority, &tags, &t.ParentTaskID, &created, &updated}
	if !details {
		err = scan(append(into, more...)...)
		t.Tags, t.CreatedAt, t.UpdatedAt = textOrNil(tags), timeOf(created), timeOf(updated)
		return t, err
	}
	var description, reason, label, metadata sql.NullString
	var completed, deleted sql.NullInt64
	var files, depends string
	d := &record.TaskDetails{}
	into = append(into, &description, &reason, &files, &d.CreatedBy, &label, &completed, &deleted, &metadata, &depends)
	if err := scan(append(into, more...)...); err != nil {
		return t, err
	}
	t.Tags, t.CreatedAt, t.UpdatedAt = textOrNil(tags), timeOf(created), timeOf(updated)
	d.Description, d.BlockerReason, d.CreatedByLabel = textOrNil(description), textOrNil(reason), textOrNil(label)
	d.CompletedAt, d.DeletedAt = timeOrNil(completed), timeOrNil(deleted)
	t.TaskDetails = d
	if metadata.Valid {
		if err := json.Unmarshal([]byte(metadata.String), &d.Metadata); err != nil {
			return t, err
		}
	}
	return t, errors.Join(json.Unmarshal([]byte(files), &d.FileReferences), json.Unmarshal([]byte(depends), &d.DependsOn))
}

// Task returns a task that is not deleted, with its details.
func (w taskRows) Task(ctx context.Context, id int64) (record.Task, error) {
	return w.task(ctx, id, "and t.deleted_at is null")
}

func (w taskRows) task(ctx context.Context, id int64, only string) (record.Task, error) {
	row := w.In(ctx).QueryRowContext(ctx, "select "+detailColumns+" from tasks t where t.id = ? "+only, id)
	t, err := scanTask(row.Scan, true)
	return t, w.byNumber(ctx, "task", id, err)
}

// NewTask is a task to be made. Title, Status, Priority and CreatedBy are required.
type NewTask struct {
	Title, Status, Priority string
	Description, Tags       *string
	ParentTaskID            *int64
	DependsOn               []int64
	FileReferences          []string
	BlockerReason           *string
	CreatedBy               string
	CreatedByLabel          *string
	Metadata                *record.WorkspaceMetadata
	At                      time.Time // zero: now
}

// CreateTask makes a task. A parent and tasks that it depends on must be there.
func (w taskRows) CreateTask(ctx context.Context, n NewTask) (t record.Task, err error) {
	err = w.Change(ctx, func(ctx context.Context) error {
		id, err := w.InsertTask(ctx, n)
		if err != nil {
			return err
		}
		t, err = w.Task(ctx, id)
		return err
	})
	return t, err
}

// InsertTask makes a task, inside Change.
func (w taskRows) InsertTask(ctx context.Context, n NewTask) (id int64, err error) {
	if err := w.checkNew(ctx, n); err != nil {
		return 0, err
	}
	files, err := json.Marshal(append([]string{}, n.FileReferences...))
	if err != nil {
		return 0, err
	}
	var metadata *string
	if n.Metadata != nil {
		encoded, err := json.Marshal(n.Metadata)
		if err != nil {
			return 0, err
		}
		text := string(encoded)
		metadata = &text
	}
	at := n.At
	if at.IsZero() {
		at = w.now()
	}
	now := at.UnixMicro()
	var completed *int64
	if n.Status == record.Done {
		completed = &now
	}
	err = w.In(ctx).QueryRowContext(ctx, `insert into tasks (title, description, status, priority, parent_task_id, tags, blocker_reason, file_references, created_by,
  created_by_label, created_at, updated_at, completed_at, workspace_metadata) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) returning id`,
		n.Title, n.Description, n.Status, n.Priority, n.ParentTaskID, n.Tags, n.BlockerReason, string(files), n.CreatedBy,
		n.CreatedByLabel, now, now, completed, metadata).Scan(&id)
	if err != nil {
		return 0, w.Fault(ctx, err)
	}
	return id, errors.Join(w.addTags(ctx, taskTags, id, n.Tags), w.addDependencies(ctx, id, n.DependsOn), w.indexSoon(ctx, "tasks"))
}

func (w taskRows) checkNew(ctx context.Context, n NewTask) error {
	if n.ParentTaskID != nil {
		if _, err := w.Task(ctx, *n.ParentTaskID); err != nil {
			return err
		}
	}
	for _, id := range n.DependsOn {
		if _, err := w.Task(ctx, id); err != nil {
			return err
		}
	}
	if n.Status == record.Done {
		return w.checkDependencies(ctx, 0, n.DependsOn)
	}
	return nil
}

// setDependencies replaces what a task depends on. A circle is CYCLE.
func (w taskRows) setDependencies(ctx context.Context, id int64, on []int64) error {
	if _, err := w.Exec(ctx, "delete from dependencies where task_id = ?", id); err != nil {
		return err
	}
	circle, err := w.circle(ctx, id, on, "select depends_on_id from dependencies where task_id = ?")
	if err != nil {
		return err
	}
	if circle != nil {
		return record.ErrCycle.New("Task %d would wait for itself: %s.", id, arrows(circle)).With("cycle", circle)
	}
	return w.addDependencies(ctx, id, on)
}

// addDependencies writes what a task depends on that has nothing yet.
func (w taskRows) addDependencies(ctx context.Context, id int64, on []int64) error {
	for _, other := range on {
		if _, err := w.Exec(ctx, "insert into dependencies (task_id, depends_on_id) values (?, ?) on conflict do nothing", id, other); err != nil {
			return err
		}
	}
	return nil
}

// circle returns the way from a task over one of others back to itself, or nil. next
// selects the tasks after one.
func (w taskRows) circle(ctx context.Context, from int64, over []int64, next string) ([]int64, error) {
	return graph.Circle(from, over, func(at int64, found func(int64)) error {
		rows, err := w.In(ctx).QueryContext(ctx, next, at)
		return w.Each(ctx, rows, err, func() error {
			var id sql.NullInt64
			err := rows.Scan(&id)
			if id.Valid {
				found(id.Int64)
			}
			return err
		})
	})
}

func arrows(ids []int64) string {
	parts := make([]string, len(ids))
	for i, id := range ids {
		parts[i] = fmt.Sprint(id)
	}
	return strings.Join(parts, " → ")
}

// checkDependencies returns DEPENDENCY_OPEN when one of the tasks is neither done
// nor deleted.
func (w taskRows) checkDependencies(ctx context.Context, id int64, on []int64) error {
	var open []int64
	for _, other := range on {
		var status string
		err := w.In(ctx).QueryRowContext(ctx, "select status from tasks where id = ? and deleted_at is null", other).Scan(&status)
		switch {
		case errors.Is(err, sql.ErrNoRows) || status == record.Done:
		case err != nil:
			return w.Fault(ctx, err)
		default:
			open = append(open, other)
		}
	}
	if len(open) == 0 {
		return nil
	}
	name := "The task"
	if id != 0 {
		name = fmt.Sprintf("Task %d", id)
	}
	return record.ErrDependency.New("%s cannot be done before %s.", name, strings.ReplaceAll(arrows(open), " → ", ", ")).With("task_id", id).With("open", open)
}
