// Package store keeps one workspace in one SQLite file: its tasks, entities, links
// and the receipts of confirmed changes. It knows no person, no path but its own,
// and no wire format. Start with [Open].
package store

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"countersign.dev/internal/domain/tasks/record"
	"countersign.dev/internal/domain/tasks/words"
	engine "countersign.dev/internal/sqlite"
)

var (
	//go:embed schema_1.sql
	schema1 string
	//go:embed schema_2.sql
	schema2 string
	//go:embed schema_3.sql
	schema3 string
	//go:embed schema_4.sql
	schema4 string
	//go:embed schema_5.sql
	schema5 string
	//go:embed schema_6.sql
	schema6 string
	//go:embed schema_7.sql
	schema7 string
	//go:embed schema_8.sql
	schema8 string
)

// step brings a file from a version to the next: its schema, and then what of its rows
// SQL does not say well. One that was released never changes.
type step struct {
	schema string
	then   func(*file, context.Context) error
}

func steps() []step {
	return []step{{schema: schema1}, {schema: schema2}, {schema: schema3}, {schema: schema4}, {schema: schema5}, {schema: schema6}, {schema7, (*file).indexAll}, {schema: schema8}}
}

// Workspace is the store of one workspace. It is safe for concurrent use, by
// several processes too.
type Workspace struct {
	*file
	taskRows
	taskLists
	entityRows
	linkRows
	figures
}

// file is the file of a workspace.
type file struct {
	*engine.DB
	path string // of the workspace
	now  func() time.Time
}

// The parts of a workspace, each with its tables.
type (
	taskRows   struct{ *file }
	taskLists  struct{ *file } // pages, searches and trees of tasks
	entityRows struct{ *file }
	linkRows   struct {
		*file
		tasks    taskRows
		entities entityRows
	}
	figures struct{ *file }
)

// Open opens the file of the workspace at a path, or makes it. A file of an older
// version is upgraded, with a backup beside it; one of a newer version, and one of
// another workspace, is refused.
func Open(ctx context.Context, name, path string, now func() time.Time) (*Workspace, error) {
	return open(ctx, name, path, now, steps())
}

func open(ctx context.Context, name, path string, now func() time.Time, steps []step) (*Workspace, error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return nil, err
	}
	if err := words.AddFunctions(); err != nil {
		return nil, err
	}
	db, err := engine.Open(ctx, "tasks", name, "")
	if err != nil {
		return nil, err
	}
	if err := db.LockWriters(name + ".lock"); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	f := &file{DB: db, path: path, now: now}
	if err := f.upgrade(ctx, name, steps); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	tasks, entities := taskRows{f}, entityRows{f}
	return &Workspace{f, tasks, taskLists{f}, entities, linkRows{f, tasks, entities}, figures{f}}, nil
}

// upgradeWait is how long an upgrade waits for its turn before it reads the version
// again: one of many processes that open the file together does the work, and then
// writes. upgradeLimit is how long all of it may take; a million tasks take minutes.
const (
	upgradeWait  = 500 * time.Millisecond
	upgradeLimit = 10 * time.Minute
)

// upgrade brings the schema to the newest version.
func (w *file) upgrade(ctx context.Context, name string, steps []step) error {
	ctx, cancel := context.WithTimeout(ctx, upgradeLimit)
	defer cancel()
	version, err := w.version(ctx)
	if err != nil {
		return err
	}
	backup := func(ctx context.Context) error { return w.backup(ctx, name, len(steps)) }
	apply := func(ctx context.Context) error { return w.apply(ctx, steps) }
	for version != len(steps) {
		if err := w.ChangeSoon(ctx, upgradeWait, backup, apply); err != nil {
			return fmt.Errorf("upgrading %s: %w", name, err)
		}
		if version, err = w.version(ctx); err != nil {
			return err
		}
	}
	var owner string
	if err := w.In(ctx).QueryRowContext(ctx, "select workspace_path from about").Scan(&owner); err != nil {
		return w.Fault(ctx, err)
	}
	if owner != w.path {
		return fmt.Errorf("%s is the store of another workspace, %s", name, owner)
	}
	return nil
}

func (w *file) version(ctx context.Context) (version int, err error) {
	err = w.In(ctx).QueryRowContext(ctx, "pragma user_version").Scan(&version)
	return version, w.Fault(ctx, err)
}

// apply runs the steps that are missing. Another process may have run them since.
func (w *file) apply(ctx context.Context, steps []step) error {
	version, err := w.version(ctx)
	if err != nil {
		return err
	}
	if version > len(steps) {
		return fmt.Errorf("it has version %d of the schema, and this program knows %d: use a newer program", version, len(steps))
	}
	for ; version < len(steps); version++ {
		if _, err := w.Exec(ctx, steps[version].schema); err != nil {
			return err
		}
		if then := steps[version].then; then != nil {
			if err := then(w, ctx); err != nil {
				return err
			}
		}
	}
	if _, err := w.Exec(ctx, fmt.Sprintf("pragma user_version = %d", len(steps))); err != nil {
		return err
	}
	_, err = w.Exec(ctx, "insert into about (one, workspace_path, created_at) values (1, ?, ?) on conflict do nothing", w.path, w.now().UnixMicro())
	return err
}

// backup copies a file of an older version beside itself, as it is before the upgrade.
// One process at a time does it, and a part that a killed one left is written anew. A
// backup of that version that is there already is kept.
func (w *file) backup(ctx context.Context, name string, newest int) error {
	version, err := w.version(ctx)
	if err != nil || version == 0 || version >= newest {
		return err
	}
	target := fmt.Sprintf("%s.v%d.bak", name, version)
	if _, err := os.Stat(target); err == nil {
		return nil
	}
	part, err := os.OpenFile(target+".part", os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(w.Backup(ctx, part.Name()), part.Sync(), part.Close()); err != nil {
		return err
	}
	return os.Rename(part.Name(), target)
}

// Ready reads from every table that lists read.
func (w *file) Ready(ctx context.Context) error {
	var some int
	err := w.In(ctx).QueryRowContext(ctx, "select (select count(*) from about) + exists (select 1 from tasks) + exists (select 1 from entities)").Scan(&some)
	return w.Fault(ctx, err)
}

// Check reads the whole file and returns what is wrong with it.
func (w *file) Check(ctx context.Context) error {
	var said string
	err := w.In(ctx).QueryRowContext(ctx, "pragma integrity_check(1)").Scan(&said)
	if err == nil && said != "ok" {
		err = errors.New(said)
	}
	return err
}

// CheckFile reads all of a workspace's file and returns what is wrong with it.
func CheckFile(ctx context.Context, name string) error {
	db, err := engine.Open(ctx, "tasks", name, "")
	if err != nil {
		return err
	}
	f := &file{DB: db}
	return errors.Join(f.Check(ctx), db.Close())
}

// timeOf reads a time of the store.
func timeOf(micro int64) time.Time { return time.UnixMicro(micro).UTC() }

func timeOrNil(micro sql.NullInt64) *time.Time {
	if !micro.Valid {
		return nil
	}
	at := timeOf(micro.Int64)
	return &at
}

func textOrNil(text sql.NullString) *string {
	if !text.Valid {
		return nil
	}
	return &text.String
}

// Page is the part of a list that is asked for.
type Page struct {
	Limit, Offset int
	Details       bool // with the details
}

// byNumber is the error of reading the row with a number: without one, NOT_FOUND.
func (w *file) byNumber(ctx context.Context, kind string, id int64, err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return record.NotFound(kind, id)
	}
	return w.Fault(ctx, err)
}

// The statements that write the words of the tags of a task and of an entity.
var (
	taskTags = tagging{
		clear: "delete from task_tags where task_id = ?",
		add: `insert into task_tags (tag, live, created_at, task_id, status, priority, ready, waiting, urgency, unblocks)
  select ?, deleted_at is null, created_at, id, status, priority, is_ready, is_open and (open_blockers > 0 or status = 'blocked'), urgency, unblocks
  from tasks where id = ? on conflict do nothing`,
	}
	entityTags = tagging{
		clear: "delete from entity_tags where entity_id = ?",
		add:   "insert into entity_tags (tag, entity_id) values (?, ?) on conflict do nothing",
	}
)

type tagging struct{ clear, add string }

// setTags replaces the words of the tags of a row.
func (w *file) setTags(ctx context.Context, of tagging, id int64, tags *string) error {
	if _, err := w.Exec(ctx, of.clear, id); err != nil {
		return err
	}
	return w.addTags(ctx, of, id, tags)
}

// addTags writes the words of the tags of a row that has none yet.
func (w *file) addTags(ctx context.Context, of tagging, id int64, tags *string) error {
	if tags == nil {
		return nil
	}
	for _, tag := range record.Words(*tags) {
		if _, err := w.Exec(ctx, of.add, tag, id); err != nil {
			return err
		}
	}
	return nil
}
