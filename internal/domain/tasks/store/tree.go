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

// maxNodes bounds the tasks of one tree that are read.
const maxNodes = 20_000

// Tree returns what is below a task: its children of the page and what is below them,
// each task before its own children, siblings in the order in which they were made.
// total is the number of the root's children, and below that of all tasks below it.
func (w taskRows) Tree(ctx context.Context, root int64, p TreePage) (nodes []Node, total, size int, err error) {
	err = w.Snapshot(ctx, func(ctx context.Context) error {
		err := w.In(ctx).QueryRowContext(ctx, `select count(*) from tasks where parent_task_id = ? and deleted_at is null`, root).Scan(&total)
		if err != nil {
			return w.Fault(ctx, err)
		}
		err = w.In(ctx).QueryRowContext(ctx, `with recursive b(id) as (
  select id from tasks where parent_task_id = ?1 and deleted_at is null
  union all select t.id from b join tasks t on t.parent_task_id = b.id where t.deleted_at is null and t.parent_task_id is not null)
select count(*) from b`, root).Scan(&size)
		if err != nil {
			return w.Fault(ctx, err)
		}
		nodes, err = w.readTree(ctx, root, p)
		return err
	})
	return nodes, total, size, err
}

// readTree walks depth first: the queue of a recursive query is ordered, so the
// deepest task that is open is next. CROSS JOIN keeps that order: with JOIN, SQLite
// may read all tasks in the order of their ids and look each up in the tree.
func (w taskRows) readTree(ctx context.Context, root int64, p TreePage) (nodes []Node, err error) {
	rows, err := w.In(ctx).QueryContext(ctx, `with recursive b(id, depth, created_at) as (
  select * from (select id, 1, created_at from tasks where parent_task_id = ?1 and deleted_at is null order by created_at, id limit ?2 offset ?3)
  union all select t.id, b.depth + 1, t.created_at from b join tasks t on t.parent_task_id = b.id
    where t.deleted_at is null and t.parent_task_id is not null and b.depth < ?4
  order by 2 desc, 3, 1)
select `+columns(p.Details)+`, b.depth from b cross join tasks t on t.id = b.id limit ?5`, root, p.Limit, p.Offset, p.MaxDepth, maxNodes)
	err = w.Each(ctx, rows, err, func() error {
		var n Node
		t, err := scanTask(rows.Scan, p.Details, &n.Depth)
		n.Task = t
		nodes = append(nodes, n)
		return err
	})
	return nodes, err
}
