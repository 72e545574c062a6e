-- Run before a schema's migrations, each time; it changes only what is missing.
-- The settings countersign.schema and countersign.login name what it is for.
do $$
declare
  schema text := current_setting('countersign.schema');
  login  text := current_setting('countersign.login');
  -- A generic plan does not know whether its caller sees ten rows or all of
  -- them, and is wrong for one of the two.
  settings text[] := array['search_path=' || schema, 'plan_cache_mode=force_custom_plan'];
begin
  execute format('create schema if not exists %I', schema);
  -- Roles belong to the whole cluster: another database may be making the same
  -- one at this moment. A new role is no superuser and bypasses no policy.
  if to_regrole(quote_ident(login)) is null then
    begin
      execute format('create role %I login', login);
    exception when duplicate_object or unique_violation then
      null;
    end;
  end if;
  if not exists (select from pg_db_role_setting
                 where setrole = to_regrole(quote_ident(login)) and setdatabase = 0 and setconfig @> settings) then
    execute format('alter role %I set search_path = %I', login, schema);
    execute format('alter role %I set plan_cache_mode = force_custom_plan', login);
  end if;
  execute format('grant usage on schema %I to %I', schema, login);
end $$;

select set_config('search_path', current_setting('countersign.schema'), true);

do $$
begin
  if to_regclass('migrations') is not null then
    return;
  end if;
  create table migrations (
    version    integer primary key,
    name       text not null,
    digest     text not null,
    applied_at timestamptz not null default now()
  );
  alter table migrations enable row level security;
  alter table migrations force row level security;
  create policy keeper on migrations to current_user using (true) with check (true);
end $$;
