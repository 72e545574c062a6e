package hr_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"countersign.dev/internal/testkit/domaintest"
)

// TestWalkWhileOthersWrite pages through everyone while people are hired and
// leave between the pages. Whoever was there all the time appears exactly once;
// nobody appears twice.
func TestWalkWhileOthersWrite(t *testing.T) {
	h := openCrowd(t)
	r := rand.New(rand.NewPCG(7, 7))
	ctx := domaintest.SignedIn(t.Context(), "x@y", "hr-read")
	seen := map[string]int{}
	in := args{"limit": 50}
	for page := 0; ; page++ {
		o := h.Ask(ctx, "list_employees", in)
		for _, e := range domaintest.Decode[[]employee](h, o) {
			seen[e.EmployeeID]++
		}
		if !o.Page().More {
			break
		}
		in["cursor"] = o.Page().Next
		hire(h, r, page)
		h.Admin(`update hr.employees set status = 'TERMINATED', terminated_at = now() where employee_number = $1`, fmt.Sprintf("EMP%06d", 700+page))
	}
	for id, times := range seen {
		if times > 1 {
			t.Errorf("%s appears %d times", id, times)
		}
	}
	for i, e := range h.company.Employees {
		if left := i >= 700 && i < 700+crowdSize/50; !left && seen[e.ID] != 1 {
			t.Errorf("%s appears %d times, want once", e.Name(), seen[e.ID])
		}
	}
}

func hire(h *house, r *rand.Rand, page int) {
	for i := range 3 {
		n := page*3 + i
		h.Admin(`
			insert into hr.employees (id, employee_number, first_name, last_name, email, phone, department, job_title, grade, manager_id, hire_date, salary_cents, ssn, location)
			select gen_random_uuid(), 'NEW' || $1, $2, $3, 'new' || $1 || '@tamshai.local', phone, department, job_title, grade, manager_id, hire_date, 1, 'x' || $1, location
			from hr.employees where employee_number = 'EMP000900'`,
			fmt.Sprint(n), string(rune('A'+r.IntN(26)))+"new", string(rune('A'+r.IntN(26)))+"comer")
	}
}
