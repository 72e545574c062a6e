package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"

	"countersign.dev/internal/domain/tasks/record"
	engine "countersign.dev/internal/sqlite"
)

const (
	entitySummary = `e.id, e.entity_type, e.name, e.identifier, e.tags, e.created_at`
	entityDetails = entitySummary + `, e.description, e.metadata, e.created_by, e.created_by_label, e.updated_at, e.updated_by, e.deleted_at`
)

func entityColumns(details bool) string {
	if details {
		return entityDetails
	}
	return entitySummary
}

func scanEntity(scan func(...any) error, details bool, more ...any) (e record.Entity, err error) {
	var identifier, tags sql.NullString
	var created int64
	into := []any{&e.ID, &e.Type, &e.Name, &identifier, &tags, &created}
	var description, metadata, label, updatedBy sql.NullString
	var updated int64
	var deleted sql.NullInt64
	d := &record.EntityDetails{}
	if details {
		into = append(into, &description, &metadata, &d.CreatedBy, &label, &updated, &updatedBy, &deleted)
	}
	if err := scan(append(into, more...)...); err != nil {
		return e, err
	}
	e.Identifier, e.Tags, e.CreatedAt = textOrNil(identifier), textOrNil(tags), timeOf(created)
	if details {
		d.Description, d.CreatedByLabel, d.UpdatedBy = textOrNil(description), textOrNil(label), textOrNil(updatedBy)
		d.UpdatedAt, d.DeletedAt = timeOf(updated), timeOrNil(deleted)
		e.EntityDetails = d
		if metadata.Valid {
			return e, json.Unmarshal([]byte(metadata.String), &d.Metadata)
		}
	}
	return e, nil
}

// Entity returns an entity that is not deleted, with its details.
func (w entityRows) Entity(ctx context.Context, id int64) (record.Entity, error) {
	return w.entity(ctx, id, "and e.deleted_at is null")
}

func (w entityRows) entity(ctx context.Context, id int64, only string) (record.Entity, error) {
	row := w.In(ctx).QueryRowContext(ctx, "select "+entityDetails+" from entities e where e.id = ? "+only, id)
	e, err := scanEntity(row.Scan, true)
	return e, w.byNumber(ctx, "entity", id, err)
}

// NewEntity is an entity to be made. Type, Name and CreatedBy are required.
type NewEntity struct {
	Type, Name                              string
	Identifier, Description, Metadata, Tags *string // Metadata is JSON
	CreatedBy                               string
	CreatedByLabel                          *string
}

// CreateEntity makes an entity. One with the same type and identifier is DUPLICATE.
func (w entityRows) CreateEntity(ctx context.Context, n NewEntity) (e record.Entity, err error) {
	err = w.Change(ctx, func(ctx context.Context) error {
		if err := w.checkIdentifier(ctx, 0, n.Type, n.Identifier); err != nil {
			return err
		}
		var id int64
		now := w.now().UnixMicro()
		err := w.In(ctx).QueryRowContext(ctx, `insert into entities (entity_type, name, identifier, description, metadata, tags, created_by, created_by_label, created_at, updated_at)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) returning id`, n.Type, n.Name, n.Identifier, n.Description, n.Metadata, n.Tags, n.CreatedBy, n.CreatedByLabel, now, now).Scan(&id)
		if err != nil {
			return w.Fault(ctx, err)
		}
		if err := errors.Join(w.addTags(ctx, entityTags, id, n.Tags), w.indexSoon(ctx, "entities")); err != nil {
			return err
		}
		e, err = w.Entity(ctx, id)
		return err
	})
	return e, err
}

// checkIdentifier returns DUPLICATE when another entity of the type has the
// identifier.
func (w entityRows) checkIdentifier(ctx context.Context, id int64, kind string, identifier *string) error {
	if identifier == nil {
		return nil
	}
	var other int64
	err := w.In(ctx).QueryRowContext(ctx, "select id from entities where entity_type = ? and identifier = ? and deleted_at is null and id <> ?", kind, *identifier, id).Scan(&other)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return w.Fault(ctx, err)
	}
	return record.ErrDuplicate.New("Entity %d has this identifier already.", other).With("resource_type", "entity").With("resource_id", other)
}

// EntityUpdate says what of an entity changes. Its type stays.
type EntityUpdate struct {
	Name                                    *string
	Identifier, Description, Metadata, Tags Field[string]
	By                                      string
}

// UpdateEntity changes an entity and returns it.
func (w entityRows) UpdateEntity(ctx context.Context, id int64, u EntityUpdate) (e record.Entity, err error) {
	err = w.Change(ctx, func(ctx context.Context) error {
		before, err := w.Entity(ctx, id)
		if err != nil {
			return err
		}
		if u.Identifier.Given {
			if err := w.checkIdentifier(ctx, id, before.Type, u.Identifier.Value); err != nil {
				return err
			}
		}
		var s setter
		s.set("updated_at", w.now().UnixMicro())
		s.set("updated_by", u.By)
		s.text("name", u.Name)
		s.field("identifier", u.Identifier)
		s.field("description", u.Description)
		s.field("metadata", u.Metadata)
		s.field("tags", u.Tags)
		if _, err := w.Exec(ctx, "update entities set "+s.list()+" where id = ?", append(s.args, id)...); err != nil {
			return err
		}
		if u.Tags.Given {
			if err := w.setTags(ctx, entityTags, id, u.Tags.Value); err != nil {
				return err
			}
		}
		if err := w.indexSoon(ctx, "entities"); err != nil {
			return err
		}
		e, err = w.Entity(ctx, id)
		return err
	})
	return e, err
}

// DeleteEntity deletes an entity and its links, so that both can be undone. It
// returns how many links were deleted.
func (w entityRows) DeleteEntity(ctx context.Context, id int64) (links int64, err error) {
	err = w.Change(ctx, func(ctx context.Context) error {
		if _, err := w.Entity(ctx, id); err != nil {
			return err
		}
		now := w.now().UnixMicro()
		if links, err = w.Exec(ctx, "update task_entity_links set deleted_at = ? where entity_id = ? and deleted_at is null", now, id); err != nil {
			return err
		}
		_, err := w.Exec(ctx, "update entities set deleted_at = ? where id = ?", now, id)
		return err
	})
	return links, err
}

// UndeleteEntity takes a deletion back, with that of the links that were deleted
// together with it. It returns how many links came back.
func (w entityRows) UndeleteEntity(ctx context.Context, id int64) (links int64, err error) {
	err = w.Change(ctx, func(ctx context.Context) error {
		e, err := w.entity(ctx, id, "and e.deleted_at is not null")
		if err != nil {
			return err
		}
		if err := w.checkIdentifier(ctx, id, e.Type, e.Identifier); err != nil {
			return err
		}
		if _, err := w.Exec(ctx, "update entities set deleted_at = null where id = ?", id); err != nil {
			return err
		}
		links, err = w.Exec(ctx, "update task_entity_links set deleted_at = null where entity_id = ? and deleted_at = ?", id, e.DeletedAt.UnixMicro())
		return err
	})
	return links, err
}

// Entities returns a page and the number of entities in all. tags are any of these
// words; an empty type or list does not filter.
func (w entityRows) Entities(ctx context.Context, kind string, tags []string, p Page) (found []record.Entity, total int, err error) {
	var where engine.Clause
	where.And("e.deleted_at is null")
	if kind != "" {
		where.And("e.entity_type = ?", kind)
	}
	count, counted := "select coalesce(sum(n), 0) from entity_counts where ?1 in ('', entity_type)", []any{kind}
	if len(tags) > 0 {
		words, args := anyOf(tags)
		where.And("e.id in (select entity_id from entity_tags where tag in "+words+")", args...)
		count, counted = "select count(*) from entities e where "+where.String(), where.Args
	}
	err = w.Snapshot(ctx, func(ctx context.Context) error {
		if err := w.In(ctx).QueryRowContext(ctx, count, counted...).Scan(&total); err != nil {
			return w.Fault(ctx, err)
		}
		inside := "select e.id from entities e where " + where.String() + " order by e.created_at desc, e.id desc limit ? offset ?"
		statement := "select " + entityColumns(p.Details) + " from (" + inside + ") page join entities e on e.id = page.id order by e.created_at desc, e.id desc"
		found, err = w.readEntities(ctx, p.Details, statement, append(where.Args, p.Limit, p.Offset)...)
		return err
	})
	return found, total, err
}

func (w entityRows) readEntities(ctx context.Context, details bool, statement string, args ...any) (found []record.Entity, err error) {
	rows, err := w.In(ctx).QueryContext(ctx, statement, args...)
	err = w.Each(ctx, rows, err, func() error {
		e, err := scanEntity(rows.Scan, details)
		found = append(found, e)
		return err
	})
	return found, err
}

// SearchEntities returns a page of the entities that have every word of a term in
// their name or identifier, the best first, and their number in all. When none has every
// word, they are those that have any, which some says.
func (w entityRows) SearchEntities(ctx context.Context, term, kind string, p Page) (found []record.Entity, total int, some bool, err error) {
	err = w.Snapshot(ctx, func(ctx context.Context) error {
		x, err := w.openIndex(ctx, "entities", "name")
		if err != nil {
			return err
		}
		h, err := search{index: x, kind: kind}.page(ctx, term, p)
		if total, some = h.total, h.some; err != nil || total == 0 {
			return err
		}
		found, err = w.readEntities(ctx, p.Details, "select "+entityColumns(p.Details)+" from json_each(?) page cross join entities e on e.id = page.value order by page.key", listOf(h.ids))
		return err
	})
	return found, total, some, err
}
