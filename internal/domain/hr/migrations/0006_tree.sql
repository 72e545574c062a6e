-- The tree numbers of people follow from who manages whom. No tool adds or moves anyone;
-- other programs do, and what a caller sees must not wait for one of them to renumber.

-- A row is numbered when it is added without numbers (a bulk load may bring them), and all
-- are when a manager changes.
create function hr.keep_tree() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_op = 'UPDATE' then
    perform hr.renumber();
  elsif exists (select from added where lft = 0) then
    perform hr.renumber();
  end if;
  return null;
end $$;

create trigger tree_of_added after insert on hr.employees
  referencing new table as added for each statement execute function hr.keep_tree();
create trigger tree_of_moved after update of manager_id on hr.employees
  for each statement execute function hr.keep_tree();

-- While triggers are disabled, a caller without a number sees no one: a range of 0 would
-- hold all the others without one. Who sees everyone needs no number.
create or replace function hr.scope(out low integer, out high integer)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  select case when everyone then 0 else nullif(me.lft, 0) end,
         case when everyone then 2147483647 when hr.caller_has('manager') then nullif(me.rgt, 0) else nullif(me.lft, 0) end
  into low, high
  from (select hr.caller_has('hr-read', 'hr-write', 'executive') as everyone) asked
  left join hr.employees me on me.email = hr.caller_email()
  where me.status is distinct from 'TERMINATED'
    and hr.caller_has('employee', 'manager', 'hr-read', 'hr-write', 'executive');
end $$;

-- What was added and moved before this migration.
do $$ begin perform hr.renumber(); end $$;
