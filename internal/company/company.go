package company

import "time"

// Company is everything that the sample company has on a day. The slices are
// fresh for every caller.
type Company struct {
	Day time.Time // midnight UTC of the day of seeding; every relative date counts from it

	Departments  []Department
	Grades       []Grade
	Employees    []Employee // active and terminated; every manager comes before their reports
	TimeOffTypes []TimeOffType
	Balances     []Balance
	Reviews      []Review

	Scale int // rows of each kind, in a company that Grown made; 0: the sample company's own
}

// At returns the company on the day of that instant in UTC.
func At(instant time.Time) *Company {
	day := dayOf(instant)
	people := staff(day)
	return &Company{
		Day:          day,
		Departments:  departments(),
		Grades:       grades(),
		Employees:    people,
		TimeOffTypes: timeOffTypes(),
		Balances:     balances(day, people),
		Reviews:      reviews(day),
	}
}

// Active returns the employees who are not terminated, in the fixture's order.
func (c *Company) Active() []Employee {
	active := make([]Employee, 0, len(c.Employees))
	for _, e := range c.Employees {
		if !e.Gone() {
			active = append(active, e)
		}
	}
	return active
}

// ByEmail returns the employee, active or terminated, with that address.
func (c *Company) ByEmail(email string) (Employee, bool) {
	for _, e := range c.Employees {
		if e.Email == email {
			return e, true
		}
	}
	return Employee{}, false
}

// ByNumber returns the employee, active or terminated, with that employee
// number, such as EMP052.
func (c *Company) ByNumber(number string) (Employee, bool) {
	for _, e := range c.Employees {
		if e.Number == number {
			return e, true
		}
	}
	return Employee{}, false
}

func dayOf(instant time.Time) time.Time {
	y, m, d := instant.UTC().Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}
