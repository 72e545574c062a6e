-- A caller is the person that their issuer and subject are linked to.
create or replace function finance.caller_email() returns text
  language sql stable parallel safe
  return finance.linked_address();
