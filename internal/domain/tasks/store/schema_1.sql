create table about (
  one integer primary key check (one = 1), workspace_path text not null, created_at integer not null
) strict;

-- Times are microseconds since 1970, UTC.
create table tasks (
  id integer primary key autoincrement,
  title text not null, description text, status text not null, priority text not null,
  parent_task_id integer references tasks (id) on delete set null,
  tags text, blocker_reason text, file_references text not null default '[]',
  created_by text not null, created_by_label text,
  created_at integer not null, updated_at integer not null, completed_at integer, deleted_at integer,
  workspace_metadata text,
  -- Kept by triggers: how many open tasks it waits for, and how many wait for it.
  open_blockers integer not null default 0, unblocks integer not null default 0,
  is_open integer not null generated always as (deleted_at is null and status in ('todo', 'in_progress', 'blocked')) virtual,
  is_ready integer not null generated always as (deleted_at is null and status in ('todo', 'in_progress') and open_blockers = 0) virtual,
  urgency integer not null generated always as (case priority when 'high' then 3 when 'medium' then 2 else 1 end) virtual
) strict;

create index tasks_newest on tasks (created_at desc, id desc) where deleted_at is null;
create index tasks_status on tasks (status, created_at desc, id desc) where deleted_at is null;
create index tasks_priority on tasks (priority, created_at desc, id desc) where deleted_at is null;
create index tasks_both on tasks (status, priority, created_at desc, id desc) where deleted_at is null;
create index tasks_parent on tasks (parent_task_id, created_at, id) where deleted_at is null and parent_task_id is not null;
create index tasks_ready on tasks (urgency desc, unblocks desc, created_at, id) where is_ready = 1;
create index tasks_waiting on tasks (urgency desc, created_at, id) where is_open = 1 and (open_blockers > 0 or status = 'blocked');
create index tasks_deleted on tasks (deleted_at) where deleted_at is not null;

create table task_tags (
  tag text not null, task_id integer not null references tasks (id) on delete cascade, primary key (tag, task_id)
) strict, without rowid;
create index task_tags_task on task_tags (task_id);

create table dependencies (
  task_id integer not null references tasks (id) on delete cascade,
  depends_on_id integer not null references tasks (id) on delete cascade,
  primary key (task_id, depends_on_id)
) strict, without rowid;
create index dependencies_reverse on dependencies (depends_on_id, task_id);

-- How many tasks there are of a kind, so that no list counts all rows.
create table counts (
  status text not null, priority text not null, ready integer not null, waiting integer not null, n integer not null,
  primary key (status, priority, ready, waiting)
) strict, without rowid;

create trigger tasks_counted after insert on tasks when new.deleted_at is null begin
  insert into counts values (new.status, new.priority, new.is_ready, new.is_open and (new.open_blockers > 0 or new.status = 'blocked'), 1)
    on conflict do update set n = n + 1;
end;
create trigger tasks_recounted after update of status, priority, deleted_at, open_blockers on tasks begin
  update counts set n = n - 1 where old.deleted_at is null and status = old.status and priority = old.priority and ready = old.is_ready
    and waiting = (old.is_open and (old.open_blockers > 0 or old.status = 'blocked'));
  insert into counts select new.status, new.priority, new.is_ready, new.is_open and (new.open_blockers > 0 or new.status = 'blocked'), 1 where new.deleted_at is null
    on conflict do update set n = n + 1;
end;
create trigger tasks_uncounted after delete on tasks when old.deleted_at is null begin
  update counts set n = n - 1 where status = old.status and priority = old.priority and ready = old.is_ready
    and waiting = (old.is_open and (old.open_blockers > 0 or old.status = 'blocked'));
end;

create trigger tasks_opened after update of status, deleted_at on tasks when old.is_open <> new.is_open begin
  update tasks set open_blockers = open_blockers + new.is_open - old.is_open where id in (select task_id from dependencies where depends_on_id = new.id);
  update tasks set unblocks = unblocks + new.is_open - old.is_open where id in (select depends_on_id from dependencies where task_id = new.id);
end;
create trigger dependencies_added after insert on dependencies begin
  update tasks set open_blockers = open_blockers + (select is_open from tasks where id = new.depends_on_id) where id = new.task_id;
  update tasks set unblocks = unblocks + (select is_open from tasks where id = new.task_id) where id = new.depends_on_id;
end;
-- Before, because a task whose row goes is still there to be asked.
create trigger dependencies_removed before delete on dependencies begin
  update tasks set open_blockers = open_blockers - coalesce((select is_open from tasks where id = old.depends_on_id), 0) where id = old.task_id;
  update tasks set unblocks = unblocks - coalesce((select is_open from tasks where id = old.task_id), 0) where id = old.depends_on_id;
end;

-- Words of the tasks that are not deleted; three letters and more are found anywhere.
create virtual table tasks_words using fts5 (title, description, files, content='', contentless_delete=1, tokenize='trigram');
create trigger tasks_worded after insert on tasks when new.deleted_at is null begin
  insert into tasks_words (rowid, title, description, files) values (new.id, new.title, new.description, new.file_references);
end;
create trigger tasks_reworded after update of title, description, file_references, deleted_at on tasks begin
  delete from tasks_words where rowid = old.id and old.deleted_at is null;
  insert into tasks_words (rowid, title, description, files) select new.id, new.title, new.description, new.file_references where new.deleted_at is null;
end;
create trigger tasks_unworded after delete on tasks when old.deleted_at is null begin
  delete from tasks_words where rowid = old.id;
end;

create table entities (
  id integer primary key autoincrement,
  entity_type text not null, name text not null, identifier text, description text, metadata text, tags text,
  created_by text not null, created_by_label text, created_at integer not null, updated_at integer not null, updated_by text, deleted_at integer
) strict;
create unique index entities_identifier on entities (entity_type, identifier) where deleted_at is null and identifier is not null;
create index entities_newest on entities (created_at desc, id desc) where deleted_at is null;
create index entities_type on entities (entity_type, created_at desc, id desc) where deleted_at is null;

create table entity_tags (
  tag text not null, entity_id integer not null references entities (id) on delete cascade, primary key (tag, entity_id)
) strict, without rowid;
create index entity_tags_entity on entity_tags (entity_id);

create table entity_counts (entity_type text primary key, n integer not null) strict, without rowid;
create trigger entities_counted after insert on entities when new.deleted_at is null begin
  insert into entity_counts values (new.entity_type, 1) on conflict do update set n = n + 1;
end;
create trigger entities_recounted after update of deleted_at on entities begin
  update entity_counts set n = n - (old.deleted_at is null) + (new.deleted_at is null) where entity_type = new.entity_type;
end;

create virtual table entities_words using fts5 (name, identifier, content='', contentless_delete=1, tokenize='trigram');
create trigger entities_worded after insert on entities when new.deleted_at is null begin
  insert into entities_words (rowid, name, identifier) values (new.id, new.name, new.identifier);
end;
create trigger entities_reworded after update of name, identifier, deleted_at on entities begin
  delete from entities_words where rowid = old.id and old.deleted_at is null;
  insert into entities_words (rowid, name, identifier) select new.id, new.name, new.identifier where new.deleted_at is null;
end;

-- What was unlinked stays as history, and can be linked again.
create table task_entity_links (
  id integer primary key autoincrement,
  task_id integer not null references tasks (id) on delete cascade, entity_id integer not null references entities (id) on delete cascade,
  created_by text not null, created_at integer not null, deleted_at integer
) strict;
create unique index links_once on task_entity_links (task_id, entity_id) where deleted_at is null;
create index links_of_entity on task_entity_links (entity_id, created_at desc, id desc) where deleted_at is null;
create index links_of_task on task_entity_links (task_id, created_at desc, id desc) where deleted_at is null;

create table tool_usage (
  day text not null, tool_name text not null, calls integer not null, successes integer not null, primary key (day, tool_name)
) strict, without rowid;
