package store

import (
	"context"
	"time"

	"countersign.dev/internal/domain/tasks/record"
)

// Info are the figures of a workspace.
type Info struct {
	Total      int
	ByStatus   map[string]int
	ByPriority map[string]int
	CreatedAt  time.Time
}

// Info counts the tasks that are not deleted.
func (w figures) Info(ctx context.Context) (i Info, err error) {
	i.ByStatus, i.ByPriority = map[string]int{}, map[string]int{}
	for _, status := range record.Statuses() {
		i.ByStatus[status] = 0
	}
	for _, priority := range record.Priorities() {
		i.ByPriority[priority] = 0
	}
	var created int64
	if err := w.In(ctx).QueryRowContext(ctx, "select created_at from about").Scan(&created); err != nil {
		return i, w.Fault(ctx, err)
	}
	i.CreatedAt = timeOf(created)
	rows, err := w.In(ctx).QueryContext(ctx, "select status, priority, sum(n) from counts group by status, priority")
	err = w.Each(ctx, rows, err, func() error {
		var status, priority string
		var n int
		err := rows.Scan(&status, &priority, &n)
		i.Total += n
		i.ByStatus[status] += n
		i.ByPriority[priority] += n
		return err
	})
	return i, err
}

// Use is how often a tool was called on a day.
type Use struct {
	Day, Tool        string
	Calls, Successes int
}

// AddUse adds to the counts of calls.
func (w figures) AddUse(ctx context.Context, uses []Use) error {
	return w.Change(ctx, func(ctx context.Context) error {
		for _, u := range uses {
			_, err := w.Exec(ctx, `insert into tool_usage values (?, ?, ?, ?) on conflict do update set calls = calls + excluded.calls, successes = successes + excluded.successes`,
				u.Day, u.Tool, u.Calls, u.Successes)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Uses returns the counts of calls since a day, of one tool or of all, by day and
// tool.
func (w figures) Uses(ctx context.Context, since, tool string) (uses []Use, err error) {
	rows, err := w.In(ctx).QueryContext(ctx, "select day, tool_name, calls, successes from tool_usage where day >= ? and ? in ('', tool_name) order by day, tool_name", since, tool)
	err = w.Each(ctx, rows, err, func() error {
		var u Use
		err := rows.Scan(&u.Day, &u.Tool, &u.Calls, &u.Successes)
		uses = append(uses, u)
		return err
	})
	return uses, err
}

// Text is what an audit of a workspace reads of a task or an entity.
type Text struct {
	Resource    string // "task" or "entity"
	ID          int64
	Title       string
	Description string
	Tags        string
	Files       string // JSON of a task's file references
	Identifier  string // of an entity of the type file
	Metadata    string // JSON of where a task was made
}

// Texts calls each for every task and entity, in the order of their ids.
func (w figures) Texts(ctx context.Context, deleted bool, each func(Text) error) error {
	for _, statement := range []string{
		`select 'task', id, title, coalesce(description, ''), coalesce(tags, ''), file_references, '', coalesce(workspace_metadata, '') from tasks where deleted_at is null or ? order by id`,
		`select 'entity', id, name, coalesce(description, ''), coalesce(tags, ''), '[]', case when entity_type = 'file' then coalesce(identifier, '') else '' end, '' from entities where deleted_at is null or ? order by id`,
	} {
		rows, err := w.In(ctx).QueryContext(ctx, statement, deleted)
		err = w.Each(ctx, rows, err, func() error {
			var t Text
			if err := rows.Scan(&t.Resource, &t.ID, &t.Title, &t.Description, &t.Tags, &t.Files, &t.Identifier, &t.Metadata); err != nil {
				return err
			}
			return each(t)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
