-- Budgets are walked by year, the newest first, then by the department's name.
-- So that an index has that order, the name stands in each budget, and the year
-- also with its sign turned (an expression could not use an index under the
-- policies: it may fail, and so leak). The foreign key keeps the names in step.
-- The status stands behind them because what nearly all have is met at once, but
-- perhaps not in the newest years.

alter table finance.departments
  add unique (code, name),
  add column name_key text not null generated always as (lower(name)) stored,
  add column code_key text not null generated always as (lower(code)) stored;
create index departments_by_name on finance.departments (name_key);
create index departments_by_code on finance.departments (code_key);
alter table finance.budgets
  add column department_name text,
  add column newest_first integer not null generated always as (-fiscal_year) stored;

update finance.budgets b set department_name = d.name from finance.departments d where d.code = b.department;

alter table finance.budgets
  alter column department_name set not null,
  drop constraint budgets_department_fkey,
  add foreign key (department, department_name) references finance.departments (code, name) on update cascade;

create function finance.name_department() returns trigger language plpgsql as $$
begin
  new.department_name := (select name from finance.departments where code = new.department);
  return new;
end $$;

create trigger budget_added before insert on finance.budgets for each row execute function finance.name_department();

create index budgets_by_year on finance.budgets (newest_first, department_name, status);
create index budgets_by_status on finance.budgets (status, newest_first, department_name);
