// Package oracle knows from the sample company alone what each person may be
// shown. It owns no rule of the product and shares no code with what it checks;
// tests with random questions check every answer with it. Start with Check.
package oracle

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/company"
	"countersign.dev/internal/testkit"
)

// Oracle knows from the fixture alone what each person may be shown, by any
// server and anywhere in its answers.
type Oracle struct {
	people   map[string]company.Employee // by id
	byEmail  map[string]company.Employee
	rows     map[string]func(Asker) bool // by the row's id: who may see it
	secrets  map[string]secret           // by the text itself
	comments map[string]company.Review   // by the comment
	pay      map[int64]company.Employee  // by salary; but for the one that two people earn
}

// secret is a text that not everyone who sees the row may see. The rule depends
// on the server that answers; in a conversation any of the rules is enough.
type secret struct {
	what string
	seen map[string]func(Asker) bool // by server
}

// New derives the rules from a company.
func New(c *company.Company) *Oracle {
	o := &Oracle{
		people: map[string]company.Employee{}, byEmail: map[string]company.Employee{}, rows: map[string]func(Asker) bool{},
		secrets: map[string]secret{}, comments: map[string]company.Review{}, pay: map[int64]company.Employee{},
	}
	for _, e := range c.Employees {
		o.people[e.ID], o.byEmail[e.Email] = e, e
	}
	o.knowPeople(c)
	o.knowMoney(c)
	o.knowSales(c)
	o.knowSupport(c)
	return o
}

func (o *Oracle) knowPeople(c *company.Company) {
	for _, e := range c.Employees {
		o.rows[e.ID] = func(a Asker) bool { return o.sees(a, e) }
		o.secrets[e.SSN] = secret{"the SSN of " + e.Name(), map[string]func(Asker) bool{"hr": func(a Asker) bool { return o.seesPay(a, e) }}}
		o.secrets[e.Phone] = secret{"the phone of " + e.Name(), map[string]func(Asker) bool{"hr": func(a Asker) bool { return o.seesPhone(a, e) }}}
		o.pay[e.Salary] = e
	}
	delete(o.pay, 145_000) // two people earn it
	for _, r := range c.Reviews {
		o.rows[r.ID] = func(a Asker) bool { return o.seesReviews(a, o.people[r.EmployeeID]) }
		o.comments[r.Comments] = r
	}
}

func (o *Oracle) knowMoney(c *company.Company) {
	books := func(a Asker) bool { return a.Has("finance-read", "finance-write", access.Executive) }
	f := c.Finance()
	for i := range f.Invoices {
		o.rows[i.ID] = books
	}
	for _, b := range f.Budgets {
		o.rows[b.ID] = books
	}
	for _, r := range f.Reports {
		o.rows[r.ID] = func(a Asker) bool {
			return a.Has("finance-read", access.Executive) || a.Has(access.Employee) && a.Email == r.EmployeeEmail
		}
	}
}

func (o *Oracle) knowSales(c *company.Company) {
	s := c.Sales()
	for x := range s.Customers {
		own := func(a Asker) bool { return a.Has("sales-read") && a.Email == x.Owner }
		o.rows[x.ID] = func(a Asker) bool { return territory(a, x.Owner, x.OwnerChain) }
		contact := func(a Asker) bool { return own(a) || a.Has("sales-write", access.Executive) }
		caller := func(a Asker) bool { return a.Has("support-write", access.Executive) }
		o.secrets[x.Email] = secret{"the address of " + x.Contact, map[string]func(Asker) bool{"sales": contact, "support": caller}}
		o.secrets[x.Phone] = secret{"the phone of " + x.Contact, map[string]func(Asker) bool{"sales": contact}}
	}
	for d := range s.Deals {
		o.rows[d.ID] = func(a Asker) bool { return territory(a, d.Owner, d.OwnerChain) }
	}
}

func (o *Oracle) knowSupport(c *company.Company) {
	staff := func(a Asker) bool { return a.Has("support-read", "support-write", access.Executive) }
	s := c.Support()
	for t := range s.Tickets {
		o.rows[t.ID] = staff
	}
	for x := range s.Articles {
		o.rows[x.ID] = func(a Asker) bool { return staff(a) && (x.Status == "published" || a.Has("support-write")) }
	}
}

// territory is who sees a customer or a deal.
func territory(a Asker, owner string, chain []string) bool {
	return a.Has("sales-write", access.Executive) || a.Has("sales-read") && (a.Email == owner || slices.Contains(chain, a.Email))
}

// under reports whether e is below the asker, by walking up.
func (o *Oracle) under(a Asker, e company.Employee) bool {
	me := o.byEmail[a.Email]
	for ; e.ManagerID != ""; e = o.people[e.ManagerID] {
		if e.ManagerID == me.ID {
			return a.Has(access.Manager)
		}
	}
	return false
}

func (o *Oracle) sees(a Asker, e company.Employee) bool {
	switch {
	case e.Gone():
		return false
	case a.Has("hr-read", "hr-write", access.Executive), o.under(a, e):
		return true
	}
	return e.Email == a.Email && a.Has(access.Employee, access.Manager)
}

func (o *Oracle) seesPay(a Asker, e company.Employee) bool {
	return !e.Gone() && (e.Email == a.Email || a.Has("hr-write", "finance-read", access.Executive))
}

func (o *Oracle) seesPhone(a Asker, e company.Employee) bool {
	return !e.Gone() && (e.Email == a.Email || a.Has("hr-read", "hr-write", access.Executive) || o.under(a, e))
}

// seesReviews is who sees an employee's reviews.
func (o *Oracle) seesReviews(a Asker, e company.Employee) bool {
	return !e.Gone() && (a.Has("hr-write", access.Executive) || o.under(a, e))
}

var (
	rowField   = regexp.MustCompile(`"(employee_id|employeeId|review_id|_id|deal_id|dealId|customerId|invoice_id|invoiceId|report_id|budget_id|budgetId|ticket_id|ticketId|article_id)":"([^"]*)"`)
	secretText = regexp.MustCompile(`\b9\d\d-\d\d-\d{4}\b|\b\d{3}-555-\d{4}\b|[\w.]+@[\w.]+\.example\b`)
	noAmounts  = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b[0-9a-f]{24}\b|\d{4}-\d\d-\d\d[T ][\d:.]+|(localhost|127\.0\.0\.1):\d+`)
	amount     = regexp.MustCompile(`\b\d{1,3}(,\d{3})+\b|\b\d{5,}\b`)
	payField   = regexp.MustCompile(`"\w*[sS]alary":\d+`)
)

// Check returns an error when an answer shows what its reader may not see.
// server is the one that answered; empty for a conversation, to which several
// may have contributed. The asker's own input is to be removed before
// ([WithoutOwnInput]).
func (o *Oracle) Check(a Asker, server, text string) error {
	for _, m := range rowField.FindAllStringSubmatch(text, -1) {
		if err := o.checkRow(a, server, m[1], m[2]); err != nil {
			return err
		}
	}
	for _, found := range secretText.FindAllString(text, -1) {
		if s, known := o.secrets[found]; known && !s.shownTo(a, server) {
			return fmt.Errorf("shows %s", s.what)
		}
	}
	for comment, r := range o.comments {
		if strings.Contains(text, comment) && !o.seesReviews(a, o.people[r.EmployeeID]) {
			return fmt.Errorf("shows the review comments about %s", o.people[r.EmployeeID].Name())
		}
	}
	for _, e := range o.payIn(payTexts(a, server, text)) {
		if !o.seesPay(a, e) {
			return fmt.Errorf("shows the salary of %s, %d", e.Name(), e.Salary)
		}
	}
	return nil
}

// payTexts are the parts of an answer that can contain pay. Prices and budgets
// are similar amounts: for people who see those, only fields named salary count.
func payTexts(a Asker, server, text string) string {
	trades := a.Has("finance-read", "finance-write", "sales-read", "sales-write", access.Executive)
	if server == "hr" || server == "" && !trades {
		return text
	}
	return strings.Join(payField.FindAllString(text, -1), " ")
}

func (o *Oracle) checkRow(a Asker, server, field, id string) error {
	visible, known := o.rows[id]
	if !known {
		return fmt.Errorf("shows an unknown row: %s %s", field, id)
	}
	onExpense := field == "employee_id" && server != "hr" && a.Has("finance-read", access.Executive) // on expense reports
	if !visible(a) && !onExpense {
		return fmt.Errorf("shows a row that the asker may not see: %s %s", field, id)
	}
	return nil
}

func (s secret) shownTo(a Asker, server string) bool {
	if rule, ok := s.seen[server]; ok {
		return rule(a)
	}
	return server == "" && slices.ContainsFunc(slices.Collect(maps.Values(s.seen)), func(rule func(Asker) bool) bool { return rule(a) })
}

// payIn finds salaries in a text.
func (o *Oracle) payIn(text string) (whose []company.Employee) {
	for _, found := range amount.FindAllString(noAmounts.ReplaceAllString(text, " "), -1) {
		n, err := strconv.ParseInt(strings.ReplaceAll(found, ",", ""), 10, 64)
		if e, known := o.pay[n]; err == nil && known {
			whose = append(whose, e)
		}
	}
	return whose
}

// CheckLog returns an error when an audit or a log contains private data, which
// no reader of those may see.
func (o *Oracle) CheckLog(text string) error {
	for _, found := range secretText.FindAllString(text, -1) {
		if s, known := o.secrets[found]; known {
			return fmt.Errorf("contains %s", s.what)
		}
	}
	for comment, r := range o.comments {
		if strings.Contains(text, comment) {
			return fmt.Errorf("contains the review comments about %s", o.people[r.EmployeeID].Name())
		}
	}
	for _, e := range o.payIn(text) {
		return fmt.Errorf("contains the salary of %s, %d", e.Name(), e.Salary)
	}
	return nil
}

// Asker is a person with an address and roles, of the company or made up.
type Asker struct {
	Email string
	Roles []string
}

// Principal is the asker as a verified caller.
func (a Asker) Principal() *access.Principal {
	return access.NewPrincipal(access.Claims{
		Issuer: testkit.Issuer, Subject: "sub-" + a.Email, Username: a.Email, Email: a.Email, EmailVerified: true,
		Roles: a.Roles, Expires: time.Now().Add(time.Hour), MayConfirm: true, Provenance: access.Provenance{Surface: access.SurfaceChat},
	})
}

// Has reports whether the asker has one of the roles.
func (a Asker) Has(roles ...access.Role) bool {
	return slices.ContainsFunc(roles, func(r access.Role) bool { return slices.Contains(a.Roles, string(r)) })
}
