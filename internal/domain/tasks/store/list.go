package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"strings"

	"countersign.dev/internal/domain/tasks/record"
	engine "countersign.dev/internal/sqlite"
)

// TaskFilter narrows a list of tasks. Its zero value holds all that are not deleted.
type TaskFilter struct {
	Status, Priority string
	ParentTaskID     *int64
	Tags             []string // any of these words
	Ready            bool     // nothing open blocks it: what to do next, by priority and by what it unblocks
	Blocked          bool     // waits for an open task, or has the status blocked
}

// where is the condition of a filter on a row t.
func (f TaskFilter) where() (c engine.Clause) {
	switch {
	case f.Ready:
		c.And("t.is_ready = 1")
	case f.Blocked:
		c.And("t.is_open = 1 and (t.open_blockers > 0 or t.status = 'blocked')")
	default:
		c.And("t.deleted_at is null")
	}
	if f.Status != "" {
		c.And("t.status = ?", f.Status)
	}
	if f.Priority != "" {
		c.And("t.priority = ?", f.Priority)
	}
	if f.ParentTaskID != nil {
		c.And("t.parent_task_id = ?", *f.ParentTaskID)
	}
	if len(f.Tags) > 0 {
		words, args := anyOf(f.Tags)
		c.And("t.id in (select task_id from task_tags where tag in "+words+")", args...)
	}
	return c
}

func anyOf(words []string) (list string, args []any) {
	for _, word := range words {
		args = append(args, word)
	}
	return "(?" + strings.Repeat(", ?", len(words)-1) + ")", args
}

// order is the total order of a filter's rows, and its reverse.
func (f TaskFilter) order() (forward, backward string) {
	switch {
	case f.Ready:
		return "t.urgency desc, t.unblocks desc, t.created_at, t.id", "t.urgency, t.unblocks, t.created_at desc, t.id desc"
	case f.Blocked:
		return "t.urgency desc, t.created_at, t.id", "t.urgency, t.created_at desc, t.id desc"
	}
	return "t.created_at desc, t.id desc", "t.created_at, t.id"
}

// Tasks returns a page and the number of tasks in all, both of one moment.
func (w taskRows) Tasks(ctx context.Context, f TaskFilter, p Page) (found []record.Task, total int, err error) {
	err = w.Snapshot(ctx, func(ctx context.Context) error {
		if total, err = w.countTasks(ctx, f); err != nil {
			return err
		}
		found, err = w.readTasks(ctx, f, p, total)
		return err
	})
	return found, total, err
}

// countTasks counts by the table of counts where it can.
func (w taskRows) countTasks(ctx context.Context, f TaskFilter) (total int, err error) {
	if f.ParentTaskID != nil || len(f.Tags) > 0 {
		where := f.where()
		err = w.In(ctx).QueryRowContext(ctx, "select count(*) from tasks t where "+where.String(), where.Args...).Scan(&total)
		return total, w.Fault(ctx, err)
	}
	var c engine.Clause
	if f.Status != "" {
		c.And("status = ?", f.Status)
	}
	if f.Priority != "" {
		c.And("priority = ?", f.Priority)
	}
	if f.Ready {
		c.And("ready = 1")
	}
	if f.Blocked {
		c.And("waiting = 1")
	}
	err = w.In(ctx).QueryRowContext(ctx, "select coalesce(sum(n), 0) from counts where "+c.String(), c.Args...).Scan(&total)
	return total, w.Fault(ctx, err)
}

// readTasks reads a page from the nearer end: the rows before it are passed over one
// by one, in an index.
func (w taskRows) readTasks(ctx context.Context, f TaskFilter, p Page, total int) (found []record.Task, err error) {
	where := f.where()
	forward, backward := f.order()
	order, limit, skip := forward, p.Limit, p.Offset
	fromEnd := p.Offset > total/2
	if fromEnd {
		limit = min(p.Limit, total-p.Offset)
		order, skip = backward, total-p.Offset-limit
	}
	if limit <= 0 {
		return nil, nil
	}
	inside := "select t.id from tasks t where " + where.String() + " order by " + order + " limit ? offset ?"
	statement := "select " + columns(p.Details) + ", t.unblocks from (" + inside + ") page join tasks t on t.id = page.id order by " + forward
	rows, err := w.In(ctx).QueryContext(ctx, statement, append(where.Args, limit, skip)...)
	err = w.Each(ctx, rows, err, func() error {
		var unblocks int
		t, err := scanTask(rows.Scan, p.Details, &unblocks)
		if f.Ready {
			t.Unblocks = unblocks
		}
		found = append(found, t)
		return err
	})
	if err == nil && f.Blocked {
		err = w.explain(ctx, found)
	}
	return found, err
}

// explain adds to each task what it waits for.
func (w taskRows) explain(ctx context.Context, found []record.Task) error {
	for i := range found {
		var reason sql.NullString
		var blockers string
		err := w.In(ctx).QueryRowContext(ctx, `select case when t.status = 'blocked' then t.blocker_reason end,
  (select json_group_array(d.depends_on_id) from dependencies d join tasks o on o.id = d.depends_on_id where d.task_id = t.id and o.is_open = 1)
from tasks t where t.id = ?`, found[i].ID).Scan(&reason, &blockers)
		if err != nil {
			return w.Fault(ctx, err)
		}
		found[i].Because = textOrNil(reason)
		if err := json.Unmarshal([]byte(blockers), &found[i].BlockedBy); err != nil {
			return err
		}
		slices.Sort(found[i].BlockedBy)
	}
	return nil
}
