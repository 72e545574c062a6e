package store

import (
	"context"

	"countersign.dev/internal/domain/tasks/record"
)

// Node is a task of a tree. Depth is 1 for the root's children.
type Node struct {
	record.Task
	Depth int
}

// TreePage is the part of a tree that is asked for: Limit and Offset count the
// root's children, and MaxDepth the levels below the root.
type TreePage struct {
	Page
	MaxDepth int
}

// Tree calls each for what is below a task, until it returns false: the children of
// the page and what is below them, each task before its own children, siblings in the
// order in which they were made. total is the number of the root's children, and
// below that of all tasks below it.
func (w taskLists) Tree(ctx context.Context, root int64, p TreePage, each func(Node) bool) (total, below int, err error) {
	err = w.Snapshot(ctx, func(ctx context.Context) error {
		const counts = "select below, (select count(*) from tasks where parent_task_id = ?1 and deleted_at is null) from tasks where id = ?1"
		if err := w.In(ctx).QueryRowContext(ctx, counts, root).Scan(&below, &total); err != nil {
			return w.byNumber(ctx, "task", root, err)
		}
		return w.walk(ctx, root, p, each)
	})
	return total, below, err
}

// treeWalk goes from a task to its first child and to its next sibling. The queue of the
// recursive query is ordered, so that the deepest task is next, and it has one task of
// a level at most: a task with many children costs what is read of them. CROSS JOIN
// keeps that order.
const treeWalk = `with recursive b(id, depth, parent, created_at, nth) as (
  select * from (select id, 1, parent_task_id, created_at, 1 from tasks where parent_task_id = ?1 and deleted_at is null order by created_at, id limit 1 offset ?3)
  union all
  select t.id, b.depth + 1, b.id, t.created_at, 1 from b join tasks t on t.id = (
    select c.id from tasks c where c.parent_task_id = b.id and c.deleted_at is null order by c.created_at, c.id limit 1) where b.depth < ?4
  union all
  select t.id, b.depth, b.parent, t.created_at, b.nth + 1 from b join tasks t on t.id = (
    select c.id from tasks c where c.parent_task_id = b.parent and c.deleted_at is null and (c.created_at, c.id) > (b.created_at, b.id)
    order by c.created_at, c.id limit 1) where b.depth > 1 or b.nth < ?2
  order by 2 desc)
`

func (w taskLists) walk(ctx context.Context, root int64, p TreePage, each func(Node) bool) error {
	rows, err := w.In(ctx).QueryContext(ctx, treeWalk+"select "+columns(p.Details)+", b.depth from b cross join tasks t on t.id = b.id", root, p.Limit, p.Offset, p.MaxDepth)
	return w.Each(ctx, rows, err, func() error {
		var n Node
		t, err := scanTask(rows.Scan, p.Details, &n.Depth)
		n.Task = t
		if err == nil && !each(n) {
			err = rows.Close()
		}
		return err
	})
}
