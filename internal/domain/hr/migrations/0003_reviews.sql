-- Reviews at size: what lists and policies ask of a review stands in its row, so
-- that a page is cut inside an index. Before, every review looked its person up.

-- lft is the person's tree number, -1 once their employment ended (nobody's
-- range holds it) and until it is known; latest says that the person has no
-- later review. hr.mark_reviews() keeps both.
alter table hr.performance_reviews
  add column lft    integer not null default -1,
  add column latest boolean not null default false;

create function hr.mark_reviews(people uuid[]) returns void language plpgsql as $$
begin
  update hr.performance_reviews r set lft = now_is.lft, latest = now_is.latest
  from (
    select m.id, case when e.status = 'ACTIVE' then e.lft else -1 end as lft,
           row_number() over (partition by m.employee_id order by m.review_date desc, m.id desc) = 1 as latest
    from (select distinct person from unnest(people) person) asked
    join hr.employees e on e.id = asked.person
    join hr.performance_reviews m on m.employee_id = e.id
  ) now_is
  where now_is.id = r.id and (r.lft, r.latest) is distinct from (now_is.lft, now_is.latest);
end $$;

do $$ begin perform hr.mark_reviews(array(select id from hr.employees)); end $$;

-- The application's login ends an employment, but writes no reviews: these work
-- as the owner.
create function hr.keep_marks_of_added() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform hr.mark_reviews(array(select employee_id from added));
  return null;
end $$;

create function hr.keep_marks_of_changed() returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_table_name = 'employees' then
    perform hr.mark_reviews(array[new.id]);
  elsif tg_op = 'DELETE' then
    perform hr.mark_reviews(array[old.employee_id]);
  else
    perform hr.mark_reviews(array[old.employee_id, new.employee_id]);
  end if;
  return null;
end $$;

create trigger marks_of_added after insert on hr.performance_reviews
  referencing new table as added for each statement execute function hr.keep_marks_of_added();
create trigger marks_of_changed after update of employee_id, review_date or delete on hr.performance_reviews
  for each row execute function hr.keep_marks_of_changed();
create trigger marks_of_moved after update of lft, status on hr.employees
  for each row when ((old.lft, old.status) is distinct from (new.lft, new.status)) execute function hr.keep_marks_of_changed();

drop index hr.reviews_by_date;
create index reviews_by_date on hr.performance_reviews (review_date, id) include (lft);
create index reviews_latest on hr.performance_reviews (review_date, id) include (lft) where latest;
create index reviews_by_lft on hr.performance_reviews (lft, review_date, id) include (latest);

drop policy seen on hr.performance_reviews;
create policy seen on hr.performance_reviews for select to countersign_hr
  using ((select hr.caller_has('hr-write', 'executive'))
      or coalesce(lft between (select low from hr.below()) and (select high from hr.below()), false));

revoke execute on function hr.mark_reviews(uuid[]) from public;
