package app

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"countersign.dev/internal/company"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/testkit/oracle"
)

const matrixHead = `# Who may do what

Generated from calls: every tool is called with every role alone, by a person in
each relation to the row. A change of policy is a change of this page. A person
with several roles may do what any of them may; the last columns show what two
roles permit in combination.

| cell | meaning |
|---|---|
| yes | the row is shown, every field of it |
| part (a) | the row is shown, without the fields of note a |
| own | sums over what is theirs and their team's only |
| card | a change is prepared; nothing happens until the same person approves its card |
| no (a) | refused for the reason of note a |
| none | answered exactly as if the row did not exist |
| – | the role may not use the tool; it is not listed either |

Rewrite it with ` + "`go test ./internal/app -run TestRoleMatrix -update`" + `.
`

// probe is one call of a tool by an asker in some relation to a row.
type probe struct {
	row  string         // the asker's relation to it
	as   string         // the asker's address
	in   map[string]any // the call
	find string         // lists: the id that must be in the answer
}

// TestRoleMatrix calls every tool with every role and records the outcome.
func TestRoleMatrix(t *testing.T) {
	w := newHarness(t)
	deleteOne(t, w)
	probes := probesOf(w.company)
	page := strings.Builder{}
	page.WriteString(matrixHead)
	for _, d := range domains() {
		m := matrix{t: t, harness: w, server: d.name, page: &page}
		columns := columnsOf(d.name)
		fmt.Fprintf(&page, "\n## %s (%s)\n\n| tool | row | %s |\n|---|---|%s\n", d.title, d.name, strings.Join(columns, " | "), strings.Repeat("---|", len(columns)))
		for _, info := range w.runners[d.name].Visible(catalogue()) {
			if len(probes[info.Name]) == 0 {
				t.Errorf("%s is not in the matrix: give it probes", info.Name)
			}
			m.tool(info, probes[info.Name])
			delete(probes, info.Name)
		}
		m.footnotes()
	}
	for name := range probes {
		t.Errorf("there are probes of %s, which is no tool", name)
	}
	testkit.Golden(t, "../../../docs/role-matrix.md", []byte(page.String()))
}

// deleteOne makes and deletes a task, so that there is something to clean up.
func deleteOne(t *testing.T, w *harness) {
	t.Helper()
	nina := account(t, "nina.patel").Principal()
	made := w.call(t, nina, "tasks", "create_task", map[string]any{"workspace_path": "Platform", "title": "Try another layout"})
	var task struct{ ID int64 }
	if err := json.Unmarshal(made.Data(), &task); err != nil {
		t.Fatal(err)
	}
	if o := w.call(t, nina, "tasks", "delete_task", map[string]any{"workspace_path": "Platform", "task_id": task.ID}); o.Fault() != nil {
		t.Fatal(o.Fault())
	}
}

// together are roles that give more rights in combination than alone: one
// permits the call, the other shows masked fields.
var together = map[string][]string{
	"hr":      {"hr-read + hr-write", "hr-read + finance-read", "manager + finance-read"},
	"finance": {"finance-read + finance-write"},
	"sales":   {"sales-read + sales-write"},
	"support": {"support-read + support-write"},
}

// columnsOf are the columns of a server's table: every role alone, then some
// together.
func columnsOf(server string) []string { return append(roleNames(), together[server]...) }

// matrix writes the table of one server.
type matrix struct {
	t       *testing.T
	harness *harness
	server  string
	page    *strings.Builder
	notes   []string
}

func (m *matrix) tool(info result.ToolInfo, probes []probe) {
	name := info.Name
	for _, p := range probes {
		var cells []string
		for _, column := range columnsOf(m.server) {
			o := m.harness.call(m.t, oracle.Asker{Email: p.as, Roles: strings.Split(column, " + ")}.Principal(), m.server, info.Name, p.in)
			cells = append(cells, m.cell(info, p, o))
		}
		fmt.Fprintf(m.page, "| %s | %s | %s |\n", name, p.row, strings.Join(cells, " | "))
		name = "" // once per tool
	}
}

func (m *matrix) cell(info result.ToolInfo, p probe, o result.Outcome) string {
	switch {
	case o.Fault() != nil && o.Fault().Code == fault.Insufficient:
		return "–"
	case o.Fault() != nil && o.Fault().Kind() == fault.NotFound:
		return "none"
	case o.Fault() != nil && o.Fault().Kind() == fault.Internal, o.Code() == fault.ValidationError.Name:
		m.t.Errorf("%s, %s: %v: %s", info.Name, p.row, o.Fault(), o.Fault().SuggestedAction)
		return "?"
	case o.Fault() != nil:
		return "no " + m.note(reason(o.Fault()))
	case o.Pending() != nil:
		return m.shown("card", o.Pending().Data)
	}
	row, found := m.rowOf(o, p)
	if !found {
		return "none"
	}
	if scope, ok := row["scope"].(string); ok && strings.HasPrefix(scope, "deals of ") {
		return "own"
	}
	return m.shown("yes", row)
}

// reason is why a call was refused, without names and ids.
func reason(f *fault.Error) string {
	if f.Code == fault.InvalidInput {
		return f.Code.Name + ": " + f.Message
	}
	return f.Code.Name + ": " + f.Code.Meaning
}

// shown is the cell of a row that is shown, completely or masked.
func (m *matrix) shown(complete string, row map[string]any) string {
	hidden := maskedIn(row)
	if len(hidden) == 0 {
		return complete
	}
	return "part " + m.note(strings.Join(hidden, ", ")+" hidden")
}

// rowOf is the row that the probe is about.
func (m *matrix) rowOf(o result.Outcome, p probe) (row map[string]any, found bool) {
	m.t.Helper()
	if o.Page() == nil {
		if err := json.Unmarshal(o.Data(), &row); err != nil {
			m.t.Fatal(err)
		}
		return row, true
	}
	var rows []map[string]any
	if err := json.Unmarshal(o.Data(), &rows); err != nil {
		m.t.Fatal(err)
	}
	for _, row := range rows {
		if slices.Contains(slices.Collect(maps.Values(row)), any(p.find)) {
			return row, true
		}
	}
	return nil, false
}

// note is the letter of a footnote.
func (m *matrix) note(text string) string {
	i := slices.Index(m.notes, text)
	if i < 0 {
		i, m.notes = len(m.notes), append(m.notes, text)
	}
	return fmt.Sprintf("(%c)", 'a'+i)
}

func (m *matrix) footnotes() {
	m.page.WriteString("\n")
	for i, text := range m.notes {
		fmt.Fprintf(m.page, "- (%c) %s\n", 'a'+i, text)
	}
}

// maskShape matches the value of a masked field.
var maskShape = regexp.MustCompile(`^(\*\*\* \(Hidden\)|\*\*\*-\d{4}|.\*\*\*@.+)$`)

// maskedIn lists the masked fields of a row, nested ones included.
func maskedIn(row map[string]any) (names []string) {
	for name, value := range row {
		switch v := value.(type) {
		case string:
			if maskShape.MatchString(v) {
				names = append(names, name)
			}
		case map[string]any:
			names = append(names, maskedIn(v)...)
		}
	}
	slices.Sort(names)
	return names
}

// mail is the address of someone of the company.
func mail(name string) string { return name + "@" + company.Domain }

const noUUID = "00000000-0000-4000-8000-000000000000"

// probesOf are the calls of the matrix, by tool.
func probesOf(c *company.Company) map[string][]probe {
	all := map[string][]probe{}
	for _, probes := range []map[string][]probe{peopleProbes(c), moneyProbes(c), salesProbes(c), supportProbes(), taskProbes(), codeProbes()} {
		maps.Copy(all, probes)
	}
	return all
}

// peopleProbes asks about people in every relation to the asker.
func peopleProbes(c *company.Company) map[string][]probe {
	inputs := map[string]func(e company.Employee) map[string]any{
		"get_employee": func(e company.Employee) map[string]any { return map[string]any{"employee_id": e.ID} },
		"get_time_off_balance": func(e company.Employee) map[string]any {
			return map[string]any{"employee_id": e.ID, "fiscal_year": 2026}
		},
		"get_performance_reviews": func(e company.Employee) map[string]any { return map[string]any{"employee_id": e.ID} },
		"get_org_chart": func(e company.Employee) map[string]any {
			return map[string]any{"root_employee_id": e.ID, "max_depth": 1}
		},
		"delete_employee": func(e company.Employee) map[string]any { return map[string]any{"employee_id": e.ID} },
		"update_salary": func(e company.Employee) map[string]any {
			return map[string]any{"employee_id": e.ID, "new_salary": 123_457}
		},
		"list_employees": func(e company.Employee) map[string]any {
			if e.ID == noUUID {
				return map[string]any{"manager_id": e.ID}
			}
			return map[string]any{"name": e.Name()}
		},
	}
	unknown := company.Employee{ID: noUUID}
	person := func(email string) company.Employee { e, _ := c.ByEmail(mail(email)); return e }
	all := map[string][]probe{}
	for name, input := range inputs {
		for _, r := range []struct {
			row, as string
			about   company.Employee
		}{
			{"oneself", "nina.p", person("nina.p")},
			{"a direct report", "nina.p", person("marcus.j")},
			{"someone further below", "alex.turner", person("marcus.j")},
			{"someone above", "nina.p", person("alex.turner")},
			{"someone elsewhere", "nina.p", person("frank")},
			{"an unknown id", "nina.p", unknown},
		} {
			all[name] = append(all[name], probe{r.row, mail(r.as), input(r.about), r.about.ID})
		}
	}
	return all
}

func moneyProbes(c *company.Company) map[string][]probe {
	ids := map[string]string{}
	for i := range c.Finance().Invoices {
		ids[i.Number] = i.ID
	}
	budget := func(row, department string) probe {
		return probe{row, mail("bob"), map[string]any{"department": department, "fiscal_year": 2026}, department}
	}
	yearly := func(row, department string) probe {
		return probe{row, mail("bob"), map[string]any{"department": department, "year": 2026}, ""}
	}
	invoice := func(row, id string) probe { return probe{row, mail("bob"), map[string]any{"invoice_id": id}, ""} }
	numbered := func(row, field, number string) probe {
		return probe{row, mail("bob"), map[string]any{field: number}, number}
	}
	claimed := func(row, name, number string) probe {
		return probe{row, mail("bob"), map[string]any{"employee": name}, number}
	}
	return map[string][]probe{
		"list_expense_reports": {claimed("one's own", "Bob Martinez", "EXP-2026-007"), claimed("someone else's", "Nina Patel", "EXP-2026-001"), claimed("an unknown name", "Zaphod", "EXP-1999-001")},
		"get_budget":           {yearly("any", "Engineering"), yearly("submitted by the asker", "Finance"), yearly("an unknown department", "Astronomy")},
		"list_budgets":         {budget("any", "Engineering"), budget("submitted by the asker", "Finance"), budget("an unknown department", "Astronomy")},
		"list_invoices":        {numbered("any", "invoice_number", "INV-2025-004"), numbered("an unknown number", "invoice_number", "INV-1999-001")},
		"get_expense_report":   {numbered("one's own", "report_number", "EXP-2026-007"), numbered("someone else's", "report_number", "EXP-2026-001"), numbered("an unknown number", "report_number", "EXP-1999-001")},
		"delete_invoice":       {invoice("pending", ids["INV-2025-004"]), invoice("approved", ids["INV-2025-003"]), invoice("an unknown id", noUUID)},
		"approve_budget": {
			budget("submitted by someone else", "Marketing"), budget("submitted by the asker", "Finance"),
			budget("approved before", "Engineering"), budget("an unknown department", "Astronomy"),
		},
	}
}

func salesProbes(c *company.Company) map[string][]probe {
	customers, deals := map[string]string{}, map[string]company.Deal{}
	for x := range c.Sales().Customers {
		customers[x.Company] = x.ID
	}
	for d := range c.Sales().Deals {
		deals[d.Name] = d
	}
	const nowhere = "65a1c0000000000000009999"
	customer := func(row, as, name string) probe {
		id := customers[name]
		if name == "" {
			id = nowhere
		}
		return probe{row, mail(as), map[string]any{"customer_id": id}, ""}
	}
	listed := func(row, as, name string) probe {
		return probe{row, mail(as), map[string]any{"customer_id": deals[name].CustomerID}, deals[name].ID}
	}
	onClose := func(row, as, id string) probe {
		return probe{row, mail(as), map[string]any{"deal_id": id, "outcome": "won"}, ""}
	}
	return map[string][]probe{
		"get_customer": {
			customer("one's own", "ryan.garcia", "Acme Corporation"), customer("a report's", "ryan.garcia", "TechStart Inc"),
			customer("someone else's", "amanda.white", "Acme Corporation"), customer("an unknown id", "ryan.garcia", ""),
		},
		"list_customers": {{"one's own", mail("ryan.garcia"), map[string]any{"name": "Acme Corporation"}, customers["Acme Corporation"]}, {"a report's", mail("ryan.garcia"), map[string]any{"name": "TechStart Inc"}, customers["TechStart Inc"]}, {"someone else's", mail("amanda.white"), map[string]any{"name": "Acme Corporation"}, customers["Acme Corporation"]}},
		"list_deals": {
			listed("one's own", "ryan.garcia", "Manufacturing Starter"), listed("a report's", "ryan.garcia", "HealthCare Pilot"),
			listed("someone else's", "amanda.white", "Manufacturing Starter"),
			{"an unknown customer", mail("ryan.garcia"), map[string]any{"customer_id": nowhere}, ""},
		},
		"get_pipeline": {{"a quarter", mail("ryan.garcia"), map[string]any{"quarter": "2026-Q4"}, ""}},
		"delete_customer": {
			customer("one's own, no open deals", "ryan.garcia", "Acme Corporation"), customer("with open deals", "ryan.garcia", "TechStart Inc"),
			customer("someone else's", "amanda.white", "Acme Corporation"), customer("an unknown id", "ryan.garcia", ""),
		},
		"close_deal": {
			onClose("one's own", "ryan.garcia", deals["Manufacturing Starter"].ID), onClose("someone else's", "amanda.white", deals["Manufacturing Starter"].ID),
			onClose("closed before", "ryan.garcia", deals["Acme Renewal"].ID), onClose("an unknown id", "ryan.garcia", nowhere),
		},
	}
}

func supportProbes() map[string][]probe {
	all := map[string]any{"query": "*"}
	onClose := func(row, id string) probe {
		return probe{row, mail("dan"), map[string]any{"ticket_id": id, "resolution": "The clock of the phone was wrong."}, ""}
	}
	article := func(row, id string) probe {
		return probe{row, mail("dan"), map[string]any{"article_id": id}, ""}
	}
	return map[string][]probe{
		"search_tickets":        {{"any", mail("dan"), all, "TICK-004"}, {"an unknown customer", mail("dan"), map[string]any{"query": "*", "customer_id": "nobody"}, ""}},
		"search_knowledge_base": {{"published", mail("dan"), all, "KB-001"}, {"a draft", mail("dan"), all, "KB-011"}, {"archived", mail("dan"), all, "KB-012"}},
		"get_knowledge_article": {article("published", "KB-001"), article("a draft", "KB-011"), article("archived", "KB-012"), article("an unknown id", "KB-999")},
		"close_ticket":          {onClose("open", "TICK-004"), onClose("closed before", "TICK-008"), onClose("an unknown id", "TICK-999")},
	}
}

// taskProbes asks about a workspace that Nina shares and Bob does not.
func taskProbes() map[string][]probe {
	probes := map[string][]probe{"list_projects": {{"one's own", "nina.p@" + company.Domain, map[string]any{}, "Platform"}, {"someone else's", mail("bob"), map[string]any{}, "Platform"}}}
	ask := func(name, find string, in map[string]any) {
		in["workspace_path"] = "Platform"
		probes[name] = []probe{{"in a workspace of theirs", "nina.p@" + company.Domain, in, find}, {"in someone else's", mail("bob"), in, find}}
	}
	task, entity := map[string]any{"task_id": 12}, map[string]any{"entity_id": 1}
	for _, name := range []string{"get_task", "get_task_tree"} {
		ask(name, "", maps.Clone(task))
	}
	ask("get_entity", "", maps.Clone(entity))
	ask("delete_entity", "", map[string]any{"entity_id": 3})
	ask("undelete_entity", "", map[string]any{"entity_id": 3})
	for _, name := range []string{"get_project_info", "get_usage_stats", "audit_workspace_integrity"} {
		ask(name, "", map[string]any{})
	}
	ask("create_task", "", map[string]any{"title": "A new task"})
	ask("update_task", "", map[string]any{"task_id": 12, "tags": "page"})
	ask("delete_task", "", map[string]any{"task_id": 37})
	ask("cleanup_deleted_tasks", "", map[string]any{"days": 0})
	ask("undelete_task", "", map[string]any{"task_id": 37})
	ask("list_tasks", "Release 2.0", map[string]any{})
	ask("search_tasks", "Release 2.0", map[string]any{"search_term": "release"})
	ask("create_entity", "", map[string]any{"entity_type": "other", "name": "A thing"})
	ask("update_entity", "", map[string]any{"entity_id": 1, "name": "Another name"})
	ask("list_entities", "The configuration", map[string]any{})
	ask("search_entities", "The configuration", map[string]any{"search_term": "config"})
	ask("link_entity_to_task", "", map[string]any{"task_id": 8, "entity_id": 2})
	ask("unlink_entity_from_task", "", map[string]any{"task_id": 4, "entity_id": 1})
	ask("get_task_entities", "Rows of the page", maps.Clone(task))
	ask("get_entity_tasks", "Read the limits from the file", maps.Clone(entity))
	ask("set_project_name", "", map[string]any{"friendly_name": "Platform"})
	return probes
}

func codeProbes() map[string][]probe {
	search := func(row string, in map[string]any, found string) probe { return probe{row, mail("bob"), in, found} }
	return map[string][]probe{
		"search_code": {search("a repository for everyone", map[string]any{"query": "verify token"}, "tokens/verify.py"), search("an unknown repository", map[string]any{"query": "verify", "repository": "none"}, "")},
		"get_file_lines": {
			search("a repository for everyone", map[string]any{"repository": "sample", "file_path": "tokens/verify.py"}, ""),
			search("an unknown file", map[string]any{"repository": "sample", "file_path": "../verify.py"}, ""),
		},
		"list_repositories": {search("a repository for everyone", map[string]any{}, "sample"), search("an unknown name", map[string]any{"name": "none"}, "none")},
	}
}
