package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"math"
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

	before int64 // only what was made before, in microseconds; 0: all
}

// byTag reports whether the rows are read from the words of the tags, which have
// what such a list filters and orders by.
func (f TaskFilter) byTag() bool { return len(f.Tags) > 0 && f.ParentTaskID == nil }

// kind is the condition on status and priority.
func (f TaskFilter) kind() (c engine.Clause) {
	if f.Status != "" {
		c.And("status = ?", f.Status)
	}
	if f.Priority != "" {
		c.And("priority = ?", f.Priority)
	}
	return c
}

// tagged selects the rows of a list that is read from the words of its tags: a
// branch for each word, which are merged in their order, each task once.
func (f TaskFilter) tagged() (statement string, args []any) {
	kind := f.kind()
	list := "live = 1"
	switch {
	case f.Ready:
		list = "ready = 1"
	case f.Blocked:
		list = "waiting = 1"
	}
	branch := "select task_id as id, created_at, urgency, unblocks from task_tags where tag = ? and " + list + " and " + kind.String()
	branches := make([]string, len(f.Tags))
	for i, tag := range f.Tags {
		branches[i] = branch
		args = append(append(args, tag), kind.Args...)
	}
	return strings.Join(branches, " union "), args
}

// ids selects the ids of a filter's rows, in an order of [TaskFilter.order].
func (f TaskFilter) ids(order string) (statement string, args []any) {
	if f.byTag() {
		statement, args = f.tagged()
		return statement + " order by " + strings.ReplaceAll(order, "t.", ""), args
	}
	where := f.where()
	return "select t.id from tasks t where " + where.String() + " order by " + order, where.Args
}

// where is the condition of a filter on a row t.
func (f TaskFilter) where() engine.Clause {
	c := f.kind()
	switch {
	case f.Ready:
		c.And("t.is_ready = 1")
	case f.Blocked:
		c.And("t.is_open = 1 and (t.open_blockers > 0 or t.status = 'blocked')")
	default:
		c.And("t.deleted_at is null")
	}
	if f.before != 0 {
		c.And("t.created_at < ?", f.before)
	}
	if f.ParentTaskID != nil {
		c.And("t.parent_task_id = ?", *f.ParentTaskID)
	}
	if len(f.Tags) > 0 {
		words, args := anyOf(f.Tags)
		c.And("exists (select 1 from task_tags g where g.task_id = t.id and g.tag in "+words+")", args...)
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
func (w taskLists) Tasks(ctx context.Context, f TaskFilter, p Page) (found []record.Task, total int, err error) {
	err = w.Snapshot(ctx, func(ctx context.Context) error {
		if total, err = w.countTasks(ctx, f); err != nil {
			return err
		}
		found, err = w.readTasks(ctx, f, p, total)
		return err
	})
	return found, total, err
}

// countTasks counts by the tables of counts where they have what is asked for.
func (w taskLists) countTasks(ctx context.Context, f TaskFilter) (total int, err error) {
	statement, args := f.count()
	err = w.In(ctx).QueryRowContext(ctx, statement, args...).Scan(&total)
	return total, w.Fault(ctx, err)
}

func (f TaskFilter) count() (statement string, args []any) {
	kind := f.kind()
	switch {
	case f.byTag() && len(f.Tags) == 1 && !f.Ready && !f.Blocked:
		kind.And("tag = ?", f.Tags[0])
		return "select coalesce(sum(n), 0) from tag_counts where " + kind.String(), kind.Args
	case f.ParentTaskID != nil:
		where := f.where()
		return "select count(*) from tasks t where " + where.String(), where.Args
	}
	if f.Ready {
		kind.And("ready = 1")
	}
	if f.Blocked {
		kind.And("waiting = 1")
	}
	if len(f.Tags) > 0 {
		words, args := anyOf(f.Tags)
		kind.And("tags in (select tags from tag_sets where tag in "+words+")", args...)
		return "select coalesce(sum(n), 0) from tag_set_counts where " + kind.String(), kind.Args
	}
	return "select coalesce(sum(n), 0) from counts where " + kind.String(), kind.Args
}

// newestFirst reports whether the rows are those of a kind, in the order of their
// creation, so that [taskLists.nearby] knows where a page is.
func (f TaskFilter) newestFirst() bool {
	return !f.Ready && !f.Blocked && f.ParentTaskID == nil && len(f.Tags) == 0
}

// nearby finds the stretch in which a page begins: how many rows are newer than it,
// and the time before which its tasks were made.
func (w taskLists) nearby(ctx context.Context, f TaskFilter, offset int) (newer int, before int64, err error) {
	kind := f.kind()
	err = w.In(ctx).QueryRowContext(ctx, `select coalesce(max(passed), 0), coalesce(min(since), ?) from (
  select since, sum(sum(n)) over (order by since desc) as passed from stretches where `+kind.String()+` group by since) where passed <= ?`,
		append(append([]any{int64(math.MaxInt64)}, kind.Args...), offset)...).Scan(&newer, &before)
	return newer, before, w.Fault(ctx, err)
}

// readTasks reads a page from where it is near: the rows between are passed over one
// by one, in an index.
func (w taskLists) readTasks(ctx context.Context, f TaskFilter, p Page, total int) (found []record.Task, err error) {
	limit := min(p.Limit, total-p.Offset)
	if limit <= 0 {
		return nil, nil
	}
	forward, backward := f.order()
	order, skip := forward, p.Offset
	switch {
	case f.newestFirst():
		var newer int
		if newer, f.before, err = w.nearby(ctx, f, p.Offset); err != nil {
			return nil, err
		}
		skip -= newer
	case p.Offset > total/2: // from the end
		order, skip = backward, total-p.Offset-limit
	}
	inside, args := f.ids(order)
	statement := "select " + columns(p.Details) + ", t.unblocks, iif(t.status = 'blocked', t.blocker_reason, null) from (" + inside + " limit ? offset ?) page join tasks t on t.id = page.id order by " + forward
	rows, err := w.In(ctx).QueryContext(ctx, statement, append(args, limit, skip)...)
	err = w.Each(ctx, rows, err, func() error {
		var unblocks int
		var reason sql.NullString
		t, err := scanTask(rows.Scan, p.Details, &unblocks, &reason)
		switch {
		case f.Ready:
			t.Unblocks = unblocks
		case f.Blocked:
			t.Because = textOrNil(reason)
		}
		found = append(found, t)
		return err
	})
	if err == nil && f.Blocked {
		err = w.explain(ctx, found)
	}
	return found, err
}

// explain adds to each task of a page the tasks that it waits for.
func (w taskLists) explain(ctx context.Context, page []record.Task) error {
	ids, at := make([]int64, len(page)), make(map[int64]*record.Task, len(page))
	for i := range page {
		ids[i], at[page[i].ID] = page[i].ID, &page[i]
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return err
	}
	rows, err := w.In(ctx).QueryContext(ctx, `select d.task_id, o.id from json_each(?) page cross join dependencies d on d.task_id = page.value
  cross join tasks o on o.id = d.depends_on_id where o.is_open = 1 order by page.key, o.id`, string(list))
	return w.Each(ctx, rows, err, func() error {
		var id, blocker int64
		err := rows.Scan(&id, &blocker)
		if err == nil {
			at[id].BlockedBy = append(at[id].BlockedBy, blocker)
		}
		return err
	})
}
