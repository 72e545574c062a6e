package hr

import (
	"context"

	"countersign.dev/internal/database"
	"countersign.dev/internal/tool"
)

// TimeOff is the leave that a person has in a fiscal year, in days.
type TimeOff struct {
	EmployeeID   string    `json:"employee_id" jsonschema:"format=uuid"`
	EmployeeName string    `json:"employee_name" field:"label=Name"`
	FiscalYear   int       `json:"fiscal_year" field:"show=year"`
	PTOBalance   float64   `json:"pto_balance" jsonschema_description:"Vacation days still available" field:"label=PTO balance,unit=days,amount,aka=vacation|holiday|leave|left|remaining|day"`
	Balances     []Balance `json:"balances"`
}

// Balance is a person's days of one kind of leave.
type Balance struct {
	TypeCode    string  `json:"type_code" field:"show=detail"`
	TypeName    string  `json:"type_name" field:"label=Kind"`
	Entitlement float64 `json:"entitlement" field:"unit=days"`
	Used        float64 `json:"used" field:"unit=days,aka=taken"`
	Pending     float64 `json:"pending" field:"unit=days"`
	Carryover   float64 `json:"carryover" field:"unit=days"`
	Available   float64 `json:"available" field:"unit=days,amount,aka=left|remaining|balance"`
}

func (s *Server) timeOff() []tool.Tool {
	return []tool.Tool{tool.Read(tool.Spec{
		Name: "get_time_off_balance", Title: "Get a time off balance", Ask: "How much time off do I have?",
		Description: "Show how many days of time off a person has left. " +
			"Without employee_id: the caller's own. pto_balance is the vacation days still available; balances has every kind of leave.",
		Allow: everyone, Synonyms: []string{"pto", "vacation", "holiday", "leave", "day off", "sick day"},
		Lacks: []tool.Lack{{
			Said: `\b(time off|vacation|leave|holiday|pto) requests?\b|\brequest(ing)? (time off|vacation|leave)\b|\b(on|booking|book) (vacation|leave|holiday)\b` +
				`|\b(time off|vacation|leave|holiday|pto) (policy|policies|rules?)\b|\b(policy|policies|rules?) (on|for|of|about) (time off|vacation|leave|holidays?|pto)\b|^(\w+ ){0,3}(approve|reject|deny|grant|cancel)\b.*\b(time off|vacation|leave|pto|holidays?)\b|\b(is|are|be|anyone|anybody|who|them|team) (out|off|away|absent|sick)\b|\bout of (the )?office\b|\btake .*\boff\b|\b(day|tomorrow|today|week|afternoon|morning|month) off$`,
			Tell: "Only balances of time off are kept here: requests, absences and policies are not",
		}, {
			Said: `\b(team|everyone|everybody|people|employees|staff|department|reports?)('?s)?\b.*\b(time off|vacation|pto|leave|holidays?)\b|\b(time off|vacation|pto|leave|holidays?)\b.*\b(of|by|for|does|do) (\w+ ){0,2}(team|everyone|everybody|people|employees|staff|department|reports)\b|\bwho has\b.*\b(time off|vacation|pto|leave|holidays?)\b`,
			Tell: "The time off of others is shown for one person at a time, by name, to hr-read, hr-write, executive and the managers above that person",
		}},
	}, s.getTimeOff)}
}

type timeOffInput struct {
	EmployeeID string `json:"employee_id,omitempty" jsonschema:"format=uuid" jsonschema_description:"Whose balance (default: the asker's own)" field:"self" suggest:"Use list_employees tool to find valid employee IDs, or verify the ID format is correct (UUID expected)." via:"list_employees" tell:"I find no employee with that id."`
	FiscalYear int    `json:"fiscal_year,omitempty" jsonschema:"minimum=2000,maximum=2100" jsonschema_description:"Calendar year (default: the current one)" field:"show=year"`
}

// person is the employee that a balance is about.
type person struct{ ID, Name string }

const findPerson = `
select id, first_name || ' ' || last_name as name from hr.employees
where status = 'ACTIVE' and (($1 <> '' and id = nullif($1, '')::uuid) or ($1 = '' and email = (select hr.caller_email())))`

const listBalances = `
select b.type_code, t.type_name, b.entitlement, b.used, b.pending, b.carryover,
       b.entitlement + b.carryover - b.used - b.pending as available
from hr.time_off_balances b join hr.time_off_types t on t.type_code = b.type_code
where b.employee_id = $1 and b.fiscal_year = $2
order by t.type_code <> 'VACATION', t.type_code`

func (s *Server) getTimeOff(ctx context.Context, in timeOffInput) (TimeOff, error) {
	out := TimeOff{FiscalYear: in.FiscalYear}
	if out.FiscalYear == 0 {
		out.FiscalYear = s.now().UTC().Year()
	}
	err := s.db.Read(ctx, func(ctx context.Context) error {
		p, err := s.person(ctx, in.EmployeeID)
		if err != nil {
			return err
		}
		out.EmployeeID, out.EmployeeName = p.ID, p.Name
		out.Balances, err = database.Rows[Balance](ctx, s.db, listBalances, p.ID, out.FiscalYear)
		if err == nil && len(out.Balances) == 0 {
			err = errNoBalances.New("No time off balances are kept for %s in fiscal year %d.", p.Name, out.FiscalYear).With("employeeId", p.ID).With("fiscalYear", out.FiscalYear)
		}
		return err
	})
	for _, b := range out.Balances {
		if b.TypeCode == "VACATION" {
			out.PTOBalance = b.Available
		}
	}
	return out, err
}

// person finds an employee by id, or the caller.
func (s *Server) person(ctx context.Context, id string) (person, error) {
	found, ok, err := database.Row[person](ctx, s.db, findPerson, id)
	switch {
	case err != nil || ok:
		return found, err
	case id == "":
		return person{}, errNotFound.New("There is no employee record for you.").Instruct("Name the employee in employee_id.").Fields("employee_id")
	}
	return person{}, notFound(id)
}
