-- The receipts of confirmed changes, in every schema: one stands beside the
-- change that it is for, in the same transaction. Only its owner reads it.
create table confirmations (
  id            uuid primary key,
  owner_issuer  text not null,
  owner_subject text not null,
  tool          text not null,
  receipt       text not null,
  created_at    timestamptz not null default now()
);

alter table confirmations enable row level security;
alter table confirmations force row level security;
create policy keeper on confirmations to current_user using (true) with check (true);

do $$
declare
  login text := current_setting('countersign.login');
begin
  execute format($policy$
    create policy own on confirmations to %I
    using (owner_issuer = nullif(current_setting('app.current_user_issuer', true), '')
       and owner_subject = nullif(current_setting('app.current_user_id', true), ''))
  $policy$, login);
  execute format('grant select, insert on confirmations to %I', login);
end $$;
