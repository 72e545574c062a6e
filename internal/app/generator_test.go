package app

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"countersign.dev/internal/company"
	"countersign.dev/internal/result"
	"countersign.dev/internal/testkit/oracle"
)

// generator makes random calls of every tool, from its schema and from the
// sample company's values.
type generator struct {
	*rand.Rand
	askers  []oracle.Asker
	tools   []toolSchema
	pools   map[string][]any // values by input name
	cursors []any            // of earlier answers
}

// toolSchema is a tool with the schemas of its inputs.
type toolSchema struct {
	server, name string
	fields       schema
	required     []string
	roles        []string
}

func newGenerator(t *testing.T, w *harness, seed uint64) *generator {
	d := &generator{Rand: rand.New(rand.NewPCG(seed, 1)), pools: poolsOf(w.company)}
	for _, server := range slices.Sorted(maps.Keys(w.runners)) {
		if server == "tasks" { // its rows are the askers' own; TestOnlyItsPeopleOpenAWorkspace is about others'
			continue
		}
		for _, info := range w.runners[server].Visible(catalogue()) {
			d.tools = append(d.tools, schemaOf(t, server, info))
		}
	}
	for _, a := range company.Accounts() {
		d.askers = append(d.askers, oracle.Asker{Email: a.Email, Roles: a.Roles})
	}
	for _, e := range w.company.Active() {
		d.askers = append(d.askers, oracle.Asker{Email: e.Email, Roles: nil})
	}
	return d
}

func schemaOf(t *testing.T, server string, info result.ToolInfo) toolSchema {
	t.Helper()
	input := parsed(t, info.InputSchema)
	fields, _ := input["properties"].(schema)
	return toolSchema{server, info.Name, fields, texts(input["required"]), info.Roles}
}

// asker returns one of the accounts with its roles, or any employee with up to
// three random roles.
func (d *generator) asker() oracle.Asker {
	a := d.askers[d.IntN(len(d.askers))]
	if a.Roles != nil {
		return a
	}
	for range 1 + d.IntN(3) {
		a.Roles = append(a.Roles, pick(d, roleNames()))
	}
	return a
}

// question returns a tool, usually one that the asker may use, and a valid input.
func (d *generator) question(a oracle.Asker) (toolSchema, map[string]any) {
	tool, in := pick(d, d.tools), map[string]any{}
	mayUse := func() bool {
		return slices.ContainsFunc(tool.roles, func(r string) bool { return slices.Contains(a.Roles, r) })
	}
	for tries := 0; tries < 12 && !mayUse(); tries++ {
		tool = pick(d, d.tools)
	}
	for _, name := range slices.Sorted(maps.Keys(tool.fields)) {
		if slices.Contains(tool.required, name) || d.IntN(4) == 0 {
			in[name] = d.value(name, tool.fields[name].(schema))
		}
	}
	delete(in, "cursor")
	if _, pages := tool.fields["cursor"]; pages && len(d.cursors) > 0 && d.IntN(8) == 0 {
		in["cursor"] = pick(d, d.cursors)
	}
	return tool, in
}

// value returns a value for an input. Amounts are above every salary, so that
// repeating them is no leak.
func (d *generator) value(name string, field schema) any {
	if values, ok := field["enum"].([]any); ok {
		return pick(d, values)
	}
	if pool := d.pools[name]; pool != nil {
		return pick(d, pool)
	}
	switch field["type"] {
	case "integer":
		least, most := int(field["minimum"].(float64)), int(field["maximum"].(float64))
		return least + d.IntN(most-least+1)
	case "number":
		return 1_000_001 + d.IntN(1_000_000)
	case "boolean":
		return d.IntN(2) == 0
	}
	if field["format"] == "date" {
		return fixedDay.AddDate(0, 0, d.IntN(800)-600).Format("2006-01-02")
	}
	return "As agreed with everyone who was asked"
}

func pick[T any](d *generator, from []T) T { return from[d.IntN(len(from))] }

// poolsOf are existing values of the company, by input name.
func poolsOf(c *company.Company) map[string][]any {
	const nowhere = "65a1c0000000000000009999"
	p := map[string][]any{
		"customer_id": {nowhere}, "deal_id": {nowhere}, "ticket_id": {"TICK-999"}, "article_id": {"KB-999"}, "employee_id": {noUUID}, "invoice_id": {noUUID},
		"fiscal_year": {2024, 2025, 2026, 2026, 2026}, "year": {2024, 2025, 2026, 2026, 2026}, "quarter": {"2026-Q4", "Q3 2026"},
		"query":      {"*", "*", "*", "login", "password", `"sign in" -plant`, "acces*", "()&%", "verify token"},
		"repository": {"sample", "sample", "none"}, "file_path": {"tokens/verify.py", "../verify.py"}, "path": {"tokens", "*"}, "language": {"Python", "Go"},
	}
	add := func(name string, values ...any) { p[name] = append(p[name], values...) }
	for _, e := range c.Employees {
		add("employee_id", e.ID)
		add("name", e.FirstName, e.LastName, strings.ToLower(e.Name()), e.FirstName[:2])
		add("location", e.Location)
	}
	for _, dep := range c.Departments {
		add("department", dep.Name, dep.Code)
	}
	for i := range c.Finance().Invoices {
		add("invoice_id", i.ID)
		add("invoice_number", i.Number)
	}
	for _, r := range c.Finance().Reports {
		add("report_number", r.Number)
		add("month", r.Month)
	}
	for x := range c.Sales().Customers {
		add("customer_id", x.ID)
		add("owner", x.Owner)
	}
	for d := range c.Sales().Deals {
		add("deal_id", d.ID)
	}
	for t := range c.Support().Tickets {
		add("ticket_id", t.ID)
	}
	for a := range c.Support().Articles {
		add("article_id", a.ID)
		add("category", a.Category)
	}
	for v := range c.Finance().Vendors {
		add("vendor", v.Name[:3])
	}
	p["manager_id"], p["under_manager_id"], p["root_employee_id"] = p["employee_id"], p["employee_id"], p["employee_id"]
	return p
}
