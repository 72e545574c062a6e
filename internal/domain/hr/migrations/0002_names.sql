-- People found by a part of their name, at size.

drop index hr.employees_by_grams;
drop function hr.named(text);
drop function hr.grams(text);

-- Every full name once, in the order of lists: a part of a name is looked for
-- here, where namesakes are one row and neighbours lie on one page. A name that
-- nobody has any more is harmless: it finds nobody. The application's login
-- reads none of it.
create table hr.names (
  last_name  text not null,
  first_name text not null,
  name_key   text not null generated always as (lower(first_name || ' ' || last_name || ' ' || first_name)) stored,
  primary key (last_name, first_name) include (name_key)
);

alter table hr.names enable row level security;
alter table hr.names force row level security;
create policy keeper on hr.names to current_user using (true) with check (true);

insert into hr.names (last_name, first_name)
select distinct last_name, first_name from hr.employees order by last_name, first_name;

create function hr.keep_names() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into hr.names (last_name, first_name)
    select distinct last_name, first_name from added order by last_name, first_name
    on conflict do nothing;
  else
    insert into hr.names (last_name, first_name) values (new.last_name, new.first_name) on conflict do nothing;
  end if;
  return null;
end $$;

create trigger names_of_added after insert on hr.employees
  referencing new table as added for each statement execute function hr.keep_names();
create trigger name_of_changed after update of first_name, last_name on hr.employees
  for each row execute function hr.keep_names();

-- Every run of so many to so many letters in a text. The price keeps the
-- planner from asking it for every row where the index has the answer.
create function hr.grams(words text, least_letters integer, most_letters integer) returns text[]
  language plpgsql immutable strict parallel safe cost 10000
as $$
begin
  return array(
    select distinct substr(words, n, size)
    from generate_series(least_letters, most_letters) size, generate_series(1, length(words) - size + 1) n);
end $$;

create index names_by_grams on hr.names using gin (hr.grams(name_key, 1, 3));

-- A walk by name reads the caller's range and the filters from the index, and
-- so does a look through a part of the tree.
drop index hr.employees_by_name;
create index employees_by_name on hr.employees (last_name, first_name, id) include (lft, department, location_key, manager_id) where status = 'ACTIVE';
drop index hr.employees_by_lft;
create index employees_by_lft on hr.employees (lft) include (last_name, first_name, id, name_key, department, location_key, manager_id) where status = 'ACTIVE';

-- The ids of the next people in the caller's sight whose name has a part, after
-- a place in the list. The search for parts of a text may not be asked before
-- the policies are, so it is asked here, past them, within the caller's scope.
--
-- A common part is met soon by walking from name to name. Who is not met within
-- `near` names is looked up by letters: what is left is rare, or all of it is at
-- another place of the alphabet. Either way people come in the order of lists,
-- name by name, which no other join does.
create function hr.named(part text, after_last text, after_first text, after_id uuid,
                         in_department text, at_location text, under_manager uuid, most integer) returns uuid[]
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
  set enable_hashjoin = off set enable_mergejoin = off set max_parallel_workers_per_gather = 0
as $$
declare
  near    constant integer := 4000;
  letters constant integer := least(3, length(part));
  scope record;
  stop  record;
  found uuid[];
begin
  select low, high into scope from hr.scope();
  select n.last_name, n.first_name into stop from hr.names n
  where (n.last_name, n.first_name) >= (after_last, after_first)
  order by n.last_name, n.first_name offset near limit 1;

  found := array(
    select e.id
    from (select n.last_name, n.first_name, n.name_key from hr.names n
          where (n.last_name, n.first_name) >= (after_last, after_first)
          order by n.last_name, n.first_name limit near) n
    join hr.employees e on e.last_name = n.last_name and e.first_name = n.first_name
    where strpos(n.name_key, part) > 0
      and e.status = 'ACTIVE' and e.lft between scope.low and scope.high
      and (e.last_name, e.first_name, e.id) > (after_last, after_first, after_id)
      and (in_department is null or e.department = in_department)
      and (at_location is null or e.location_key = at_location)
      and (under_manager is null or e.manager_id = under_manager)
    order by n.last_name, n.first_name, e.id limit most);
  if cardinality(found) = most or stop is null then
    return found;
  end if;

  return found || array(
    with far as materialized (
      select n.last_name, n.first_name from hr.names n
      where hr.grams(n.name_key, 1, 3) @> hr.grams(part, letters, letters) and strpos(n.name_key, part) > 0
        and (n.last_name, n.first_name) >= (stop.last_name, stop.first_name)
    )
    select e.id
    from (select * from far order by last_name, first_name) n
    join hr.employees e on e.last_name = n.last_name and e.first_name = n.first_name
    where e.status = 'ACTIVE' and e.lft between scope.low and scope.high
      and (in_department is null or e.department = in_department)
      and (at_location is null or e.location_key = at_location)
      and (under_manager is null or e.manager_id = under_manager)
    order by n.last_name, n.first_name, e.id limit most - cardinality(found));
end $$;

grant execute on function hr.named(text, text, text, uuid, text, text, uuid, integer) to countersign_hr;
