-- Transactions that add or move people take turns: two that number the tree at once would
-- each number it without the other's people, or wait for each other's rows. The turn begins
-- before the statement, whose own rows are locked while it numbers the others.

create function hr.take_turn() returns trigger language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtext('hr.renumber'));
  return null;
end $$;

create trigger turn_to_add before insert on hr.employees for each statement execute function hr.take_turn();
create trigger turn_to_move before update of manager_id on hr.employees for each statement execute function hr.take_turn();
