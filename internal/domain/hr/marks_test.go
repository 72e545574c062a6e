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
		select count(*) from hr.performance_reviews r join hr.employees e on e.id = r.employee_id
		where r.lft <> case when e.status = 'ACTIVE' then e.lft else -1 end
		   or r.latest <> not exists (select from hr.performance_reviews later where later.employee_id = r.employee_id
		                              and (later.review_date, later.id) > (r.review_date, r.id))`
	for name, change := range map[string]string{
		"seeded":      `select 1`,
		"moved":       `update hr.employees set lft = lft + 1`,
		"re-dated":    `update hr.performance_reviews set review_date = review_date + (abs(hashtext(id::text)) % 900)`,
		"deleted":     `delete from hr.performance_reviews where latest`,
		"given away":  `update hr.performance_reviews set employee_id = reviewer_id where latest`,
		"one is gone": `update hr.employees set status = 'TERMINATED', terminated_at = now() where id = (select employee_id from hr.performance_reviews limit 1)`,
	} {
		h.Admin(change)
		if n, _, err := database.Row[int](domaintest.SignedIn(t.Context(), "x@y", "hr-write"), h.DB, wrong); err != nil || n != 0 {
			t.Errorf("%s: %d reviews are marked wrongly (%v)", name, n, err)
		}
	}
}
