-- A caller is the person that their issuer and subject are linked to.

create or replace function hr.caller_email() returns text
  language sql stable parallel safe
  return hr.linked_address();

-- A person keeps their link when their address changes here.
create function hr.keep_link() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  update hr.links set address = new.email where address = old.email;
  return null;
end $$;

create trigger link_of_renamed after update of email on hr.employees
  for each row when (old.email is distinct from new.email) execute function hr.keep_link();

-- Whose employment has ended: their address, and who they are at their issuer
-- where that is known.
create function hr.ended() returns table (address text, issuer text, subject text)
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select e.email, coalesce(l.issuer, ''), coalesce(l.subject, '')
  from hr.employees e left join hr.links l on l.address = e.email
  where e.status = 'TERMINATED'
$$;

grant execute on function hr.ended() to countersign_hr;
