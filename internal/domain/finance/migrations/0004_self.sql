-- No one approves what they submitted, nor does a caller who cannot be told
-- apart from the submitter: without a verified address nobody is known not to be
-- the one. An approval carries its caller's own address, and the amounts change
-- only with it.
create function finance.caller_email() returns text
  language sql stable parallel safe
  return nullif(current_setting('app.current_user_email', true), '');

drop policy changed on finance.budgets;
create policy changed on finance.budgets for update to countersign_finance
  using ((select finance.caller_has('finance-write', 'executive')))
  with check ((select finance.caller_has('finance-write', 'executive'))
    and coalesce(approved_by = (select finance.caller_email()), false)
    and submitted_by is distinct from (select finance.caller_email()));

drop policy changed on finance.budget_quarters;
create policy changed on finance.budget_quarters for update to countersign_finance
  using ((select finance.caller_has('finance-write', 'executive')))
  with check ((select finance.caller_has('finance-write', 'executive'))
    and exists (select from finance.budgets b where b.id = budget_id and b.approved_by = (select finance.caller_email())));

grant execute on function finance.caller_email() to countersign_finance;
