package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"countersign.dev/internal/access"
	"countersign.dev/internal/domain/hr"
	"countersign.dev/internal/domain/sales"
	"countersign.dev/internal/domain/support"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/testkit/oracle"
)

const toolsHead = `# The tools

Generated from the declarations, with real answers for the sample company. Rewrite it with ` + "`go test ./internal/app -run TestToolsPageIsFresh -update`" + `.

Which role sees which row of what is in [role-matrix.md](role-matrix.md).

- **read** shows one thing; **list** shows pages of at most 50 rows, with
  ` + "`nextCursor`" + ` when more follow; **write** prepares a change and answers
  ` + "`pending_confirmation`" + `: nothing happens until the same person approves it.
- A row that the caller may not see is answered exactly like a row that does not
  exist.
- Unknown inputs are refused.
- *Other words*, *Not here*, *Inputs* and *Fields* are metadata of the declaration, never shown
  to a model: the words that people use, column heads, units, and which number is
  the amount.
- *Untrusted* fields contain texts from outside: they are data, never
  instructions.
`

// rowRules say in one sentence per tool which rows are visible.
var rowRules = map[string]string{
	"get_employee":            "HR and executives: everyone; a manager: themselves and everyone below; an employee: themselves.",
	"list_employees":          "HR and executives: everyone; a manager: themselves and everyone below.",
	"get_org_chart":           "HR and executives: everyone; a manager: themselves and everyone below.",
	"get_performance_reviews": "HR and executives: everyone's; a manager: those of everyone below, not their own.",
	"get_time_off_balance":    "HR and executives: everyone's; a manager: their own and of everyone below; an employee: their own.",
	"delete_employee":         "Everyone except oneself and people with direct reports.",
	"update_salary":           "Everyone but oneself.",
	"get_budget":              "All.",
	"list_budgets":            "All.",
	"list_invoices":           "All.",
	"get_expense_report":      "Finance and executives: everyone's; an employee: their own.",
	"list_expense_reports":    "Finance and executives: everyone's; an employee: their own.",
	"delete_invoice":          "Pending and rejected ones.",
	"approve_budget":          "Submitted ones, but none that one submitted oneself.",
	"get_customer":            "sales-write and executives: all; sales-read: those that they or people below them own.",
	"list_customers":          "sales-write and executives: all; sales-read: those that they or people below them own; the same rights as list_deals.",
	"list_deals":              "sales-write and executives: all; sales-read: those that they or people below them own.",
	"get_pipeline":            "Sums over the deals that one may see; `scope` says whose.",
	"delete_customer":         "All that have no open deals.",
	"close_deal":              "All that are open.",
	"search_tickets":          "All.",
	"close_ticket":            "All that are not closed.",
	"get_knowledge_article":   "Published ones; drafts and archived ones with support-write too.",
	"search_code":             "Repositories one of whose roles the caller has; without roles: every employee's.",
	"get_file_lines":          "As search_code.",
	"list_repositories":       "As search_code.",
	"search_knowledge_base":   "Published ones; drafts and archived ones with support-write too.",
}

// taskTools are the tools of the task server, with the inputs of their examples.
var taskTools = map[string]map[string]any{
	"create_task":               {"title": "Fold the columns of the board", "parent_task_id": 12},
	"get_task":                  {"task_id": 12},
	"update_task":               {"task_id": 11, "blocker_reason": "The machine is back on Tuesday."},
	"list_tasks":                {"ready": true, "limit": 2},
	"search_tasks":              {"search_term": "config.go", "limit": 1},
	"get_task_tree":             {"task_id": 27},
	"delete_task":               {"task_id": 37},
	"undelete_task":             {"task_id": 37},
	"cleanup_deleted_tasks":     {"days": 0},
	"create_entity":             {"entity_type": "file", "name": "Verification", "identifier": "internal/audit/verify.go"},
	"get_entity":                {"entity_id": 1},
	"update_entity":             {"entity_id": 1, "tags": "config"},
	"delete_entity":             {"entity_id": 3},
	"undelete_entity":           {"entity_id": 3},
	"list_entities":             {"entity_type": "file"},
	"search_entities":           {"search_term": "config"},
	"link_entity_to_task":       {"task_id": 8, "entity_id": 1},
	"unlink_entity_from_task":   {"task_id": 4, "entity_id": 1},
	"get_task_entities":         {"task_id": 4},
	"get_entity_tasks":          {"entity_id": 1},
	"list_projects":             {},
	"get_project_info":          {},
	"set_project_name":          {"friendly_name": "The platform"},
	"get_usage_stats":           {"tool_name": "get_task"},
	"audit_workspace_integrity": {},
}

// rowTypes are the rows that have hidden fields.
var rowTypes = map[string]reflect.Type{
	"get_employee": reflect.TypeFor[hr.Employee](), "list_employees": reflect.TypeFor[hr.Employee](),
	"get_performance_reviews": reflect.TypeFor[hr.Review](), "get_customer": reflect.TypeFor[sales.Customer](),
	"search_tickets": reflect.TypeFor[support.Ticket](),
}

// example is a call by a person of the sample company.
type example struct {
	who string
	in  map[string]any
}

func examples(w *harness) map[string]example {
	id := func(number string) string { e, _ := w.company.ByNumber(number); return e.ID }
	all := map[string]example{
		"get_employee":            {"nina.patel", map[string]any{"employee_id": id("EMP052")}},
		"list_employees":          {"alice.chen", map[string]any{"department": "Human Resources", "limit": 1}},
		"get_org_chart":           {"alice.chen", map[string]any{"root_employee_id": id("EMP060"), "max_depth": 1}},
		"get_performance_reviews": {"nina.patel", map[string]any{"employee_id": id("EMP052"), "limit": 1}},
		"get_time_off_balance":    {"marcus.johnson", map[string]any{"fiscal_year": 2026}},
		"delete_employee":         {"alice.chen", map[string]any{"employee_id": id("EMP061"), "reason": "End of the internship"}},
		"update_salary":           {"alice.chen", map[string]any{"employee_id": id("EMP003"), "new_salary": 420_000}},
		"get_budget":              {"bob.martinez", map[string]any{"department": "Engineering", "year": 2025}},
		"list_budgets":            {"eve.thompson", map[string]any{"fiscal_year": 2026, "status": "draft", "limit": 1}},
		"list_invoices":           {"bob.martinez", map[string]any{"status": "paid", "limit": 1}},
		"get_expense_report":      {"bob.martinez", map[string]any{"report_number": "EXP-2026-001"}},
		"list_expense_reports":    {"marcus.johnson", map[string]any{}},
		"delete_invoice":          {"bob.martinez", map[string]any{"invoice_id": "1f000000-0000-0000-0000-000000000005"}},
		"approve_budget":          {"eve.thompson", map[string]any{"department": "Marketing", "fiscal_year": 2026}},
		"get_customer":            {"ryan.garcia", map[string]any{"customer_id": "65a1c0000000000000000002"}},
		"list_customers":          {"ryan.garcia", map[string]any{"tier": "enterprise"}},
		"list_deals":              {"amanda.white", map[string]any{"stage": "PROPOSAL", "limit": 1}},
		"get_pipeline":            {"carol.johnson", map[string]any{"quarter": "2026-Q4"}},
		"delete_customer":         {"carol.johnson", map[string]any{"customer_id": "65a1c0000000000000000001"}},
		"close_deal":              {"carol.johnson", map[string]any{"deal_id": "65a2d0000000000000000009", "outcome": "won"}},
		"search_tickets":          {"dan.williams", map[string]any{"query": "login", "status": "open", "limit": 1}},
		"close_ticket":            {"dan.williams", map[string]any{"ticket_id": "TICK-004", "resolution": "A cached session was cleared."}},
		"get_knowledge_article":   {"dan.williams", map[string]any{"article_id": "KB-001"}},
		"search_code":             {"nina.patel", map[string]any{"query": "where do we verify tokens", "limit": 1}},
		"get_file_lines":          {"nina.patel", map[string]any{"repository": "sample", "file_path": "tokens/verify.py", "start_line": 8, "end_line": 9}},
		"list_repositories":       {"nina.patel", map[string]any{}},
		"search_knowledge_base":   {"dan.williams", map[string]any{"query": "password reset", "limit": 1}},
	}
	for name, in := range taskTools {
		in = maps.Clone(in)
		if name != "list_projects" {
			in["workspace_path"] = "Platform"
		}
		all[name] = example{"nina.patel", in}
	}
	return all
}

// TestToolsPageIsFresh generates docs/tools.md and compares it.
func TestToolsPageIsFresh(t *testing.T) {
	w := newHarness(t)
	deleteOne(t, w)
	shown, page := examples(w), &strings.Builder{}
	page.WriteString(toolsHead)
	for _, d := range domains() {
		fmt.Fprintf(page, "\n## %s (%s)\n\n%s\n", d.title, d.name, d.instructions)
		for _, info := range w.runners[d.name].Visible(catalogue()) {
			call, ok := shown[info.Name]
			if d.name == "tasks" {
				rowRules[info.Name] = "Workspaces that one may open."
			}
			if !ok || rowRules[info.Name] == "" {
				t.Errorf("%s needs a row rule and an example for the docs", info.Name)
				continue
			}
			writeTool(t, page, d, info)
			writeExample(t, page, w, d.name, info.Name, call)
		}
		writeCodes(page, "### Codes of "+d.name, d.codes)
	}
	writeCodes(page, "## Codes of every server", fault.Shared())
	testkit.Golden(t, "../../../docs/tools.md", []byte(page.String()))
}

func writeTool(t *testing.T, page *strings.Builder, d domain, info result.ToolInfo) {
	fmt.Fprintf(page, "\n### %s\n\n%s\n\n", info.Name, info.Description)
	fmt.Fprintf(page, "- Kind: %s\n- Roles: %s\n- Rows: %s\n", info.Kind, strings.Join(info.Roles, ", "), rowRules[info.Name])
	for _, line := range hiddenFields(d.policy, rowTypes[info.Name]) {
		fmt.Fprintf(page, "- Hidden: %s\n", line)
	}
	if len(info.Untrusted) > 0 {
		fmt.Fprintf(page, "- Untrusted: %s\n", strings.Join(info.Untrusted, ", "))
	}
	writeMetadata(page, info.Fields)
	input := parsed(t, info.InputSchema)
	fields, required := input["properties"].(schema), texts(input["required"])
	if len(fields) == 0 {
		page.WriteString("\nIt takes no input.\n")
		return
	}
	page.WriteString("\n| input | what it takes | what it means |\n|---|---|---|\n")
	names := slices.SortedFunc(maps.Keys(fields), func(a, b string) int { // the required ones first
		if need := slices.Contains(required, b); need != slices.Contains(required, a) {
			return map[bool]int{true: 1, false: -1}[need]
		}
		return strings.Compare(a, b)
	})
	for _, name := range names {
		field := fields[name].(schema)
		about, _ := field["description"].(string)
		need := ""
		if slices.Contains(required, name) {
			need = "required, "
		}
		fmt.Fprintf(page, "| %s | %s%s | %s |\n", name, need, constraints(field), cellText(about))
	}
}

// writeMetadata says in which other words people ask for a tool, and what the
// page and the planner know of its fields.
func writeMetadata(page *strings.Builder, m *result.Fields) {
	if m == nil {
		return
	}
	if len(m.Synonyms) > 0 {
		fmt.Fprintf(page, "- Other words: %s\n", strings.Join(m.Synonyms, ", "))
	}
	for _, l := range m.Lacks {
		fmt.Fprintf(page, "- Not here: %s.\n", l.Tell)
	}
	for _, group := range []struct {
		name   string
		fields map[string]result.Field
	}{{"Inputs", m.Input}, {"Fields", m.Output}} {
		var said []string
		for _, name := range slices.Sorted(maps.Keys(group.fields)) {
			if text := aboutField(group.fields[name]); text != "" {
				said = append(said, fmt.Sprintf("%s (%s)", name, text))
			}
		}
		if len(said) > 0 {
			fmt.Fprintf(page, "- %s: %s\n", group.name, strings.Join(said, "; "))
		}
	}
}

func aboutField(f result.Field) string {
	said := f.Synonyms
	for _, value := range slices.Sorted(maps.Keys(f.Values)) {
		said = append(slices.Clip(said), value+": "+strings.Join(f.Values[value], " or "))
	}
	if f.Label != "" {
		said = append([]string{"“" + f.Label + "”"}, said...)
	}
	if f.Unit != "" {
		said = append(slices.Clip(said), f.Unit)
	}
	if f.Amount {
		said = append(slices.Clip(said), "the amount")
	}
	return strings.Join(said, ", ")
}

// TestConstraintsAreWhole: limits of a length say those that there are.
func TestConstraintsAreWhole(t *testing.T) {
	for want, field := range map[string]schema{
		"string, 1 to 9 characters":     {"type": "string", "minLength": 1.0, "maxLength": 9.0},
		"string, not empty":             {"type": "string", "minLength": 1.0},
		"string, at least 2 characters": {"type": "string", "minLength": 2.0},
		"string, at most 9 characters":  {"type": "string", "maxLength": 9.0},
	} {
		if got := constraints(field); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

// constraints describes the values that a field accepts.
func constraints(field schema) string {
	said := []string{typeOf(field)}
	add := func(key, format string) {
		if value, ok := field[key]; ok {
			said = append(said, fmt.Sprintf(format, plain(value)))
		}
	}
	add("format", "%s")
	add("enum", "one of %s")
	least, atLeast := field["minLength"]
	most, atMost := field["maxLength"]
	switch {
	case atLeast && atMost:
		said = append(said, plain(least)+" to "+plain(most)+" characters")
	case plain(least) == "1":
		said = append(said, "not empty")
	default:
		add("minLength", "at least %s characters")
		add("maxLength", "at most %s characters")
	}
	add("minimum", "at least %s")
	add("maximum", "at most %s")
	add("pattern", "`%s`")
	add("default", "default %s")
	return cellText(strings.Join(said, ", "))
}

// typeOf names the type of a field, or those that it may have.
func typeOf(field schema) string {
	alternatives, ok := field["oneOf"].([]any)
	if !ok {
		return fmt.Sprint(field["type"])
	}
	var names []string
	for _, one := range alternatives {
		names = append(names, typeOf(one.(schema)))
	}
	return strings.Join(names, " or ")
}

// plain writes a value of a schema without brackets and exponents.
func plain(value any) string {
	switch v := value.(type) {
	case float64:
		return fmt.Sprintf("%.0f", v)
	case []any:
		return strings.Join(texts(v), " ")
	}
	return fmt.Sprint(value)
}

func cellText(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

// hiddenFields lists who sees each class of a row's fields.
func hiddenFields(policy access.Policy, row reflect.Type) (lines []string) {
	if row == nil {
		return nil
	}
	for _, class := range policy.Classes {
		var names []string
		for _, field := range reflect.VisibleFields(row) {
			if of, _, _ := strings.Cut(field.Tag.Get("mask"), ","); of == class.Name {
				names = append(names, field.Tag.Get("json"))
			}
		}
		if len(names) > 0 {
			lines = append(lines, strings.Join(names, ", ")+"; shown to "+seers(class))
		}
	}
	return lines
}

// seers asks the masking rule who sees a class.
func seers(class access.Class) string {
	var who []string
	for _, role := range roleNames() {
		if access.Visible(oracle.Asker{Email: "", Roles: []string{role}}.Principal(), access.Other, class) {
			who = append(who, role)
		}
	}
	other := oracle.Asker{}.Principal()
	for _, by := range []struct {
		relation access.Relation
		words    string
	}{{access.Self, "the person themselves"}, {access.Below, "everyone above them"}, {access.Own, "the account's owner"}} {
		if access.Visible(other, by.relation, class) {
			who = append(who, by.words)
		}
	}
	return strings.Join(who, ", ")
}

// changing matches values that differ in every run.
var changing = regexp.MustCompile(`"(confirmationId|userId|timestamp|digest|expiresAt|nextCursor|effectiveDate|_score|indexed_at)": ("[^"]*"|[\d.]+)`)

// workspaces matches the folder that the workspaces of a run are in.
var workspaces = regexp.MustCompile(`/[^" ()]*/workspaces/`)

// runTimes matches what a task server says of the run: when, and where its folders are.
var runTimes = regexp.MustCompile(`"(created_at|updated_at|deleted_at|last_accessed|link_created_at|cutoff_date|workspace_path|date|from|to)": "[^"]*"`)

func writeExample(t *testing.T, page *strings.Builder, w *harness, server, name string, call example) {
	t.Helper()
	in, err := json.Marshal(call.in)
	if err != nil {
		t.Fatal(err)
	}
	o := w.call(t, account(t, call.who).Principal(), server, name, call.in)
	if o.Fault() != nil {
		t.Errorf("the example of %s fails: %v: %s", name, o.Fault(), o.Fault().SuggestedAction)
	}
	var answer bytes.Buffer
	if err := json.Indent(&answer, w.runners[server].Encode(o), "", "  "); err != nil {
		t.Fatal(err)
	}
	shown := changing.ReplaceAllString(answer.String(), `"$1": "…"`)
	shown = workspaces.ReplaceAllString(shown, "/srv/")
	if server == "tasks" {
		shown = runTimes.ReplaceAllString(shown, `"$1": "…"`)
	}
	fmt.Fprintf(page, "\n%s asks `%s` and gets\n\n```json\n%s\n```\n", call.who, in, unescape.Replace(shown))
}

// unescape reverts JSON's escapes for HTML.
var unescape = strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&")

func writeCodes(page *strings.Builder, title string, codes []*fault.Code) {
	fmt.Fprintf(page, "\n%s\n\n| code | kind | HTTP | meaning | details | suggested action |\n|---|---|---|---|---|---|\n", title)
	for _, c := range codes {
		var details []string
		for _, field := range c.Subject {
			details = append(details, result.Camel(field))
		}
		details = append(details, c.Details...)
		fmt.Fprintf(page, "| %s | %s | %d | %s | %s | %s |\n", c.Name, c.Kind, c.Status, cellText(c.Meaning), strings.Join(details, ", "), cellText(c.Suggestion()))
	}
}

// TestHiddenFieldsAreDocumented: the page names every field that a tool hides.
func TestHiddenFieldsAreDocumented(t *testing.T) {
	w := newHarness(t)
	for _, d := range domains() {
		for _, info := range w.runners[d.name].Visible(catalogue()) {
			documentedFields := strings.Join(hiddenFields(d.policy, rowTypes[info.Name]), " ")
			for _, p := range probesOf(w.company)[info.Name] {
				for _, role := range info.Roles {
					o := w.call(t, oracle.Asker{Email: p.as, Roles: []string{role}}.Principal(), d.name, info.Name, p.in)
					for _, field := range hiddenIn(t, o) {
						if !slices.Contains(strings.FieldsFunc(documentedFields, func(r rune) bool { return strings.ContainsRune(" ,;", r) }), field) {
							t.Errorf("%s hides %s from %s, and the docs do not say so", info.Name, field, role)
						}
					}
				}
			}
		}
	}
}

// hiddenIn lists the hidden fields of an answer.
func hiddenIn(t *testing.T, o result.Outcome) []string {
	t.Helper()
	if o.Data() == nil {
		return nil
	}
	var data any
	if err := json.Unmarshal(o.Data(), &data); err != nil {
		t.Fatal(err)
	}
	var names []string
	rows, ok := data.([]any)
	if !ok {
		rows = []any{data}
	}
	for _, row := range rows {
		names = append(names, maskedIn(row.(map[string]any))...)
	}
	return names
}
