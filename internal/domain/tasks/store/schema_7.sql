-- The words of rows are written for many rows together, FTS5's too: of what was made or
-- reworded since, a search reads the texts. A row that was reworded is here with its
-- texts as its words were written: the first, the second, and a list in JSON, or nothing.
create table reworded (
  kind text not null, id integer not null, first text not null, second text not null, list text not null, primary key (kind, id)
) strict, without rowid;

drop trigger tasks_worded;
drop trigger tasks_reworded;
drop trigger tasks_unworded;
drop trigger tasks_vocabulary;
drop trigger tasks_revocabulary;
drop trigger tasks_reposted;
drop trigger tasks_unposted;
drop trigger entities_worded;
drop trigger entities_reworded;
drop trigger entities_vocabulary;
drop trigger entities_revocabulary;
drop trigger entities_reposted;
drop trigger rewordings_parted;

-- FTS5 has the rows whose words are written, deleted ones too: a search takes them away.
-- All are written anew after this, as words that follow one another in a list of files
-- have a set too.
insert into tasks_words (tasks_words) values ('delete-all');
insert into entities_words (entities_words) values ('delete-all');
update indexed set before = 0 where kind <> 'words';

create trigger tasks_worded after update of before on indexed when new.kind = 'tasks' begin
  insert into tasks_words (rowid, title, description, files)
    select id, search_words(title), search_words(description), search_words((select group_concat(value, ' ') from json_each(file_references)))
    from tasks where id >= old.before and id < new.before;
end;
create trigger entities_worded after update of before on indexed when new.kind = 'entities' begin
  insert into entities_words (rowid, name, identifier)
    select id, search_words(name), search_words(identifier) from entities where id >= old.before and id < new.before;
end;

-- A word is known when a set of it is made.
create trigger words_known after insert on postings when substr(new.word, 1, 1) not in (':', '*', '/') begin
  insert into words (word) values (new.word) on conflict do nothing;
end;

create trigger tasks_reworded after update of title, description, file_references on tasks
when new.id < (select before from indexed where kind = 'tasks')
  and (old.title, old.description, old.file_references) is not (new.title, new.description, new.file_references) begin
  insert into reworded values ('tasks', old.id, old.title, coalesce(old.description, ''), old.file_references) on conflict do nothing;
end;
create trigger entities_reworded after update of name, identifier on entities
when new.id < (select before from indexed where kind = 'entities') and (old.name, old.identifier) is not (new.name, new.identifier) begin
  insert into reworded values ('entities', old.id, old.name, coalesce(old.identifier, ''), '') on conflict do nothing;
end;
create trigger tasks_rewritten after delete on reworded when old.kind = 'tasks' begin
  delete from tasks_words where rowid = old.id;
  insert into tasks_words (rowid, title, description, files)
    select id, search_words(title), search_words(description), search_words((select group_concat(value, ' ') from json_each(file_references)))
    from tasks where id = old.id;
end;
create trigger entities_rewritten after delete on reworded when old.kind = 'entities' begin
  delete from entities_words where rowid = old.id;
  insert into entities_words (rowid, name, identifier) select id, search_words(name), search_words(identifier) from entities where id = old.id;
end;

-- What is purged stays in the sets of parts and of pairs, as before.
create trigger tasks_unworded after delete on tasks when old.id < (select before from indexed where kind = 'tasks') begin
  insert into reworded values ('tasks', old.id, old.title, coalesce(old.description, ''), old.file_references) on conflict do nothing;
  insert into rewordings
    select 'tasks', id, search_vocabulary(first), search_vocabulary(concat_ws(' ', first, second, (select group_concat(value, ' ') from json_each(list)))), null, null
    from reworded where kind = 'tasks' and id = old.id;
  delete from reworded where kind = 'tasks' and id = old.id;
end;
