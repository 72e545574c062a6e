-- The tasks that each entity is linked to, as sets of numbers of tasks (package rowset) in spans
-- of 16,384, so that a search for the words of an entity finds them without reading
-- links. Entity 0 has the tasks with any link.
create table linked (
  entity_id integer not null, span integer not null, tasks blob, primary key (entity_id, span)
) strict, without rowid;

-- A row here is a link that came, or one that went.
create view linkings (task_id, entity_id, gone) as select 0, 0, 0 where false;
create trigger linkings_come instead of insert on linkings when new.gone = 0 begin
  insert into linked select value, new.task_id >> 14, search_add(null, new.task_id & 16383) from json_each(json_array(0, new.entity_id)) where true
    on conflict do update set tasks = search_add(tasks, new.task_id & 16383);
end;
create trigger linkings_gone instead of insert on linkings when new.gone = 1 begin
  update linked set tasks = search_cut(tasks, new.task_id & 16383) where entity_id = new.entity_id and span = new.task_id >> 14;
  update linked set tasks = search_cut(tasks, new.task_id & 16383) where entity_id = 0 and span = new.task_id >> 14
    and not exists (select 1 from task_entity_links where task_id = new.task_id and deleted_at is null);
  delete from linked where entity_id in (0, new.entity_id) and span = new.task_id >> 14 and tasks is null;
end;

create trigger links_made after insert on task_entity_links when new.deleted_at is null begin
  insert into linkings values (new.task_id, new.entity_id, 0);
end;
create trigger links_changed after update of deleted_at on task_entity_links when (old.deleted_at is null) <> (new.deleted_at is null) begin
  insert into linkings values (new.task_id, new.entity_id, new.deleted_at is not null);
end;
create trigger links_purged after delete on task_entity_links when old.deleted_at is null begin
  insert into linkings values (old.task_id, old.entity_id, 1);
end;
insert into linkings select task_id, entity_id, 0 from task_entity_links where deleted_at is null order by entity_id, task_id;

-- What refers to a task that is cleaned up is found without reading all tasks and links:
-- the indexes of those that are not deleted do not serve.
create index tasks_of_parent on tasks (parent_task_id) where parent_task_id is not null;
create index links_ever on task_entity_links (task_id);
