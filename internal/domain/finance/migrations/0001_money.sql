-- The money of the company. Every table forces its policies, on its owner too;
-- `keeper` is the owner's way in, for migrating and seeding. The application's
-- login owns nothing and reads only what the policies for it show.

create table finance.departments (
  code text primary key,
  name text not null unique
);

create table finance.vendors (
  id       text primary key,
  name     text not null check (length(name) between 1 and 200),
  name_key text not null generated always as (lower(name)) stored
);

-- Every tail of every vendor's name, so that a part of a name is the beginning
-- of a tail: an index finds it. A comparison of texts may be asked before the
-- policies are (it leaks nothing), LIKE and its trigram indexes may not; this
-- needs no extension and no function with its owner's rights. For 20,000 vendors
-- of a million invoices it is 400,000 rows and 41 MB, and naming a vendor writes
-- as many rows as the name has letters. The triggers below keep it.
create table finance.vendor_tails (
  tail      text collate "C" not null,
  vendor_id text not null references finance.vendors (id) on delete cascade,
  primary key (tail, vendor_id)
);

create function finance.keep_tails() returns trigger language plpgsql as $$
begin
  delete from finance.vendor_tails where vendor_id in (select id from named);
  insert into finance.vendor_tails (tail, vendor_id)
  select distinct substr(name_key, i), id from named, generate_series(1, length(name_key)) i;
  return null;
end $$;

create trigger vendor_added after insert on finance.vendors
  referencing new table as named for each statement execute function finance.keep_tails();
create trigger vendor_renamed after update on finance.vendors
  referencing new table as named for each statement execute function finance.keep_tails();

-- What a budget comes to stands in its quarters alone, so that they add up. A
-- draft that somebody submitted waits for somebody else's approval.
create table finance.budgets (
  id             uuid primary key,
  department     text not null references finance.departments (code),
  fiscal_year    integer not null check (fiscal_year between 2000 and 2100),
  status         text not null check (status in ('draft', 'approved', 'active', 'closed')),
  submitted_by   text check (submitted_by = lower(submitted_by)),
  submitted_at   timestamptz,
  approved_by    text check (approved_by = lower(approved_by)),
  approved_at    timestamptz,
  approval_notes text,
  unique (department, fiscal_year),
  check ((submitted_by is null) = (submitted_at is null)),
  check ((approved_by is null) = (approved_at is null)),
  constraint separation_of_duties check (approved_by <> submitted_by)
);

create table finance.budget_quarters (
  budget_id       uuid not null references finance.budgets (id) on delete cascade,
  quarter         integer not null check (quarter between 1 and 4),
  allocated_cents bigint not null check (allocated_cents >= 0),
  spent_cents     bigint not null check (spent_cents >= 0),
  primary key (budget_id, quarter)
);

-- A deleted invoice is gone for the tools; the row stays for the years that the
-- law asks for, and says who deleted it.
create table finance.invoices (
  id           uuid primary key,
  number       text not null unique check (number = upper(number)),
  vendor_id    text not null references finance.vendors (id),
  description  text not null,
  amount_cents bigint not null check (amount_cents >= 0),
  currency     text not null default 'USD',
  department   text not null references finance.departments (code),
  status       text not null check (status in ('pending', 'approved', 'paid', 'rejected')),
  invoice_date date not null,
  due_date     date not null check (due_date >= invoice_date),
  submitted_by text not null,
  submitted_at timestamptz not null,
  approved_by  text,
  approved_at  timestamptz,
  deleted_at   timestamptz,
  deleted_by   text,
  check ((deleted_at is null) = (deleted_by is null)),
  check (deleted_at is null or status in ('pending', 'rejected'))
);

-- Pages are walked by date, under each filter that leaves a walk too much to
-- skip; what the walk looks at stands in the index, and only a page's rows are
-- fetched. Amounts are bigint and status is text because their comparisons leak
-- nothing, and so may use an index under the policies.
create index invoices_by_date on finance.invoices (invoice_date, id, due_date) include (vendor_id) where deleted_at is null;
create index invoices_by_department on finance.invoices (department, invoice_date, id) where deleted_at is null;
create index invoices_by_status on finance.invoices (status, invoice_date, id) where deleted_at is null;
create index invoices_by_both on finance.invoices (department, status, invoice_date, id) where deleted_at is null;
create index invoices_by_vendor on finance.invoices (vendor_id, invoice_date, id) where deleted_at is null;
create index invoices_by_amount on finance.invoices (amount_cents) where deleted_at is null;
create index invoices_unpaid on finance.invoices (invoice_date, id, due_date)
  where deleted_at is null and status in ('pending', 'approved');

create table finance.expense_reports (
  id            uuid primary key,
  report_number text not null unique check (report_number = upper(report_number)),
  employee_id   uuid not null,
  employee_name text not null,
  month         text not null check (month ~ '^\d{4}-(0[1-9]|1[0-2])$'),
  title         text not null,
  status        text not null check (status in ('draft', 'submitted', 'under_review', 'approved', 'rejected', 'reimbursed')),
  submitted_at  timestamptz,
  approved_by   text,
  unique (employee_id, month)
);

create table finance.expense_items (
  report_id    uuid not null references finance.expense_reports (id) on delete cascade,
  position     integer not null,
  item_date    date not null,
  category     text not null check (category in ('travel', 'meals', 'supplies', 'software', 'other')),
  description  text not null,
  vendor       text not null,
  amount_cents bigint not null check (amount_cents > 0),
  primary key (report_id, position)
);

-- Who is asking. A setting that a transaction before this one made is empty,
-- not null, so emptiness counts as absence.
create function finance.caller_has(variadic wanted text[]) returns boolean
  language sql stable parallel safe
  return coalesce(string_to_array(nullif(current_setting('app.current_user_roles', true), ''), ',') && wanted
    and nullif(current_setting('app.current_user_id', true), '') is not null, false);

-- Whether the tables hold a company at all, for the readiness check.
create function finance.holds_money() returns boolean
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$ select exists (select from finance.budgets) and exists (select from finance.invoices) $$;

-- Policies. Who reads finance reads all of it. Who may only change things sees
-- what they change and what its approval card shows.

do $$
declare
  name text;
begin
  foreach name in array array['departments', 'vendors', 'vendor_tails', 'budgets', 'budget_quarters', 'invoices', 'expense_reports', 'expense_items'] loop
    execute format('alter table finance.%I enable row level security', name);
    execute format('alter table finance.%I force row level security', name);
    execute format('create policy keeper on finance.%I to current_user using (true) with check (true)', name);
    execute format('grant select on finance.%I to countersign_finance', name);
  end loop;
  foreach name in array array['departments', 'vendors', 'budgets', 'budget_quarters', 'invoices'] loop
    execute format($policy$
      create policy seen on finance.%I for select to countersign_finance
      using ((select finance.caller_has('finance-read', 'finance-write', 'executive')))
    $policy$, name);
  end loop;
  foreach name in array array['vendor_tails', 'expense_reports', 'expense_items'] loop
    execute format($policy$
      create policy seen on finance.%I for select to countersign_finance
      using ((select finance.caller_has('finance-read', 'executive')))
    $policy$, name);
  end loop;
  foreach name in array array['budgets', 'budget_quarters', 'invoices'] loop
    execute format($policy$
      create policy changed on finance.%I for update to countersign_finance
      using ((select finance.caller_has('finance-write', 'executive')))
      with check ((select finance.caller_has('finance-write', 'executive')))
    $policy$, name);
  end loop;
end $$;

grant update (status, approved_by, approved_at, approval_notes) on finance.budgets to countersign_finance;
grant update (allocated_cents) on finance.budget_quarters to countersign_finance;
grant update (deleted_at, deleted_by) on finance.invoices to countersign_finance;
grant execute on function finance.caller_has(text[]), finance.holds_money() to countersign_finance;
