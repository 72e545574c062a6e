-- A program may move people in any order: a circle that it breaks again is no fault, and one
-- that is there at its end is. Only a changed manager numbers the tree.

-- Gives everyone their tree numbers. Who is on a circle or below one gets 0: they see no one,
-- and no manager sees them. One of them gets a depth of -1, for which no_circle looks once more.
create function hr.place() returns void language plpgsql as $$
begin
  with recursive line as (
    select id, array[id] as ids from hr.employees where manager_id is null
    union all
    select e.id, line.ids || e.id from hr.employees e join line on e.manager_id = line.id
  ), sizes as (
    select above, count(*)::integer as size from line, unnest(ids) as above group by above
  ), numbers as (
    select id, cardinality(ids) - 1 as depth, row_number() over (order by ids)::integer as lft from line
  ), places as (
    select e.id, coalesce(n.lft, 0) as lft, coalesce(n.lft + s.size - 1, 0) as rgt, coalesce(n.depth, 0) as depth
    from hr.employees e left join numbers n on n.id = e.id left join sizes s on s.above = e.id
  )
  update hr.employees e
  set lft = p.lft, rgt = p.rgt, depth = p.depth
  from places p
  where p.id = e.id and (e.lft, e.rgt, e.depth) is distinct from (p.lft, p.rgt, p.depth);
  update hr.employees set depth = -1 where id = (select id from hr.employees where lft = 0 limit 1);
end $$;

create or replace function hr.renumber() returns void language plpgsql as $$
begin
  perform hr.place();
  if exists (select from hr.employees where lft = 0) then
    raise exception 'somebody is their own manager, by however many steps';
  end if;
end $$;

-- A row whose manager changes leaves a mark, which the end of its statement reads.
create function hr.mark_move() returns trigger language plpgsql as $$
begin
  perform set_config('hr.moved', 'yes', true);
  return new;
end $$;

create trigger moved before update of manager_id on hr.employees
  for each row when (old.manager_id is distinct from new.manager_id) execute function hr.mark_move();

create or replace function hr.keep_tree() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_op = 'UPDATE' then
    if current_setting('hr.moved', true) = 'yes' then
      perform set_config('hr.moved', '', true);
      perform hr.place();
    end if;
  elsif exists (select from added where lft = 0) then
    perform hr.place();
  end if;
  return null;
end $$;

-- The end of a transaction in which there was a circle.
create function hr.end_without_circle() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform hr.renumber();
  return null;
end $$;

create constraint trigger no_circle after update of depth on hr.employees
  deferrable initially deferred for each row when (new.depth < 0) execute function hr.end_without_circle();
