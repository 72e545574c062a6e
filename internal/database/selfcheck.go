package database

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// selfCheck lists everything that would let the login bypass the policies of a
// schema, one sentence a row. It reads the catalogue only.
const selfCheck = `
with me as (
  select r.* from pg_roles r where pg_has_role(current_user, r.oid, 'member')
), tables as (
  select c.* from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = $1
)
select 'the server is older than version 15' where current_setting('server_version_num')::int < 150000
union all
select 'there is no schema ' || $1 || ' here, or the login may not use it: run "countersign migrate"'
  where not coalesce(has_schema_privilege(to_regnamespace($1), 'usage'), false)
union all
select 'the login is, or may become, the superuser ' || rolname from me where rolsuper
union all
select 'the login is, or may become, ' || rolname || ', which passes by row-level security' from me where rolbypassrls and not rolsuper
union all
select 'the login owns the schema ' || nspname from pg_namespace
  where nspname = $1 and pg_has_role(current_user, nspowner, 'member')
union all
select 'the login owns ' || relname from tables
  where relkind in ('r', 'p', 'v', 'm') and pg_has_role(current_user, relowner, 'member')
union all
select 'table ' || relname || ' does not force row-level security' from tables
  where relkind in ('r', 'p') and not (relrowsecurity and relforcerowsecurity)
union all
select 'table ' || relname || ' is foreign and knows no row-level security' from tables where relkind = 'f'
union all
select 'view ' || relname || ' reads with its owner''s rights instead of the caller''s' from tables
  where relkind = 'v' and not coalesce(reloptions && array['security_invoker=true', 'security_invoker=on', 'security_invoker=1'], false)
union all
select 'materialized view ' || relname || ' knows no row-level security' from tables where relkind = 'm'
union all
select 'function ' || p.proname || ' runs with its owner''s rights and looks names up where the caller says'
  from pg_proc p join pg_namespace n on n.oid = p.pronamespace
  where n.nspname = $1 and p.prosecdef and not coalesce(array_to_string(p.proconfig, ' ') like '%search_path=%', false)`

// SelfCheck rejects a login that could bypass the policies of a schema: a
// superuser, one with BYPASSRLS, an owner or a member of one; and a schema with
// a table that does not force its policies, or a view that reads with its
// owner's rights. The error names every fault. A server must not start with such
// a login.
func SelfCheck(ctx context.Context, db *DB, schema string) error {
	ctx, cancel := db.bounded(ctx)
	defer cancel()
	rows, err := db.pool.Query(ctx, selfCheck, schema)
	if err != nil {
		return translate(err)
	}
	var wrong []string
	var sentence string
	for rows.Next() {
		if err := rows.Scan(&sentence); err != nil {
			return translate(err)
		}
		wrong = append(wrong, sentence)
	}
	if err := rows.Err(); err != nil {
		return translate(err)
	}
	if len(wrong) > 0 {
		return fmt.Errorf("this database login must not be used: %w", errors.New(strings.Join(wrong, "; ")))
	}
	return nil
}
