package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"countersign.dev/internal/domain/tasks/record"
)

// Link links an entity to a task. A link that is there already is DUPLICATE; one that
// was removed can be made again.
func (w linkRows) Link(ctx context.Context, task, entity int64, by string) (l record.Link, err error) {
	err = w.Change(ctx, func(ctx context.Context) error {
		if err := w.bothThere(ctx, task, entity); err != nil {
			return err
		}
		var other int64
		err := w.In(ctx).QueryRowContext(ctx, "select id from task_entity_links where task_id = ? and entity_id = ? and deleted_at is null", task, entity).Scan(&other)
		if err == nil {
			return record.ErrDuplicate.New("Entity %d is linked to task %d already.", entity, task).With("resource_type", "link").With("resource_id", other)
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return w.Fault(ctx, err)
		}
		now := w.now().UnixMicro()
		l = record.Link{TaskID: task, EntityID: entity, CreatedBy: by, CreatedAt: timeOf(now)}
		err = w.In(ctx).QueryRowContext(ctx, "insert into task_entity_links (task_id, entity_id, created_by, created_at) values (?, ?, ?, ?) returning id", task, entity, by, now).Scan(&l.ID)
		return w.Fault(ctx, err)
	})
	return l, err
}

func (w linkRows) bothThere(ctx context.Context, task, entity int64) error {
	if _, err := w.tasks.Task(ctx, task); err != nil {
		return err
	}
	_, err := w.entities.Entity(ctx, entity)
	return err
}

// Unlink removes the link between a task and an entity.
func (w linkRows) Unlink(ctx context.Context, task, entity int64) (id int64, err error) {
	err = w.Change(ctx, func(ctx context.Context) error {
		if err := w.bothThere(ctx, task, entity); err != nil {
			return err
		}
		err := w.In(ctx).QueryRowContext(ctx, "update task_entity_links set deleted_at = ? where task_id = ? and entity_id = ? and deleted_at is null returning id",
			w.now().UnixMicro(), task, entity).Scan(&id)
		if errors.Is(err, sql.ErrNoRows) {
			return record.ErrNotFound.New("Entity %d is not linked to task %d.", entity, task).With("resource_type", "link").With("resource_id", entity)
		}
		return w.Fault(ctx, err)
	})
	return id, err
}

// linked reads a page of what is linked, the newest link first, and counts all of it.
// from is the rest of a statement with the links l, and args are its parameters; mark
// adds the link to a row.
func linked[T any](ctx context.Context, w linkRows, columns, from string, args []any, p Page,
	scan func(scan func(...any) error, details bool, more ...any) (T, error), mark func(row *T, at time.Time, by string)) (found []T, total int, err error) {
	if err := w.In(ctx).QueryRowContext(ctx, "select count(*)"+from, args...).Scan(&total); err != nil {
		return nil, 0, w.Fault(ctx, err)
	}
	rows, err := w.In(ctx).QueryContext(ctx, "select "+columns+", l.created_at, l.created_by"+from+" order by l.created_at desc, l.id desc limit ? offset ?", append(args, p.Limit, p.Offset)...)
	err = w.Each(ctx, rows, err, func() error {
		var at int64
		var by string
		row, err := scan(rows.Scan, p.Details, &at, &by)
		mark(&row, timeOf(at), by)
		found = append(found, row)
		return err
	})
	return found, total, err
}

// TaskEntities returns a page of the entities of a task, the newest link first, and
// their number in all.
func (w linkRows) TaskEntities(ctx context.Context, task int64, p Page) (found []record.Entity, total int, err error) {
	const from = " from task_entity_links l join entities e on e.id = l.entity_id where l.task_id = ? and l.deleted_at is null and e.deleted_at is null"
	err = w.Snapshot(ctx, func(ctx context.Context) error {
		if _, err := w.tasks.Task(ctx, task); err != nil {
			return err
		}
		found, total, err = linked(ctx, w, entityColumns(p.Details), from, []any{task}, p, scanEntity, func(e *record.Entity, at time.Time, by string) {
			e.LinkCreatedAt, e.LinkCreatedBy = &at, by
		})
		return err
	})
	return found, total, err
}

// EntityTasks returns a page of the tasks of an entity, the newest link first, and
// their number in all. An empty status or priority does not filter.
func (w linkRows) EntityTasks(ctx context.Context, entity int64, status, priority string, p Page) (found []record.Task, total int, err error) {
	const from = " from task_entity_links l join tasks t on t.id = l.task_id where l.entity_id = ?1 and l.deleted_at is null and t.deleted_at is null and ?2 in ('', t.status) and ?3 in ('', t.priority)"
	err = w.Snapshot(ctx, func(ctx context.Context) error {
		if _, err := w.entities.Entity(ctx, entity); err != nil {
			return err
		}
		found, total, err = linked(ctx, w, columns(p.Details), from, []any{entity, status, priority}, p, scanTask, func(t *record.Task, at time.Time, by string) {
			t.LinkCreatedAt, t.LinkCreatedBy = &at, by
		})
		return err
	})
	return found, total, err
}
