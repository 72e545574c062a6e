package hr_test

import (
	"fmt"
	"sync"
	"testing"

	"countersign.dev/internal/testkit"
	"countersign.dev/internal/testkit/dbtest"
	"countersign.dev/internal/testkit/domaintest"
)

// What does a page of 50 reviews cost when 200,000 people have five each,
// for every reader and at any depth? The bar is 5 ms at the 95th percentile.
// `floor` is the same page read as the owner, past the policies and without the
// people's names.

// Everyone is reviewed twice a year, the latest within the last 200 days; one
// person in a hundred has had no review for more than a year.
const addReviews = `
insert into hr.performance_reviews
select md5(e.id::text || n)::uuid, e.id, coalesce(e.manager_id, e.id), '2026-H1',
       date '2026-03-31' - abs(hashtext(e.id::text)) % 200 - n * 182 - case when abs(hashtext(e.email)) % 100 = 0 then 400 else 0 end,
       1 + n, 80, 'Dependable delivery.', 'Delegating earlier.', 'Ready for more.'
from hr.employees e, generate_series(0, 4) n`

var reviewsOnce sync.Once

func openReviewed(b *testing.B) *harness {
	h := openLarge(b)
	reviewsOnce.Do(func() {
		h.Admin(addReviews)
		dbtest.Vacuum(b, h.AdminURL, "hr.performance_reviews")
	})
	return h
}

func BenchmarkGetReviews(b *testing.B) {
	h := openReviewed(b)
	for _, j := range callers {
		if j.name == "hr-read" {
			continue // reads no reviews
		}
		ctx := domaintest.SignedIn(b.Context(), j.email, j.roles...)
		run := func(name string, in args) {
			b.Run(j.name+"/"+name, func(b *testing.B) { h.benchTool(b, ctx, "get_performance_reviews", in) })
		}
		run("page-1", args{})
		run("overdue", args{"due_before": "2026-04-01"})
		run("nobody-due", args{"due_before": "2020-01-01"})
		run("all-due", args{"due_before": "2030-01-01"})
		run("person", args{"employee_id": h.company.Employees[111_112].ID}) // below them all
		b.Run(fmt.Sprintf("%s/page-%d", j.name, j.reviews), func(b *testing.B) {
			h.benchTool(b, ctx, "get_performance_reviews", h.pageAt(ctx, "get_performance_reviews", j.reviews))
		})
	}
	conn := dbtest.Connect(b, h.AdminURL)
	b.Run("floor", func(b *testing.B) {
		testkit.Measure(b, func() {
			dbtest.ReadAll(b, conn, `select * from hr.performance_reviews order by review_date desc, id desc limit 51`)
		})
	})
}
