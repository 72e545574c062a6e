-- Which rows have each word, as sets of numbers of rows (package rowset), so that a search joins
-- and counts sets and reads only the rows of its page. The numbers are in spans of
-- 16,384. The sets have what is deleted too, which the set of the word ':deleted' takes
-- away; ':file' and ':other' are the types of entities. No text has such words. FTS5
-- remains for words that follow one another.
create table postings (
  kind text not null, span integer not null, word text not null,
  anywhere blob, in_first blob, -- in any of the texts, and in the title or the name
  primary key (kind, span, word)
) strict, without rowid;

-- Which rows are in the sets of words: those with smaller numbers. Of the newest ones,
-- which are few, a search reads the texts.
create table indexed (kind text primary key, before integer not null) strict, without rowid;
insert into indexed values ('tasks', 0), ('entities', 0);

-- A row here is a change of a row: the words before and after it, as lists.
create view rewordings (kind, id, first_before, before, first, after) as select '', 0, '', '', '', '' where false;
create trigger rewordings_written instead of insert on rewordings begin
  update postings set in_first = search_cut(in_first, new.id & 16383)
    where kind = new.kind and span = new.id >> 14 and word in (select value from json_each(new.first_before) except select value from json_each(new.first));
  update postings set anywhere = search_cut(anywhere, new.id & 16383)
    where kind = new.kind and span = new.id >> 14 and word in (select value from json_each(new.before) except select value from json_each(new.after));
  delete from postings
    where kind = new.kind and span = new.id >> 14 and anywhere is null and word in (select value from json_each(new.before) except select value from json_each(new.after));
  insert into postings (kind, span, word, anywhere)
    select new.kind, new.id >> 14, value, search_add(null, new.id & 16383) from (select value from json_each(new.after) except select value from json_each(new.before)) where true
    on conflict do update set anywhere = search_add(anywhere, new.id & 16383);
  update postings set in_first = search_add(in_first, new.id & 16383)
    where kind = new.kind and span = new.id >> 14 and word in (select value from json_each(new.first) except select value from json_each(new.first_before));
end;

create trigger tasks_reposted after update of title, description, file_references on tasks
when new.id < (select before from indexed where kind = 'tasks') begin
  insert into rewordings select 'tasks', new.id, search_vocabulary(old.title),
    search_vocabulary(concat_ws(' ', old.title, old.description, (select group_concat(value, ' ') from json_each(old.file_references)))), search_vocabulary(new.title),
    search_vocabulary(concat_ws(' ', new.title, new.description, (select group_concat(value, ' ') from json_each(new.file_references))));
end;
create trigger tasks_unposted after delete on tasks when old.id < (select before from indexed where kind = 'tasks') begin
  insert into rewordings select 'tasks', old.id, search_vocabulary(old.title),
    search_vocabulary(concat_ws(' ', old.title, old.description, (select group_concat(value, ' ') from json_each(old.file_references)))), null, null;
end;
create trigger entities_reposted after update of name, identifier on entities
when new.id < (select before from indexed where kind = 'entities') begin
  insert into rewordings select 'entities', new.id, search_vocabulary(old.name), search_vocabulary(concat_ws(' ', old.name, old.identifier)),
    search_vocabulary(new.name), search_vocabulary(concat_ws(' ', new.name, new.identifier));
end;

create trigger tasks_hidden after update of deleted_at on tasks when (old.deleted_at is null) <> (new.deleted_at is null) begin
  insert into rewordings select 'tasks', new.id, null, iif(old.deleted_at is null, null, '[":deleted"]'), null, iif(new.deleted_at is null, null, '[":deleted"]');
end;
create trigger tasks_made_hidden after insert on tasks when new.deleted_at is not null begin
  insert into rewordings values ('tasks', new.id, null, null, null, '[":deleted"]');
end;
create trigger entities_hidden after update of deleted_at on entities when (old.deleted_at is null) <> (new.deleted_at is null) begin
  insert into rewordings select 'entities', new.id, null, iif(old.deleted_at is null, null, '[":deleted"]'), null, iif(new.deleted_at is null, null, '[":deleted"]');
end;
create trigger entities_typed after insert on entities begin
  insert into rewordings select 'entities', new.id, null, null, null, json_array(':' || new.entity_type);
end;
insert into rewordings select 'tasks', id, null, null, null, '[":deleted"]' from tasks where deleted_at is not null;
insert into rewordings select 'entities', id, null, null, null, '[":deleted"]' from entities where deleted_at is not null;
insert into rewordings select 'entities', id, null, null, null, json_array(':' || entity_type) from entities;
