-- How many tasks are below each one, however deep, so that a tree says what it leaves
-- out without reading it. A task that is deleted has its own number, and its parent
-- counts neither it nor what is below it.
alter table tasks add column below integer not null default 0;
update tasks set below = (
  with recursive b(id) as (
    select c.id from tasks c where c.parent_task_id = tasks.id and c.deleted_at is null
    union all select t.id from b join tasks t on t.parent_task_id = b.id where t.deleted_at is null)
  select count(*) from b)
where id in (select parent_task_id from tasks where deleted_at is null and parent_task_id is not null);

create trigger tasks_below_added after insert on tasks when new.deleted_at is null and new.parent_task_id is not null begin
  update tasks set below = below + 1 where id in (
    with recursive up(id, next) as (
      select id, iif(deleted_at is null, parent_task_id, null) from tasks where id = new.parent_task_id
      union all select t.id, iif(t.deleted_at is null, t.parent_task_id, null) from up join tasks t on t.id = up.next)
    select id from up);
end;
create trigger tasks_below_moved after update of parent_task_id, deleted_at on tasks
when old.parent_task_id is not new.parent_task_id or (old.deleted_at is null) <> (new.deleted_at is null) begin
  update tasks set below = below - 1 - new.below where old.deleted_at is null and id in (
    with recursive up(id, next) as (
      select id, iif(deleted_at is null, parent_task_id, null) from tasks where id = old.parent_task_id
      union all select t.id, iif(t.deleted_at is null, t.parent_task_id, null) from up join tasks t on t.id = up.next)
    select id from up);
  update tasks set below = below + 1 + new.below where new.deleted_at is null and id in (
    with recursive up(id, next) as (
      select id, iif(deleted_at is null, parent_task_id, null) from tasks where id = new.parent_task_id
      union all select t.id, iif(t.deleted_at is null, t.parent_task_id, null) from up join tasks t on t.id = up.next)
    select id from up);
end;

-- The tasks in stretches of their order, and how many of a kind each has: a page far
-- into a list is found without passing over all tasks before it. A stretch reaches
-- from its first time to that of the next one; a new one begins when the last has
-- 4,096 tasks.
create table stretches (
  since integer not null, status text not null, priority text not null, n integer not null, primary key (since, status, priority)
) strict, without rowid;
insert into stretches
select coalesce(since, 0), status, priority, count(*) from (
  select status, priority, max(iif(i > 0 and i % 4096 = 0, created_at, null)) over (order by created_at) as since from (
    select status, priority, created_at, row_number() over (order by created_at, id) - 1 as i from tasks where deleted_at is null))
group by 1, 2, 3;

create trigger stretches_counted after insert on tasks when new.deleted_at is null begin
  insert into stretches select new.created_at, new.status, new.priority, 0
    where (select sum(n) from stretches where since = (select max(since) from stretches)) >= 4096
      and not exists (select 1 from tasks where deleted_at is null and created_at >= new.created_at and id <> new.id)
    on conflict do nothing;
  insert into stretches values (coalesce((select max(since) from stretches where since <= new.created_at), 0), new.status, new.priority, 1)
    on conflict do update set n = n + 1;
end;
create trigger stretches_recounted after update of status, priority, deleted_at on tasks begin
  update stretches set n = n - 1 where old.deleted_at is null and status = old.status and priority = old.priority
    and since = coalesce((select max(since) from stretches where since <= old.created_at), 0);
  insert into stretches select coalesce((select max(since) from stretches where since <= new.created_at), 0), new.status, new.priority, 1 where new.deleted_at is null
    on conflict do update set n = n + 1;
end;

-- How many tasks of a kind have the same tags, and which tags have each word: tasks
-- with any of several words are counted without reading them.
create table tag_set_counts (
  tags text not null, status text not null, priority text not null, ready integer not null, waiting integer not null, n integer not null,
  primary key (tags, status, priority, ready, waiting)
) strict, without rowid;
create table tag_sets (tag text not null, tags text not null, primary key (tag, tags)) strict, without rowid;
insert into tag_set_counts
select tags, status, priority, is_ready, is_open and (open_blockers > 0 or status = 'blocked'), count(*) from tasks where deleted_at is null and tags is not null group by 1, 2, 3, 4, 5;
insert into tag_sets select distinct g.tag, t.tags from task_tags g join tasks t on t.id = g.task_id where t.tags is not null;

create trigger tag_sets_named after insert on task_tags begin
  insert into tag_sets select new.tag, tags from tasks where id = new.task_id and tags is not null on conflict do nothing;
end;
create trigger tag_sets_counted after insert on tasks when new.deleted_at is null and new.tags is not null begin
  insert into tag_set_counts values (new.tags, new.status, new.priority, new.is_ready, new.is_open and (new.open_blockers > 0 or new.status = 'blocked'), 1)
    on conflict do update set n = n + 1;
end;
create trigger tag_sets_recounted after update of tags, status, priority, deleted_at, open_blockers on tasks begin
  update tag_set_counts set n = n - 1 where old.deleted_at is null and tags = old.tags and status = old.status and priority = old.priority
    and ready = old.is_ready and waiting = (old.is_open and (old.open_blockers > 0 or old.status = 'blocked'));
  insert into tag_set_counts select new.tags, new.status, new.priority, new.is_ready, new.is_open and (new.open_blockers > 0 or new.status = 'blocked'), 1
    where new.deleted_at is null and new.tags is not null on conflict do update set n = n + 1;
end;
