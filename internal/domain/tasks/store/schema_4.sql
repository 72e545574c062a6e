-- A search looks for words: runs of letters and digits, as the program's function
-- search_words separates them. Each index has the words of a table's texts, without
-- what is deleted.
drop trigger if exists tasks_worded;
drop trigger tasks_reworded;
drop trigger tasks_unworded;
drop table tasks_words;
drop trigger if exists entities_worded;
drop trigger entities_reworded;
drop table entities_words;

-- The words of three characters and more that the texts have or had. A part of a word
-- is looked up here: its beginning in the order of the words, another part by its
-- trigrams, in the words without their first characters. The mark ends each word.
create table words (id integer primary key, word text not null unique) strict;
create virtual table words_parts using fts5 (part, content='', columnsize=0, tokenize='trigram case_sensitive 1');
create trigger words_parted after insert on words when length(new.word) > 3 begin
  insert into words_parts (rowid, part) values (new.id, substr(new.word, 2) || '$');
end;

create virtual table tasks_words using fts5 (title, description, files, content='', contentless_delete=1, tokenize='ascii');
create trigger tasks_worded after insert on tasks when new.deleted_at is null begin
  insert into tasks_words (rowid, title, description, files) select new.id, search_words(new.title), search_words(new.description), search_words((select group_concat(value, ' ') from json_each(new.file_references)));
end;
create trigger tasks_reworded after update of title, description, file_references, deleted_at on tasks begin
  delete from tasks_words where rowid = old.id and old.deleted_at is null;
  insert into tasks_words (rowid, title, description, files)
    select new.id, search_words(new.title), search_words(new.description), search_words((select group_concat(value, ' ') from json_each(new.file_references))) where new.deleted_at is null;
end;
create trigger tasks_unworded after delete on tasks when old.deleted_at is null begin
  delete from tasks_words where rowid = old.id;
end;
insert into tasks_words (rowid, title, description, files) select id, search_words(title), search_words(description), search_words((select group_concat(value, ' ') from json_each(file_references))) from tasks where deleted_at is null;

create trigger tasks_vocabulary after insert on tasks begin
  insert into words (word) select value from json_each(search_vocabulary(concat_ws(' ', new.title, new.description, (select group_concat(value, ' ') from json_each(new.file_references)))))
    where true on conflict do nothing;
end;
create trigger tasks_revocabulary after update of title, description, file_references on tasks begin
  insert into words (word) select value from json_each(search_vocabulary(concat_ws(' ', new.title, new.description, (select group_concat(value, ' ') from json_each(new.file_references)))))
    where true on conflict do nothing;
end;
insert into words (word) select v.value from tasks t, json_each(search_vocabulary(concat_ws(' ', t.title, t.description, (select group_concat(value, ' ') from json_each(t.file_references))))) v
  where true on conflict do nothing;

create virtual table entities_words using fts5 (name, identifier, content='', contentless_delete=1, tokenize='ascii');
create trigger entities_worded after insert on entities when new.deleted_at is null begin
  insert into entities_words (rowid, name, identifier) values (new.id, search_words(new.name), search_words(new.identifier));
end;
create trigger entities_reworded after update of name, identifier, deleted_at on entities begin
  delete from entities_words where rowid = old.id and old.deleted_at is null;
  insert into entities_words (rowid, name, identifier) select new.id, search_words(new.name), search_words(new.identifier) where new.deleted_at is null;
end;
insert into entities_words (rowid, name, identifier) select id, search_words(name), search_words(identifier) from entities where deleted_at is null;

create trigger entities_vocabulary after insert on entities begin
  insert into words (word) select value from json_each(search_vocabulary(concat_ws(' ', new.name, new.identifier))) where true on conflict do nothing;
end;
create trigger entities_revocabulary after update of name, identifier on entities begin
  insert into words (word) select value from json_each(search_vocabulary(concat_ws(' ', new.name, new.identifier))) where true on conflict do nothing;
end;
insert into words (word) select v.value from entities e, json_each(search_vocabulary(concat_ws(' ', e.name, e.identifier))) v where true on conflict do nothing;

-- Whether a task has an earlier time than one with a smaller number: while none has,
-- the order of their numbers is that of their times.
alter table about add column unordered integer not null default 0;
update about set unordered = exists (select 1 from (select created_at, lag(created_at) over (order by id) as before from tasks) where created_at < before);
create trigger tasks_unordered after insert on tasks
when new.created_at < (select created_at from tasks where id < new.id order by id desc limit 1) begin
  update about set unordered = 1;
end;

-- The words of tags also have what the lists of ready and of waiting tasks order by,
-- so that a page with a tag is read out of one index too.
alter table task_tags add column ready integer not null default 0;
alter table task_tags add column waiting integer not null default 0;
alter table task_tags add column urgency integer not null default 0;
alter table task_tags add column unblocks integer not null default 0;
update task_tags set (ready, waiting, urgency, unblocks) = (
  select is_ready, is_open and (open_blockers > 0 or t.status = 'blocked'), t.urgency, t.unblocks from tasks t where id = task_id);
create index task_tags_ready on task_tags (tag, urgency desc, unblocks desc, created_at, task_id, status, priority) where ready = 1;
create index task_tags_waiting on task_tags (tag, urgency desc, created_at, task_id, status, priority) where waiting = 1;

drop trigger tasks_retagged;
create trigger tasks_retagged after update of status, priority, deleted_at on tasks begin
  update task_tags set live = new.deleted_at is null, status = new.status, priority = new.priority, urgency = new.urgency,
    ready = new.is_ready, waiting = (new.is_open and (new.open_blockers > 0 or new.status = 'blocked')) where task_id = new.id;
end;
create trigger tasks_rewaited after update of open_blockers, unblocks on tasks begin
  update task_tags set ready = new.is_ready, waiting = (new.is_open and (new.open_blockers > 0 or new.status = 'blocked')), unblocks = new.unblocks where task_id = new.id;
end;
