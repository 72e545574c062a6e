-- Who each person is at their issuer, in every schema: a link that their first
-- verified address makes. There is one subject for an address, and what an issuer
-- says later about the address of a linked subject changes nothing. The
-- application's login reads no link; it asks for its caller's.
create table links (
  issuer    text not null,
  subject   text not null,
  address   text not null unique check (address = lower(address)),
  linked_at timestamptz not null default now(),
  primary key (issuer, subject)
);

alter table links enable row level security;
alter table links force row level security;
create policy keeper on links to current_user using (true) with check (true);

do $$
declare
  schema text := current_setting('countersign.schema');
  login  text := current_setting('countersign.login');
begin
  -- The address that the caller is linked to, whatever their token says today;
  -- null when it is not known which person they are.
  execute format($function$
    create function linked_address() returns text
      language sql stable parallel safe security definer set search_path = pg_catalog, pg_temp
    as $body$
      select l.address from %I.links l
      where l.issuer = nullif(current_setting('app.current_user_issuer', true), '')
        and l.subject = nullif(current_setting('app.current_user_id', true), '')
    $body$
  $function$, schema);
  -- Links the caller to their verified address, unless either is linked already,
  -- and returns whether they are linked.
  execute format($function$
    create function link_caller() returns boolean
      language plpgsql security definer set search_path = pg_catalog, pg_temp
    as $body$
    declare
      caller_issuer  text := nullif(current_setting('app.current_user_issuer', true), '');
      caller_subject text := nullif(current_setting('app.current_user_id', true), '');
      caller_email   text := nullif(current_setting('app.current_user_email', true), '');
    begin
      if caller_issuer is not null and caller_subject is not null and caller_email is not null then
        insert into %1$I.links (issuer, subject, address) values (caller_issuer, caller_subject, caller_email)
        on conflict do nothing;
      end if;
      return exists (select from %1$I.links l where l.issuer = caller_issuer and l.subject = caller_subject);
    end $body$
  $function$, schema);
  execute format('grant execute on function linked_address(), link_caller() to %I', login);
end $$;
