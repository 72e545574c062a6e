-- An employee reads their own expense reports: those with the address that their
-- issuer and subject are linked to. A report without an address belongs to no
-- caller; readers of finance see it all the same.
alter table finance.expense_reports add column employee_email text check (employee_email = lower(employee_email));

-- Reports are walked by month, the newest first, each walk under the filter that
-- leaves it too much to skip.
create index expense_reports_by_month on finance.expense_reports (month, report_number);
create index expense_reports_by_status on finance.expense_reports (status, month, report_number);
create index expense_reports_own on finance.expense_reports (employee_email, month, report_number);

drop policy seen on finance.expense_reports;
create policy seen on finance.expense_reports for select to countersign_finance
  using ((select finance.caller_has('finance-read', 'executive'))
    or (select finance.caller_has('employee')) and employee_email = (select finance.caller_email()));

drop policy seen on finance.expense_items;
create policy seen on finance.expense_items for select to countersign_finance
  using ((select finance.caller_has('finance-read', 'executive'))
    or exists (select from finance.expense_reports r where r.id = report_id));

-- The address whose reports the caller is limited to, empty for readers of all of
-- them and null for who has none. The policies protect the rows; a query repeats
-- the range as a plain value, so that the planner knows how many to expect.
create function finance.reports_of() returns text
  language sql stable parallel safe
  return case when finance.caller_has('finance-read', 'executive') then '' else finance.caller_email() end;

grant execute on function finance.reports_of() to countersign_finance;
