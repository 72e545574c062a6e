-- Each owner with the people above them at that time. A row refers to its owner
-- and chain together, so that a scope is a set of owners.
create table if not exists owners (
  id          integer primary key,
  owner       text not null check (owner <> ''),
  owner_chain text not null check (json_valid(owner_chain)),
  unique (owner, owner_chain)
) strict;

-- Who sees an owner's rows: the owner and everyone in the chain.
create table if not exists reach (
  email    text not null check (email <> ''),
  owner_id integer not null references owners (id),
  primary key (email, owner_id)
) strict, without rowid;

create trigger if not exists owners_reach after insert on owners begin
  insert or ignore into reach (email, owner_id) values (new.owner, new.id);
  insert or ignore into reach (email, owner_id) select value, new.id from json_each(new.owner_chain);
end;

create table if not exists customers (
  id             text primary key,
  owner_id       integer not null references owners (id),
  name           text not null,
  email          text not null,
  company        text not null,
  industry       text not null,
  phone          text not null,
  street         text not null,
  city           text not null,
  state          text not null,
  zip            text not null,
  country        text not null,
  tier           text not null check (tier in ('enterprise', 'business', 'startup', 'free')),
  annual_revenue real not null,
  created_at     integer not null, -- Unix milliseconds, here and below
  updated_at     integer not null,
  version        integer not null default 1,
  deleted_at     integer,
  deleted_by     text
) strict;

create index if not exists customers_company on customers (company, id);

create table if not exists deals (
  id                  text primary key,
  customer_id         text not null references customers (id),
  owner_id            integer not null references owners (id),
  deal_name           text not null,
  value               real not null check (value >= 0),
  currency            text not null default 'USD',
  stage               text not null check (stage in ('PROSPECTING', 'DISCOVERY', 'QUALIFICATION', 'PROPOSAL', 'NEGOTIATION', 'CLOSED_WON', 'CLOSED_LOST')),
  probability         real not null check (probability between 0 and 100),
  expected_close_date text not null check (expected_close_date is date(expected_close_date)),
  actual_close_date   text check (actual_close_date is date(actual_close_date)),
  notes               text not null,
  loss_reason         text not null default '',
  created_at          integer not null,
  updated_at          integer not null,
  version             integer not null default 1
) strict;

-- The three orders of deals, a customer's and a quarter's deals, and those in other currencies.
create index if not exists deals_newest on deals (created_at, id);
create index if not exists deals_value on deals (value, id);
create index if not exists deals_closing on deals (expected_close_date, id);
create index if not exists deals_customer on deals (customer_id);
create index if not exists deals_quarter on deals (coalesce(actual_close_date, expected_close_date));
create index if not exists deals_others on deals (created_at, id) where currency <> 'USD';

create table if not exists quotas (
  quarter  text not null,
  owner_id integer not null references owners (id),
  amount   real not null,
  primary key (quarter, owner_id)
) strict, without rowid;

-- Who each person is at their issuer: the link that their first verified address
-- makes. There is one subject for an address.
create table if not exists links (
  issuer  text not null,
  subject text not null,
  address text not null unique check (address <> ''),
  primary key (issuer, subject)
) strict, without rowid;
