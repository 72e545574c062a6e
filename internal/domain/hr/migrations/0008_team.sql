-- The part of a manager's team that is in the caller's sight, whether or not the manager is;
-- null when there is none, which is the answer for an id of no one too.
create function hr.team(manager uuid, out low integer, out high integer)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  select greatest(m.lft + 1, seen.low), least(m.rgt, seen.high) into low, high
  from hr.employees m, hr.scope() seen
  where m.id = manager and m.lft < seen.high and m.rgt >= seen.low;
end $$;

grant execute on function hr.team(uuid) to countersign_hr;
