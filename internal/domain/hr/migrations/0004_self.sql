-- No one changes their own row, nor does a caller who cannot be told apart from
-- its person: without a verified address nobody is known not to be the one.
drop policy changed on hr.employees;
create policy changed on hr.employees for update to countersign_hr
  using ((select hr.caller_has('hr-write', 'executive')))
  with check ((select hr.caller_has('hr-write', 'executive')) and coalesce(email <> (select hr.caller_email()), false));
