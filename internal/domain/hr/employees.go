package hr

import (
	"context"
	"strings"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/database"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/money"
	"countersign.dev/internal/tool"
)

// Employee is one person who works here, as far as the caller may see them.
type Employee struct {
	EmployeeID  string                    `json:"employee_id" jsonschema:"format=uuid"`
	FirstName   string                    `json:"first_name" jsonschema:"maxLength=50"`
	LastName    string                    `json:"last_name" jsonschema:"maxLength=50" field:"aka=surname"`
	Email       string                    `json:"email" jsonschema:"format=email" field:"aka=contact"`
	Department  string                    `json:"department" field:"aka=dept|division"`
	JobTitle    string                    `json:"job_title" field:"aka=job|position|role|occupation"`
	ManagerID   *string                   `json:"manager_id" jsonschema:"oneof_type=string;null,format=uuid"`
	ManagerName *string                   `json:"manager_name" jsonschema:"oneof_type=string;null" field:"label=Manager,aka=boss|supervisor|report to"`
	HireDate    string                    `json:"hire_date" jsonschema:"format=date" field:"label=Hired,aka=start|joined|serving|tenure"`
	Salary      access.Sensitive[float64] `json:"salary" mask:"pay" jsonschema:"minimum=0" db:"-" field:"unit=USD,aka=pay|paid|payroll|wage|earn|earner|make|compensation|remuneration|payslip|paycheck|income"`
	SSN         string                    `json:"ssn" mask:"pay" jsonschema:"pattern=^\\d{3}-\\d{2}-\\d{4}$" field:"label=SSN"`
	Phone       string                    `json:"phone" mask:"phone,last4" field:"aka=telephone|mobile"`
	Location    string                    `json:"location" field:"aka=office|city|site|address"`
	Active      bool                      `json:"active" field:"aka=employed|employment"`
	CreatedAt   time.Time                 `json:"created_at" field:"show=detail"`
	UpdatedAt   time.Time                 `json:"updated_at" field:"show=detail"`
	Relation    access.Relation           `json:"-"`
}

// employeeKey is an employee's sort key in lists.
type employeeKey struct{ LastName, FirstName, ID string }

// Key orders lists by name, then by id.
func (e Employee) Key() employeeKey { return employeeKey{e.LastName, e.FirstName, e.EmployeeID} }

// employeeRow is an employee as the queries return one.
type employeeRow struct {
	Employee
	SalaryCents int64
}

func (r employeeRow) employee() Employee {
	r.Salary = access.NewSensitive(money.Dollars(r.SalaryCents))
	return r.Employee
}

func (s *Server) employees() []tool.Tool {
	return []tool.Tool{
		tool.Read(tool.Spec{
			Name: "get_employee", Title: "Get an employee", AskOf: "Who is %s?", Ask: "Show my employee record",
			Description: "Show one employee's record. Needs an employee_id; list_employees finds it by name. Values that the caller may not see are hidden.",
			Allow:       readers, Own: "your own employee record, with your own salary", Synonyms: []string{"colleague", "staff member", "person", "profile"},
		}, s.getEmployee),
		tool.List(tool.Spec{
			Name: "list_employees", Title: "List employees", Ask: "List all employees",
			Description: "List active employees by name, department, location or manager. " +
				"With manager_id: the direct reports of that person; with under_manager_id: their whole team, at any level. Without filters: everyone the caller may see.",
			Allow: overview, Synonyms: []string{"people", "staff", "colleague", "headcount", "team member", "workforce"}, Noun: "employees", Narrow: "department or name",
			Lacks: []tool.Lack{{
				Said: `^(\w+ ){0,3}(update|change|set|edit|move|transfer|promote|correct)\b.*\b(title|department|phone|address|location|manager|role|name)\b|^(\w+ ){0,3}(update|change|edit|rename|modify|correct) (the |this |an? )?(employee|person|colleague)( \w+){0,2}$|^(\w+ ){0,3}(hire|add|create|onboard)\b.*\b(employee|person|colleague|hire)\b`,
				Tell: "Employees can be read here, and you can ask for a new salary or a deletion, not for other changes",
			}, {
				Said: `\b(open|vacant|free) (positions?|roles?|jobs?)\b|\b(vacanc(y|ies)|birthdays?|job openings?)\b|\bbank (accounts?|details|data)\b|\b(home|private|personal) (address(es)?|phones?|emails?|numbers?)\b|\b(hiring|recruiting) for\b|\bhow old (is|are) ([^t]|t[^h]|th[^e]|the (employees|people|staff|team))|\bhow many (women|men)\b|\b(women|female|male|gender)\b|\b(employees?|people|who|colleagues?)( \w+){0,2} (left|quit|resigned|terminated)( the company)?$`,
				Tell: "Vacancies, birthdays, ages, genders, bank accounts, private addresses and people who left are not kept here",
			}, {
				Said: `^(list|show|what are|what|which)( (me|all|the|our))* departments( are there| exist| do we have)?$`,
				Tell: "Departments have no list of their own; you can ask how many people work in each department",
			}, {
				Said: `\b(delete|close|remove|deactivate|cancel) my (own )?(account|user|login|profile|employee record)\b`,
				Tell: "Your own account cannot be deleted here; ask your HR department",
			}, {
				Said: `\bwho (leads|runs|heads)\b|\b(head|leader) of \w+|\bdepartment heads?\b`,
				Tell: "Who leads a department is not kept here, only who is whose manager",
			}},
		}, s.listEmployees),
		tool.Write(tool.Spec{
			Name: "delete_employee", Title: "Delete an employee",
			Description: "Delete an employee: end their employment. A person must approve it first. Not allowed for oneself, nor for someone who still has direct reports.",
			Allow:       writers, Synonyms: []string{"terminate", "fire", "offboard", "dismiss", "remove"},
		}, tool.Steps[deleteInput, deletePreview, deletePrecondition, deleted]{Preview: s.previewDelete, Apply: s.delete}),
	}
}

type getInput struct {
	EmployeeID string `json:"employee_id" jsonschema:"format=uuid" jsonschema_description:"The unique identifier of the employee" suggest:"Use list_employees tool to find valid employee IDs, or verify the ID format is correct (UUID expected)." via:"list_employees" tell:"I find no employee with that id."`
}

const getEmployee = `
select e.id as employee_id, e.first_name, e.last_name, e.email, e.job_title, e.manager_id,
       (select d.name from hr.departments d where d.code = e.department) as department,
       hr.name_of(e.manager_id) as manager_name, e.hire_date::text, e.salary_cents, e.ssn, e.phone, e.location,
       true as active, e.created_at, e.updated_at,
       case when e.email = (select hr.caller_email()) then 1 when e.lft between b.low and b.high then 2 else 0 end as relation
from hr.employees e left join hr.below() b on true
where e.id = $1 and e.status = 'ACTIVE'`

func (s *Server) getEmployee(ctx context.Context, in getInput) (Employee, error) {
	row, found, err := database.Row[employeeRow](ctx, s.db, getEmployee, in.EmployeeID)
	if err != nil {
		return Employee{}, err
	}
	if !found {
		return Employee{}, notFound(in.EmployeeID)
	}
	return row.employee(), nil
}

type listInput struct {
	Department string `json:"department,omitempty" jsonschema_description:"Filter by department name" field:"aka=dept|division"`
	Name       string `json:"name,omitempty" jsonschema:"maxLength=100" jsonschema_description:"Part of the first name, the last name or both"`
	ManagerID  string `json:"manager_id,omitempty" jsonschema:"format=uuid" jsonschema_description:"Only the direct reports of this manager (employee_id)" suggest:"Use list_employees tool to find valid employee IDs, or verify the ID format is correct (UUID expected)." via:"list_employees" field:"from=list_employees:employee_id,aka=direct report" tell:"I find no employee with that id."`
	UnderID    string `json:"under_manager_id,omitempty" jsonschema:"format=uuid" jsonschema_description:"Only the whole team of this manager (employee_id): everyone below, at any level" suggest:"Use list_employees tool to find valid employee IDs, or verify the ID format is correct (UUID expected)." via:"list_employees" field:"from=list_employees:employee_id,aka=team|people|subordinate" tell:"I find no employee with that id."`
	Location   string `json:"location,omitempty" jsonschema:"maxLength=100" jsonschema_description:"Only people at this site, for example Seattle or Remote" field:"aka=office|city|site"`
}

// The page's ids are found first, in an index and with the caller's range as
// plain values; only the rows of the page are fetched.
const listEmployees = `
with page as (
  select id from hr.employees
  where status = 'ACTIVE' and lft between $1 and $2
    and (last_name, first_name, id) > ($3, $4, $5)
    and ($6 = '' or department = (select code from hr.departments where lower($6) in (lower(name), lower(code))))
    and ($7 = '' or strpos(name_key, lower($7)) > 0)
    and ($8 = '' or manager_id = nullif($8, '')::uuid)
    and ($9 = '' or location_key = lower($9))
    and ($10 = '' or id = any (nullif($10, '')::uuid[]))
  order by last_name, first_name, id
  limit $11
)
select e.id as employee_id, e.first_name, e.last_name, e.email, e.job_title, e.manager_id,
       (select d.name from hr.departments d where d.code = e.department) as department,
       hr.name_of(e.manager_id) as manager_name, e.hire_date::text, e.salary_cents, e.ssn, e.phone, e.location,
       true as active, e.created_at, e.updated_at,
       case when e.email = (select hr.caller_email()) then 1 when e.lft between b.low and b.high then 2 else 0 end as relation
from page join hr.employees e using (id) left join hr.below() b on true
order by e.last_name, e.first_name, e.id`

// beforeAll is a key before every employee's: no name is empty.
var beforeAll = employeeKey{ID: "00000000-0000-0000-0000-000000000000"}

func (s *Server) listEmployees(ctx context.Context, in listInput, w tool.Window[employeeKey]) (people []Employee, err error) {
	after := beforeAll
	if w.After != nil {
		after = *w.After
	}
	in.Name, in.Department, in.Location = words(in.Name), words(in.Department), words(in.Location)
	err = s.db.Read(ctx, func(ctx context.Context) error {
		visible, err := s.scope(ctx, in.UnderID)
		if err != nil {
			return err
		}
		page, err := s.named(ctx, in, after, visible, w.Limit)
		if err != nil {
			return err
		}
		rows, err := database.Rows[employeeRow](ctx, s.db, listEmployees, visible.Low, visible.High,
			after.LastName, after.FirstName, after.ID, in.Department, in.Name, in.ManagerID, in.Location, page, w.Limit)
		people = make([]Employee, 0, len(rows))
		for _, row := range rows {
			people = append(people, row.employee())
		}
		return err
	})
	return people, err
}

// manyVisible is how many people a caller must see before names are found by
// their letters; below it a scan of everyone's name is cheaper.
const manyVisible = 10_000

const findNamed = `
select hr.named(lower($1), $2, $3, $4,
  case when $5 <> '' then coalesce((select code from hr.departments where lower($5) in (lower(name), lower(code))), '') end,
  lower(nullif($6, '')), nullif($7, '')::uuid, $8)::text`

// named returns the ids of the page when the list is narrowed by a part of a
// name and the caller sees many people; else nothing, which does not filter. It
// looks among all whom the caller sees, not in a team.
func (s *Server) named(ctx context.Context, in listInput, after employeeKey, visible treeRange, limit int) (ids string, err error) {
	if in.Name == "" || in.UnderID != "" || visible.High-visible.Low < manyVisible {
		return "", nil
	}
	found, _, err := database.Row[*string](ctx, s.db, findNamed, in.Name,
		after.LastName, after.FirstName, after.ID, in.Department, in.Location, in.ManagerID, limit)
	return deref(found), err
}

// words normalizes a filter: single spaces between words, none around them.
func words(text string) string { return strings.Join(strings.Fields(text), " ") }

type deleteInput struct {
	EmployeeID string `json:"employee_id" jsonschema:"format=uuid" jsonschema_description:"The employee to delete" suggest:"Use list_employees tool to find valid employee IDs, or verify the ID format is correct (UUID expected)." via:"list_employees" tell:"I find no employee with that id."`
	Reason     string `json:"reason,omitempty" jsonschema:"maxLength=500" jsonschema_description:"Optional reason for deletion (audit trail)" text:"lines"`
}

// deletePreview is shown on the approval card.
type deletePreview struct {
	EmployeeID    string `json:"employeeId" jsonschema:"format=uuid" field:"show=detail"`
	EmployeeName  string `json:"employeeName"`
	EmployeeEmail string `json:"employeeEmail" jsonschema:"format=email"`
	Department    string `json:"department"`
	JobTitle      string `json:"jobTitle"`
	Reason        string `json:"reason" quote:"assistant" empty:"No reason provided"`
}

// Message is the question that the person answers.
func (c deletePreview) Message() tool.Sentence {
	return tool.Say("⚠️ Delete employee %s (%s)?\n\n"+
		"This action will permanently delete the employee record and cannot be undone.\n\n"+
		"Department: %s\nEmployee ID: %s", tool.Listed(c.EmployeeName), c.EmployeeEmail, tool.Listed(c.Department), c.EmployeeID)
}

// deletePrecondition must still hold when the deletion is approved.
type deletePrecondition struct{ ID, Name, Email, Department, Title string }

// deleted is the answer to an approved deletion.
type deleted struct {
	Deleted      bool   `json:"deleted"`
	EmployeeID   string `json:"employeeId" jsonschema:"format=uuid"`
	EmployeeName string `json:"employeeName"`
	Message      string `json:"message"`
}

// subject is the person that a change is about.
type subject struct {
	ID, Name, Email, Department, Title string
	SalaryCents                        int64
	Grade                              string
	MinCents, MaxCents                 int64 // the grade's range
	Reports                            int   // active direct reports
	Known                              bool  // it is known which person the caller is
	Self                               bool  // the caller themselves
}

const findSubject = `
select e.id, e.first_name || ' ' || e.last_name as name, e.email, d.name as department, e.job_title as title,
       e.salary_cents, e.grade, g.min_salary_cents as min_cents, g.max_salary_cents as max_cents,
       (select count(*) from hr.employees r where r.manager_id = e.id and r.status = 'ACTIVE') as reports,
       hr.caller_email() is not null as known, e.email = coalesce(hr.caller_email(), '') as self
from hr.employees e
join hr.departments d on d.code = e.department
join hr.grade_levels g on g.grade = e.grade
where e.id = $1 and e.status = 'ACTIVE'`

// subject finds the person that a change is about. Inside a change it locks
// their row. No one may change themselves, so a caller who might be anyone gets
// IDENTITY_UNPROVEN.
func (s *Server) subject(ctx context.Context, id string) (subject, error) {
	found, ok, err := database.Row[subject](ctx, s.db, findSubject+database.ForUpdate(ctx, s.db, "e"), id)
	switch {
	case err == nil && !ok:
		err = notFound(id)
	case err == nil && !found.Known:
		err = fault.Unproven.New("It cannot be checked that this is not your own record: your sign-in has no verified e-mail address of your own.")
	}
	return found, err
}

func (s *Server) previewDelete(ctx context.Context, in deleteInput) (deletePreview, deletePrecondition, error) {
	e, err := s.subject(ctx, in.EmployeeID)
	switch {
	case err != nil:
		return deletePreview{}, deletePrecondition{}, err
	case e.Self:
		return deletePreview{}, deletePrecondition{}, errDeleteSelf.New("You cannot delete your own employee record.")
	case e.Reports > 0:
		return deletePreview{}, deletePrecondition{}, hasReports(e)
	}
	preview := deletePreview{e.ID, e.Name, e.Email, e.Department, e.Title, in.Reason}
	return preview, deletePrecondition{e.ID, e.Name, e.Email, e.Department, e.Title}, nil
}

func hasReports(e subject) error {
	people := "direct reports"
	if e.Reports == 1 {
		people = "direct report"
	}
	return errHasReports.New("%s cannot be deleted: they have %d active %s.", e.Name, e.Reports, people).
		Suggest("Assign the %d %s of %s to another manager first.", e.Reports, people, e.Name).
		Instruct("Assign the %d %s of %s to another manager first. Use list_employees with manager_id %s to see them.", e.Reports, people, e.Name, e.ID).Through("list_employees").
		With("directReports", e.Reports)
}

const endEmployment = `
update hr.employees set status = 'TERMINATED', terminated_at = now(), terminated_by = $2, updated_at = now()
where id = $1 and status = 'ACTIVE'`

func (s *Server) delete(ctx context.Context, _ deleteInput, seen deletePrecondition) (deleted, error) {
	who, err := access.From(ctx)
	if err != nil {
		return deleted{}, err
	}
	if err := database.ExecOne(ctx, s.db, endEmployment, seen.ID, who.Signature()); err != nil {
		return deleted{}, err
	}
	s.leavers.endAfter(ctx)
	return deleted{Deleted: true, EmployeeID: seen.ID, EmployeeName: seen.Name, Message: "Employee " + seen.Name + " has been deleted."}, nil
}
