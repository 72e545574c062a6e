// Package master keeps what belongs to no single workspace of tasks: the projects that
// were opened with their friendly names, and in which workspace a confirmed change is
// made. It knows no task. Start with [Open].
package master

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"countersign.dev/internal/domain/tasks/record"
	engine "countersign.dev/internal/sqlite"
)

const schema = `
create table if not exists projects (
  workspace_path text primary key, friendly_name text, created_at integer not null, last_accessed integer not null
) strict, without rowid;
create table if not exists assignments (
  confirmation_id text primary key, workspace_path text not null, created_at integer not null
) strict, without rowid;`

// File is the name of the file.
const File = "master.db"

// Store is the file, open.
type Store struct {
	*engine.DB
	now func() time.Time
}

// Open opens the file in a folder, or makes it.
func Open(ctx context.Context, folder string, now func() time.Time) (*Store, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	db, err := engine.Open(ctx, "tasks", filepath.Join(folder, File), schema)
	if err != nil {
		return nil, err
	}
	return &Store{db, now}, nil
}

// Project is a workspace that was opened.
type Project struct {
	Path         string
	FriendlyName *string
	CreatedAt    time.Time
	LastAccessed time.Time
}

// Touch notes that a project is used. It is written at most once in touchEvery.
func (m *Store) Touch(ctx context.Context, path string) error {
	now := m.now().UnixMicro()
	p, found, err := m.Project(ctx, path)
	if err != nil || found && now-p.LastAccessed.UnixMicro() < touchEvery.Microseconds() {
		return err
	}
	return m.Change(ctx, func(ctx context.Context) error {
		_, err := m.Exec(ctx, "insert into projects values (?1, null, ?2, ?2) on conflict do update set last_accessed = ?2", path, now)
		return err
	})
}

// touchEvery is how exact the time of the last access is.
const touchEvery = time.Minute

// Project returns a project that was opened.
func (m *Store) Project(ctx context.Context, path string) (p Project, found bool, err error) {
	p.Path = path
	var name sql.NullString
	var created, accessed int64
	err = m.In(ctx).QueryRowContext(ctx, "select friendly_name, created_at, last_accessed from projects where workspace_path = ?", path).Scan(&name, &created, &accessed)
	if errors.Is(err, sql.ErrNoRows) {
		return p, false, nil
	}
	if name.Valid {
		p.FriendlyName = &name.String
	}
	p.CreatedAt, p.LastAccessed = time.UnixMicro(created).UTC(), time.UnixMicro(accessed).UTC()
	return p, err == nil, m.Fault(ctx, err)
}

// Names are the friendly names of all projects, by their paths.
func (m *Store) Names(ctx context.Context) (names map[string]string, err error) {
	names = map[string]string{}
	rows, err := m.In(ctx).QueryContext(ctx, "select workspace_path, friendly_name from projects where friendly_name is not null")
	err = m.Each(ctx, rows, err, func() error {
		var path, name string
		err := rows.Scan(&path, &name)
		names[path] = name
		return err
	})
	return names, err
}

// Rename gives a project a friendly name. others are the names that it must not
// have; one of them is DUPLICATE.
func (m *Store) Rename(ctx context.Context, path, name string, others []string) error {
	for _, other := range others {
		if strings.EqualFold(other, name) {
			return record.ErrDuplicate.New("Another of your projects is called %q.", other).With("resource_type", "project").With("friendly_name", other)
		}
	}
	return m.Change(ctx, func(ctx context.Context) error {
		now := m.now().UnixMicro()
		_, err := m.Exec(ctx, "insert into projects values (?1, ?2, ?3, ?3) on conflict do update set friendly_name = ?2, last_accessed = ?3", path, name, now)
		return err
	})
}

// Assign remembers in which workspace a confirmed change will be made.
func (m *Store) Assign(ctx context.Context, confirmation, path string) error {
	return m.Change(ctx, func(ctx context.Context) error {
		_, err := m.Exec(ctx, "insert into assignments values (?, ?, ?)", confirmation, path, m.now().UnixMicro())
		return err
	})
}

// Assigned returns that workspace.
func (m *Store) Assigned(ctx context.Context, confirmation string) (path string, found bool, err error) {
	err = m.In(ctx).QueryRowContext(ctx, "select workspace_path from assignments where confirmation_id = ?", confirmation).Scan(&path)
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	return path, err == nil, m.Fault(ctx, err)
}
