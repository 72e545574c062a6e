-- The words of tasks with what their lists filter and order by, so that a list by tag
-- reads its page out of one index, and how many tasks of a kind have each word.
create table tagged (
  tag text not null, live integer not null, created_at integer not null, task_id integer not null references tasks (id) on delete cascade,
  status text not null, priority text not null,
  primary key (tag, live, created_at, task_id)
) strict, without rowid;
insert into tagged select g.tag, t.deleted_at is null, t.created_at, t.id, t.status, t.priority from task_tags g join tasks t on t.id = g.task_id;
drop table task_tags;
alter table tagged rename to task_tags;
create index task_tags_task on task_tags (task_id, tag);

create table tag_counts (
  tag text not null, status text not null, priority text not null, n integer not null, primary key (tag, status, priority)
) strict, without rowid;
insert into tag_counts select tag, status, priority, count(*) from task_tags where live = 1 group by tag, status, priority;

create trigger tags_counted after insert on task_tags when new.live = 1 begin
  insert into tag_counts values (new.tag, new.status, new.priority, 1) on conflict do update set n = n + 1;
end;
create trigger tags_uncounted after delete on task_tags when old.live = 1 begin
  update tag_counts set n = n - 1 where tag = old.tag and status = old.status and priority = old.priority;
end;
create trigger tags_recounted after update of live, status, priority on task_tags begin
  update tag_counts set n = n - 1 where old.live = 1 and tag = old.tag and status = old.status and priority = old.priority;
  insert into tag_counts select new.tag, new.status, new.priority, 1 where new.live = 1 on conflict do update set n = n + 1;
end;
create trigger tasks_retagged after update of status, priority, deleted_at on tasks begin
  update task_tags set live = new.deleted_at is null, status = new.status, priority = new.priority where task_id = new.id;
end;
