-- Run after a schema's own migrations, each time: a new function can be
-- executed by everyone until that is revoked.
do $$
declare
  schema text := current_setting('countersign.schema');
  login  text := current_setting('countersign.login');
begin
  execute format('revoke all on all functions in schema %I from public', schema);
  execute format('revoke all on schema %I from public', schema);
end $$;
