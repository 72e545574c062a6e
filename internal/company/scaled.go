package company

import (
	"fmt"
	"time"
)

// Scaled returns a company of n employees, all active, for benchmarks and
// property tests: a tree in which everyone has up to ten direct reports, filled
// level by level, so that employee i (from 0) reports to employee (i-1)/10.
// Every salary and SSN is unique, every id ends in the employee's number in hex.
// It has the departments, grades and leave types of [At]; balances and reviews
// are left out. Employee i's address is [ScaledEmail](i).
func Scaled(n int, instant time.Time) *Company {
	c := At(instant)
	c.Employees = make([]Employee, n)
	c.Balances, c.Reviews = nil, nil
	for i := range n {
		c.Employees[i] = scaledEmployee(c, i)
	}
	return c
}

// Grown returns a company of n times the scale of a large one: at 1 it has 200,000
// employees, a million invoices, a million deals and a million tickets, made as
// [Scaled], [ScaledFinance], [ScaledSales] and [ScaledSupport] make them.
func Grown(n float64, instant time.Time) *Company {
	c := Scaled(max(1, int(200_000*n)), instant)
	c.Scale = max(1, int(1_000_000*n))
	return c
}

// ScaledEmail is the address of employee i of a scaled company.
func ScaledEmail(i int) string { return fmt.Sprintf("person%06d@%s", i, Domain) }

func scaledEmployee(c *Company, i int) Employee {
	dept := c.Departments[i%len(c.Departments)]
	e := Employee{
		ID: scaledID(i), Number: fmt.Sprintf("EMP%06d", i),
		FirstName: firstNames[i%len(firstNames)], LastName: lastNames[i/7%len(lastNames)],
		Email: ScaledEmail(i), Phone: phone("Seattle", i), Department: dept.Code, Title: dept.Name + " Specialist",
		Grade: c.Grades[i%len(c.Grades)].Name, HireDate: date("2015-01-01").AddDate(0, 0, i%3650),
		Salary: 40_000 + int64(i), SSN: ssn(i), Location: sites[i%len(sites)],
	}
	if i > 0 {
		e.ManagerID = scaledID((i - 1) / 10)
	}
	return e
}

func scaledID(i int) string { return fmt.Sprintf("5ca1ed00-0000-4000-8000-%012x", i) }

var (
	sites      = [...]string{"Seattle", "San Francisco", "Austin", "New York", "Chicago", "Boston", "Los Angeles", "Remote"}
	firstNames = [...]string{"Ada", "Ben", "Cleo", "Dev", "Elsa", "Finn", "Gus", "Hana", "Ivan", "June", "Kofi", "Lena", "Milo", "Nora", "Otto", "Pia", "Quinn", "Rosa", "Sven", "Tara", "Umar", "Vera", "Wes", "Xena", "Yara", "Zane"}
	lastNames  = [...]string{"Abbott", "Becker", "Castillo", "Dubois", "Eriksen", "Farouk", "Gupta", "Hayashi", "Ivanov", "Jansen", "Kaya", "Lindgren", "Moreau", "Novak", "Okafor", "Petrov", "Quist", "Rossi", "Silva", "Tanaka", "Ueda", "Vargas", "Weber", "Xu", "Yilmaz", "Zhang"}
)
