-- The parts that many words have, as 'ile' in file1, file2 and so on: which rows have such a
-- part is a set of its own in postings, under its name after a star, so that a search
-- does not join the sets of all those words. A part is counted when it has three
-- characters, or when the part without its last character is kept; it is kept when more
-- than 64 words have it. No text has a word with a star.
create table parts (part text primary key, words integer not null, kept integer not null default 0) strict, without rowid;

-- Which words are counted: those with smaller numbers. Which rows are in the sets of
-- words and of parts; a process of the version before moves the number of words alone.
insert into indexed values ('words', 0), ('tasks parts', 0), ('entities parts', 0);

-- A row here is a change of a row: the parts of the words that it lost, unless another
-- word of it has them, and of those that it got. What is purged stays in the sets of
-- parts: it was deleted before, and a search takes away what is.
create trigger rewordings_parted instead of insert on rewordings when new.after is not null begin
  update postings set in_first = search_cut(in_first, new.id & 16383)
    where kind = new.kind and span = new.id >> 14 and word in (
      with recursive cut(part, tail) as (
        select substr(value, 1, 3), value from json_each(search_tails(new.first_before, new.first))
        union all select substr(tail, 1, length(c.part) + 1), tail from cut c join parts p on p.part = c.part where p.kept = 1 and length(tail) > length(c.part))
      select '*' || part from cut where instr(coalesce(new.first, ''), part) = 0);
  update postings set anywhere = search_cut(anywhere, new.id & 16383)
    where kind = new.kind and span = new.id >> 14 and word in (
      with recursive cut(part, tail) as (
        select substr(value, 1, 3), value from json_each(search_tails(new.before, new.after))
        union all select substr(tail, 1, length(c.part) + 1), tail from cut c join parts p on p.part = c.part where p.kept = 1 and length(tail) > length(c.part))
      select '*' || part from cut where instr(new.after, part) = 0);
  insert into postings (kind, span, word, anywhere)
    select new.kind, new.id >> 14, '*' || part, search_add(null, new.id & 16383) from (
      with recursive got(part, tail) as (
        select substr(value, 1, 3), value from json_each(search_tails(new.after, new.before))
        union all select substr(tail, 1, length(g.part) + 1), tail from got g join parts p on p.part = g.part where p.kept = 1 and length(tail) > length(g.part))
      select distinct g.part from got g join parts p on p.part = g.part where p.kept = 1) where true
    on conflict do update set anywhere = search_add(anywhere, new.id & 16383);
  update postings set in_first = search_add(in_first, new.id & 16383)
    where kind = new.kind and span = new.id >> 14 and word in (
      with recursive got(part, tail) as (
        select substr(value, 1, 3), value from json_each(search_tails(new.first, new.first_before))
        union all select substr(tail, 1, length(g.part) + 1), tail from got g join parts p on p.part = g.part where p.kept = 1 and length(tail) > length(g.part))
      select '*' || part from got);
end;
