package store

import (
	"context"
	"database/sql"

	"countersign.dev/internal/domain/tasks/rowset"
)

// byEntities finds tasks by the words of the entities that they are linked to.
type byEntities struct {
	*file
	linked   rowset.Set // the tasks that have a link at all
	entities *search    // opened when it is needed
	deleted  rowset.Set // entities
	only     rowset.Set // the tasks that have a word of the search in no text of their own
}

func openByEntities(ctx context.Context, w *file) (*byEntities, error) {
	b := &byEntities{file: w, only: rowset.Set{}}
	linked, err := b.tasksOf(ctx, []int64{0})
	b.linked = linked
	return b, err
}

// tasksOf are the tasks that are linked to any of some entities.
func (b *byEntities) tasksOf(ctx context.Context, entities []int64) (rowset.Set, error) {
	found := rowset.Set{}
	rows, err := b.In(ctx).QueryContext(ctx, "select l.span, l.tasks from json_each(?) e cross join linked l on l.entity_id = e.value", listOf(entities))
	err = b.Each(ctx, rows, err, func() error {
		var at int64
		var tasks sql.RawBytes
		err := rows.Scan(&at, &tasks)
		found.Unpack(at, tasks)
		return err
	})
	return found, err
}

// add adds the tasks that are linked to an entity with a word to those that have it
// themselves. Where all tasks with links have it, no entity is looked up.
func (b *byEntities) add(ctx context.Context, pieces []string, found rowset.Set) error {
	more := rowset.Set{}
	more.Join(b.linked)
	more.Take(found)
	if len(more) == 0 {
		return nil
	}
	if err := b.open(ctx); err != nil {
		return err
	}
	entities, err := b.entities.seek(ctx, pieces)
	if err != nil {
		return err
	}
	entities.Anywhere.Take(b.deleted)
	if len(entities.Anywhere) == 0 {
		return nil
	}
	tasks, err := b.tasksOf(ctx, entities.Anywhere.Last(0, entities.Anywhere.Len()))
	more = more.Take(tasks)
	found.Join(more)
	b.only.Join(more)
	return err
}

func (b *byEntities) open(ctx context.Context) error {
	if b.entities != nil {
		return nil
	}
	x, err := b.openIndex(ctx, "entities", "name")
	if err != nil {
		return err
	}
	b.entities = &search{index: x}
	b.deleted, _, err = b.entities.marked(ctx)
	return err
}

// names are those of the entities of tasks that were found by them alone, by task.
func (b *byEntities) names(ctx context.Context, tasks []int64) (names map[int64]string, err error) {
	page, names := rowset.Set{}, map[int64]string{}
	for _, id := range tasks {
		page.Add(id)
	}
	page = page.Take(b.only)
	if len(page) == 0 {
		return names, nil
	}
	rows, err := b.In(ctx).QueryContext(ctx, `select page.value, group_concat(concat_ws(': ', e.name, e.identifier), ', ' order by e.id) from json_each(?) page
  cross join task_entity_links l on l.task_id = page.value and l.deleted_at is null cross join entities e on e.id = l.entity_id and e.deleted_at is null group by 1`, listOf(page.Last(0, len(tasks))))
	err = b.Each(ctx, rows, err, func() error {
		var id int64
		var text string
		err := rows.Scan(&id, &text)
		names[id] = text
		return err
	})
	return names, err
}
