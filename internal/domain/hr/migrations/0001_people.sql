-- The people of the company. Every table forces its policies, on its owner too;
-- `keeper` is the owner's way in, for migrating and seeding. The application's
-- login owns nothing and reads only what the policies for it show.

create table hr.departments (
  id           uuid primary key,
  code         text not null unique,
  name         text not null unique,
  budget_cents bigint not null check (budget_cents >= 0)
);

create table hr.grade_levels (
  grade            text primary key,
  title_prefix     text not null,
  min_salary_cents bigint not null,
  max_salary_cents bigint not null check (max_salary_cents >= min_salary_cents),
  description      text not null
);

-- lft, rgt and depth are tree numbers: lft counts the people in the order of
-- the tree, rgt is the highest lft below a person (their own when nobody is),
-- depth is 0 at the top. hr.renumber() keeps them. Ending the employment of
-- someone without reports leaves them right.
create table hr.employees (
  id              uuid primary key,
  employee_number text not null unique,
  first_name      text not null check (first_name <> ''),
  last_name       text not null check (last_name <> ''),
  email           text not null unique check (email = lower(email)),
  phone           text not null,
  department      text not null references hr.departments (code),
  job_title       text not null,
  grade           text not null references hr.grade_levels (grade),
  manager_id      uuid references hr.employees (id),
  hire_date       date not null,
  salary_cents    bigint not null check (salary_cents between 0 and 1000000000),
  ssn             text not null unique,
  location        text not null,
  status          text not null default 'ACTIVE' check (status in ('ACTIVE', 'TERMINATED')),
  terminated_at   timestamptz,
  terminated_by   text,
  created_at      timestamptz not null default now(),
  updated_at      timestamptz not null default now(),
  lft             integer not null default 0,
  rgt             integer not null default 0,
  depth           integer not null default 0,
  name_key        text not null generated always as (lower(first_name || ' ' || last_name || ' ' || first_name)) stored,
  location_key    text not null generated always as (lower(location)) stored,
  check ((status = 'TERMINATED') = (terminated_at is not null))
);

-- Row comparisons over text and uuid, and equality of text, may be asked before
-- the policies are (they leak nothing), so these indexes serve pages directly.
-- They include what policies and filters look at: a page is found in the index
-- alone, and only its rows are fetched.
create index employees_by_name on hr.employees (last_name, first_name, id) include (lft, name_key) where status = 'ACTIVE';
create index employees_by_department on hr.employees (department, last_name, first_name, id) include (lft, location_key) where status = 'ACTIVE';
create index employees_by_location on hr.employees (location_key, last_name, first_name, id) include (lft, department) where status = 'ACTIVE';
create index employees_by_manager on hr.employees (manager_id, last_name, first_name, id) include (lft) where status = 'ACTIVE';
create index employees_by_lft on hr.employees (lft) where status = 'ACTIVE';
create index employees_by_depth on hr.employees (depth, lft) where status = 'ACTIVE';

-- Every two and three letters that follow each other in a text: what parts of
-- names are found by.
create function hr.grams(words text) returns text[]
  language plpgsql immutable strict parallel safe
as $$
begin
  return array(
    select distinct substr(words, n, size) from generate_series(2, 3) size, generate_series(1, length(words) - size + 1) n);
end $$;

create index employees_by_grams on hr.employees using gin (hr.grams(name_key)) where status = 'ACTIVE';

create table hr.performance_reviews (
  id                    uuid primary key,
  employee_id           uuid not null references hr.employees (id),
  reviewer_id           uuid not null references hr.employees (id),
  review_period         text not null,
  review_date           date not null,
  overall_rating        integer not null check (overall_rating between 1 and 5),
  goals_met_percentage  integer not null check (goals_met_percentage between 0 and 100),
  strengths             text not null,
  areas_for_improvement text not null,
  comments              text not null
);

create index reviews_by_date on hr.performance_reviews (review_date, id);
create index reviews_by_employee on hr.performance_reviews (employee_id, review_date, id);

create table hr.time_off_types (
  type_code         text primary key,
  type_name         text not null,
  description       text not null,
  accrual_rate      double precision not null,
  max_carryover     integer not null,
  requires_approval boolean not null,
  min_notice_days   integer not null
);

create table hr.time_off_balances (
  employee_id uuid not null references hr.employees (id),
  type_code   text not null references hr.time_off_types (type_code),
  fiscal_year integer not null,
  entitlement double precision not null,
  used        double precision not null,
  pending     double precision not null,
  carryover   double precision not null,
  primary key (employee_id, fiscal_year, type_code)
);

-- Who is asking. A setting that a transaction before this one made is empty,
-- not null, so emptiness counts as absence everywhere.

create function hr.caller_email() returns text
  language sql stable parallel safe
  return nullif(current_setting('app.current_user_email', true), '');

create function hr.caller_has(variadic wanted text[]) returns boolean
  language sql stable parallel safe
  return coalesce(string_to_array(nullif(current_setting('app.current_user_roles', true), ''), ',') && wanted
    and nullif(current_setting('app.current_user_id', true), '') is not null, false);

-- A function that is asked once a statement is written in plpgsql, which keeps
-- its plan from statement to statement; one that is asked for every row is
-- written in SQL, which plans once a statement.

-- The part of the tree that the caller may see, as a range of lft: all of it,
-- themselves and everyone below, themselves, or nothing (null). Someone whose
-- employment has ended sees nothing, whatever their token says.
create function hr.scope(out low integer, out high integer)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  select case when everyone then 0 else me.lft end,
         case when everyone then 2147483647 when hr.caller_has('manager') then me.rgt else me.lft end
  into low, high
  from (select hr.caller_has('hr-read', 'hr-write', 'executive') as everyone) asked
  left join hr.employees me on me.email = hr.caller_email()
  where me.status is distinct from 'TERMINATED'
    and hr.caller_has('employee', 'manager', 'hr-read', 'hr-write', 'executive');
end $$;

-- The part of the tree under the caller, themselves not included; null when
-- they are nobody's manager.
create function hr.below(out low integer, out high integer)
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  select me.lft + 1, me.rgt into low, high from hr.employees me
  where me.email = hr.caller_email() and me.status = 'ACTIVE' and hr.caller_has('manager');
end $$;

-- The ids of everyone in the caller's sight whose name has this part, when they
-- are few; null when the part is short or common: then a walk by name finds a
-- page of them soon. The search for parts of a text may not be asked before the
-- policies are, so it is asked here, past them, within the caller's scope.
create function hr.named(part text) returns uuid[]
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  few   constant integer := 1000;
  scope record;
  found uuid[];
begin
  if length(part) < 2 then
    return null;
  end if;
  select low, high into scope from hr.scope();
  found := array(
    select id from hr.employees
    where status = 'ACTIVE' and hr.grams(name_key) @> hr.grams(part) and strpos(name_key, part) > 0
      and lft between scope.low and scope.high
    limit few + 1);
  return case when cardinality(found) <= few then found end;
end $$;

-- Whose name stands behind an id that the caller was shown (a manager, a
-- reviewer), though that person's row may be out of their sight.
create function hr.name_of(person uuid) returns text
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$ select first_name || ' ' || last_name from hr.employees where id = person $$;

-- Whether the tables hold a company at all, for the readiness check.
create function hr.holds_people() returns boolean
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$ select exists (select from hr.employees where status = 'ACTIVE') $$;

-- Gives everyone their tree numbers, after a bulk load or a change of manager.
-- An array of ids from the top down to a person sorts in the order of the tree.
create function hr.renumber() returns void language plpgsql as $$
begin
  with recursive line as (
    select id, array[id] as ids from hr.employees where manager_id is null
    union all
    select e.id, line.ids || e.id from hr.employees e join line on e.manager_id = line.id
  ), sizes as (
    select above, count(*)::integer as size from line, unnest(ids) as above group by above
  ), numbers as (
    select id, cardinality(ids) - 1 as depth, row_number() over (order by ids)::integer as lft from line
  )
  update hr.employees e
  set lft = n.lft, rgt = n.lft + s.size - 1, depth = n.depth
  from numbers n join sizes s on s.above = n.id
  where n.id = e.id and (e.lft, e.rgt, e.depth) is distinct from (n.lft, n.lft + s.size - 1, n.depth);
  if exists (select from hr.employees e join hr.employees m on m.id = e.manager_id
             where e.lft not between m.lft + 1 and m.rgt) then
    raise exception 'somebody is their own manager, by however many steps';
  end if;
end $$;

-- Policies.

do $$
declare
  name text;
begin
  foreach name in array array['departments', 'grade_levels', 'employees', 'performance_reviews', 'time_off_types', 'time_off_balances'] loop
    execute format('alter table hr.%I enable row level security', name);
    execute format('alter table hr.%I force row level security', name);
    execute format('create policy keeper on hr.%I to current_user using (true) with check (true)', name);
    execute format('grant select on hr.%I to countersign_hr', name);
  end loop;
  -- What describes the company and nobody in it is there for everyone who is
  -- anyone.
  foreach name in array array['departments', 'grade_levels', 'time_off_types'] loop
    execute format($policy$
      create policy seen on hr.%I for select to countersign_hr
      using ((select nullif(current_setting('app.current_user_id', true), '') is not null))
    $policy$, name);
  end loop;
end $$;

-- Unknown counts as no. The coalesce has a second purpose: a bare range whose
-- ends are not known yet is taken for a two-hundredth of the table, and the
-- planner would sort all that a caller sees instead of walking to the first page.
create policy seen on hr.employees for select to countersign_hr
  using (coalesce(lft between (select low from hr.scope()) and (select high from hr.scope()), false));

-- Terminated people are hidden by the queries, not here: the server refuses an
-- update whose new row its writer could not see.
create policy changed on hr.employees for update to countersign_hr
  using ((select hr.caller_has('hr-write', 'executive')))
  with check ((select hr.caller_has('hr-write', 'executive')));

create policy seen on hr.performance_reviews for select to countersign_hr
  using ((select hr.caller_has('hr-write', 'executive'))
      or exists (select from hr.employees e where e.id = employee_id
                 and coalesce(e.lft between (select low from hr.below()) and (select high from hr.below()), false)));

create policy seen on hr.time_off_balances for select to countersign_hr
  using (exists (select from hr.employees e where e.id = employee_id));

grant update (salary_cents, status, terminated_at, terminated_by, updated_at) on hr.employees to countersign_hr;
grant execute on function hr.grams(text), hr.caller_email(), hr.caller_has(text[]), hr.scope(), hr.below(), hr.named(text), hr.name_of(uuid), hr.holds_people() to countersign_hr;
