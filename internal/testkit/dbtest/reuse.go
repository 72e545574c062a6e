package dbtest

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"

	"countersign.dev/internal/testkit"
)

// Making a database costs a hundred times what restoring the rows of a small one
// does, so that databases of a template are used again.

// saveRows copies every table into a schema that only the administrator can use.
const saveRows = `
do $$
declare t record;
begin
  create schema saved;
  for t in select schemaname, tablename from pg_tables where schemaname not in ('pg_catalog', 'information_schema', 'saved') loop
    execute format('create table saved.%I as table %I.%I', t.schemaname || '.' || t.tablename, t.schemaname, t.tablename);
  end loop;
end $$`

// restoreRows puts the copies back, past triggers and policies, when all other
// connections are closed.
const restoreRows = `
do $$
declare t record; columns text;
begin
  perform pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid();
  set local session_replication_role = replica;
  set local row_security = off;
  for t in select schemaname, tablename from pg_tables where schemaname not in ('pg_catalog', 'information_schema', 'saved') loop
    execute format('delete from %I.%I', t.schemaname, t.tablename);
  end loop;
  for t in select schemaname, tablename from pg_tables where schemaname not in ('pg_catalog', 'information_schema', 'saved') loop
    select string_agg(quote_ident(attname), ', ') into columns from pg_attribute
    where attrelid = format('%I.%I', t.schemaname, t.tablename)::regclass and attnum > 0 and not attisdropped and attgenerated = '';
    execute format('insert into %I.%I (%s) overriding system value select %s from saved.%I', t.schemaname, t.tablename, columns, columns, t.schemaname || '.' || t.tablename);
  end loop;
end $$`

// save keeps the rows of a template for the databases that are made of it.
func save(ctx context.Context, adminURL string) error { return run(ctx, adminURL, saveRows) }

// reused returns the URL of a database of a template: one that another test has
// finished with, or a new one.
func (c *Cluster) reused(tb testing.TB, template string) (adminURL string) {
	tb.Helper()
	name := c.take(template)
	if name == "" {
		name = fmt.Sprintf("%s%d", template, c.made.Add(1))
		c.must(tb, fmt.Sprintf("create database %s template %s", name, template))
	}
	tb.Cleanup(func() { c.giveBack(tb, template, name) })
	return c.URL(name)
}

func (c *Cluster) take(template string) (name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if free := c.free[template]; len(free) > 0 {
		name, c.free[template] = free[len(free)-1], free[:len(free)-1]
	}
	return name
}

// giveBack restores a database for the next test.
func (c *Cluster) giveBack(tb testing.TB, template, name string) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*testkit.Patience)
	defer cancel()
	if err := run(ctx, c.URL(name), restoreRows); err != nil {
		tb.Errorf("restoring the database of this test: %v", err)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.free[template] = append(c.free[template], name)
}

func run(ctx context.Context, adminURL, statement string) error {
	conn, err := pgx.Connect(ctx, adminURL)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, statement)
	return err
}
