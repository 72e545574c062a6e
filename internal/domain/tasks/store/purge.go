package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Purgeable are deleted tasks that a clean-up takes away for good.
type Purgeable struct {
	IDs      []int64
	Titles   []string // of the first few
	Left     int      // of as many more the time has passed, too
	Children int      // tasks that stay and lose the task above them
	Waiting  int      // tasks that stay and no longer depend on one that goes
	Seen     string   // a digest of all that is said here of the tasks that go
}

const (
	maxTitles = 10   // of what a card shows of a clean-up
	maxPurged = 5000 // tasks of one clean-up, which take half a second
)

// Purgeable lists the tasks that were deleted before a time, the oldest first.
func (w taskRows) Purgeable(ctx context.Context, before int64) (p Purgeable, err error) {
	p.IDs = []int64{}
	sum := sha256.New()
	rows, err := w.In(ctx).QueryContext(ctx, "select id, title, updated_at from tasks where deleted_at < ? order by deleted_at, id limit ?", before, maxPurged)
	err = w.Each(ctx, rows, err, func() error {
		var id, updated int64
		var title string
		err := rows.Scan(&id, &title, &updated)
		fmt.Fprintln(sum, id, updated) // each change is of another time
		if p.IDs = append(p.IDs, id); len(p.Titles) < maxTitles {
			p.Titles = append(p.Titles, title)
		}
		return err
	})
	if err != nil {
		return p, err
	}
	const counts = `with gone(id) as materialized (select value from json_each(?)) select (select count(*) from tasks where deleted_at < ?),
  (select count(*) from tasks where parent_task_id in gone and id not in gone), (select count(distinct task_id) from dependencies where depends_on_id in gone and task_id not in gone)`
	if err := w.In(ctx).QueryRowContext(ctx, counts, listOf(p.IDs), before).Scan(&p.Left, &p.Children, &p.Waiting); err != nil {
		return p, w.Fault(ctx, err)
	}
	p.Left -= len(p.IDs)
	fmt.Fprintln(sum, p.Children, p.Waiting)
	p.Seen = hex.EncodeToString(sum.Sum(nil))
	return p, nil
}

// Purge takes deleted tasks away for good, inside Change. When one of them is deleted no more, none goes, and
// the answer is CONFIRMATION_STALE.
func (w taskRows) Purge(ctx context.Context, ids []int64) error {
	return w.ExecAll(ctx, len(ids), "delete from tasks where id in (select value from json_each(?)) and deleted_at is not null", listOf(ids))
}
