package hr_test

import (
	"testing"

	"countersign.dev/internal/database"
	"countersign.dev/internal/testkit/domaintest"
)

// Reviews have copies of the columns of their person that policies read. They must
// follow the person.
func TestMarksOfReviewsFollowThePerson(t *testing.T) {
	t.Parallel()
	h := open(t)
	const wrong = `
		select count(*) as reviews, count(*) filter (
		  where r.lft <> case when e.status = 'ACTIVE' then e.lft else -1 end
		     or r.latest <> not exists (select from hr.performance_reviews later where later.employee_id = r.employee_id
		                                and (later.review_date, later.id) > (r.review_date, r.id))) as wrong
		from hr.performance_reviews r join hr.employees e on e.id = r.employee_id`
	for _, c := range []struct{ name, change string }{ // most people have one review: the third gives some people several
		{"seeded", `select 1`},
		{"moved", `update hr.employees set lft = lft + 1`},
		{"given away", `update hr.performance_reviews set employee_id = reviewer_id`},
		{"re-dated", `update hr.performance_reviews set review_date = review_date + (abs(hashtext(id::text)) % 900)`},
		{"some given away", `update hr.performance_reviews set employee_id = (select id from hr.employees where employee_number = 'EMP061') where latest`},
		{"deleted", `delete from hr.performance_reviews where latest`},
		{"one is gone", `update hr.employees set status = 'TERMINATED', terminated_at = now() where id = (select employee_id from hr.performance_reviews limit 1)`},
	} {
		h.Admin(c.change)
		counts, _, err := database.Row[struct{ Wrong, Reviews int }](domaintest.SignedIn(t.Context(), "x@y", "hr-write"), h.DB, wrong)
		if err != nil || counts.Wrong != 0 || counts.Reviews == 0 {
			t.Errorf("%s: %d of %d reviews are marked wrongly (%v)", c.name, counts.Wrong, counts.Reviews, err)
		}
	}
}
