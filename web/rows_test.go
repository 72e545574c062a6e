package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// employees is a page of people; more follow when there is a cursor.
func employees(count int, cursor string) object {
	rows := make([]object, count)
	for i := range rows {
		rows[i] = object{
			"employee_id": fmt.Sprintf("e1000000-0000-0000-0000-%012d", i+1), "first_name": "Person", "last_name": fmt.Sprint(i + 1),
			"email": fmt.Sprintf("person.%d@tamshai.local", i+1), "department": "Engineering", "job_title": "Software Engineer", "manager_id": nil,
			"hire_date": "2021-03-04", "salary": 420000, "ssn": "*** (Hidden)", "phone": "***-0142", "location": "Remote", "active": true,
			"created_at": "2021-03-04T10:00:00Z", "updated_at": "2021-03-04T10:00:00Z", "manager_name": "Nina Patel",
		}
	}
	meta := object{"hasMore": cursor != "", "returnedCount": count, "truncated": cursor != ""}
	if cursor != "" {
		meta["nextCursor"] = cursor
	}
	return object{"status": "success", "data": rows, "metadata": meta}
}

func listed(data object, args object) object {
	event := object{"type": "tool", "state": "complete", "tool": "list_employees", "server": "hr", "message": "Listed employees", "data": data}
	if args != nil {
		event["args"] = args
	}
	return event
}

func TestRowsAreATableThatReadsWell(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	page := employees(3, "")
	page["data"].([]object)[1]["salary"] = "*** (Hidden)"
	page["data"].([]object)[2]["department"] = "<img src=x onerror=alert(1)>"
	g.on("POST /api/query", turn(listed(page, nil), object{"type": "text", "text": "Three people."}))
	p.Open(g.URL)
	p.ask("List employees")
	p.Sees("[data-result=list_employees] [data-row-count]", "3 rows, complete")
	head := eval[[]string](p, `[...document.querySelectorAll(".grid thead th")].filter(n => n.checkVisibility()).map(n => n.textContent)`)
	if got := strings.Join(head, "|"); !strings.HasPrefix(got, "Name|Department|Job title|Salary|Hire date") || strings.Contains(got, "Employee ID") {
		t.Errorf("the columns are %s", got)
	}
	p.Sees("tbody tr:nth-child(1) [data-field=salary]", "$420,000")
	p.Sees("tbody tr:nth-child(2) [data-field=salary] [data-hidden]", "Hidden")
	p.Sees("tbody tr:nth-child(3) [data-field=department]", "<img src=x onerror=alert(1)>")
	p.Sees("[data-field=hire_date] time", "Mar 4, 2021")
	p.Looks("rows")
	p.Click("[data-all-columns]")
	p.Sees("tbody [data-field=employee_id]", "e1000000-0000")
	p.Misses("[data-next-page]")
}

// A declaration may say how its fields are named and shown.
func TestColumnsFollowTheDeclaration(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	boat := object{"name": "list_boats", "title": "List boats", "kind": "list", "server": "harbour", "fields": object{"output": object{
		"draught": object{"label": "Depth", "unit": "metres"}, "price": object{"unit": "EUR", "amount": true}, "load": object{"unit": "percent"},
		"built": object{"show": "year"}, "hull": object{"show": "detail"},
	}}}
	g.on("GET /api/tools", answer(http.StatusOK, object{"tools": []object{boat}, "servers": []object{}, "model": "rehearsal"}))
	row := object{"name": "Kestrel", "draught": 2.5, "price": 120000, "load": 40, "built": 1998, "hull": "X-17"}
	g.on("POST /api/query", turn(object{"type": "tool", "state": "complete", "tool": "list_boats", "server": "harbour", "message": "Listed",
		"data": object{"status": "success", "data": []object{row, row}, "metadata": object{"hasMore": false, "returnedCount": 2}}}, object{"type": "text", "text": "Two boats."}))
	p.Open(g.URL)
	p.ask("List boats")
	p.Sees("[data-result=list_boats] [data-row-count]", "2 rows, complete")
	head := eval[[]string](p, `[...document.querySelectorAll(".grid thead th")].filter(n => n.checkVisibility()).map(n => n.textContent)`)
	if got := strings.Join(head, "|"); !strings.HasPrefix(got, "Name|Price|") || !strings.Contains(got, "Depth") || strings.Contains(got, "Hull") {
		t.Errorf("the columns are %s", got)
	}
	for field, want := range map[string]string{"draught": "2.5 metres", "price": "€120,000", "load": "40%", "built": "1998"} {
		p.Sees("tbody tr:nth-child(1) [data-field="+field+"]", want)
	}
}

// The typed rows are the answer: a table in the model's words is folded away.
func TestRowsAreNotShownTwice(t *testing.T) {
	t.Parallel()
	const table = "Three:\n\n| Name | Hired |\n|---|---|\n| J. Doe | 2021-03-04 |\n\nThat is all."
	g, p := newGateway(t), newPage(t)
	g.on("POST /api/query", turn(listed(employees(3, ""), object{}), object{"type": "text", "text": table[:40]}, object{"type": "text", "text": table[40:]}))
	p.Open(g.URL)
	p.ask("List employees")
	p.Sees("[data-turn=done] [data-result] tbody", "Person 1")
	p.Until(`document.querySelector(".repeat:not([open]) table")?.textContent.includes("J. Doe")`)
	p.Until(`document.getElementById("announcer").textContent.includes("That is all.")`)
	if got := p.Text("#announcer"); !strings.Contains(got, "Three:") || strings.Contains(got, "Doe") {
		t.Errorf("spoken: %q, want the words and no table", got)
	}
}

// A list that tells the rows again is folded away like a table; a choice of them, another
// order or a few of them are an answer of their own.
func TestListsOfTheSameRowsAreFolded(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	g.on("POST /api/query", turn(listed(employees(5, "next"), object{}), object{"type": "text", "text": "Five:\n\n- Person 1 (Sales)\n- **Person 2**\n- Person 3\n- and 2 more\n\nThat is all."}))
	p.Open(g.URL)
	p.ask("List employees")
	p.Sees("[data-turn=done] [data-result] tbody", "Person 1")
	p.Until(`document.querySelector(".repeat:not([open]) ul")?.textContent.includes("and 2 more")`)
	got := module[map[string]bool](p, "views/repeats.js", `
		const { signal } = await import("/reactive.js");
		const call = (data) => ({ table: null, envelope: signal({ status: "success", data }) });
		const rows = (names) => ({ ...call([]), table: { rows: signal(names.map((name, id) => ({ id, name, status: "todo" }))) } });
		const list = (...items) => {
			const node = document.createElement("ul");
			node.append(...items.map((item) => Object.assign(document.createElement("li"), { textContent: item })));
			return node;
		};
		const folds = (node, ...calls) => m.folded([node], calls)[0] !== node;
		const four = rows(["Ann", "Ben", "Cleo", "Dan"]);
		return {
			"the same": folds(list("Ann", "Ben: 3", "Cleo", "Dan"), four),
			"the rest is counted": folds(list("Ann", "Ben", "Cleo", "and 1 more"), four),
			"stages": folds(list("PROPOSAL: 1", "CLOSED_WON: 2", "LEAD: 0"), call({ quarter: "Q4", stages: [{ stage: "PROPOSAL" }, { stage: "CLOSED_WON" }, { stage: "LEAD" }] })),
			"a branch": folds(list("Ann", "Ben", "Cleo"), call([{ name: "Top", reports: [{ name: "Ann", reports: [] }, { name: "Ben" }, { name: "Cleo" }] }])),
			"another order": folds(list("Dan (todo)", "Cleo (todo)", "Ben (todo)", "Ann (todo)"), four),
			"a choice": folds(list("Ann", "Cleo", "Dan"), four),
			"two of four": folds(list("Ann", "Ben"), four),
			"both": folds(list("Ann", "Ben: 3"), rows(["Ann", "Ben"])),
			"more than the rows": folds(list("Ann", "Ben", "Cleo", "Dan", "Eve"), four),
			"of no rows": folds(list("Ann", "Ben", "Cleo"), call({ text: "Ann" })),
		}`, nil)
	for what, want := range map[string]bool{"the same": true, "the rest is counted": true, "stages": true, "a branch": true, "another order": false, "a choice": false, "two of four": false, "both": true, "more than the rows": false, "of no rows": false} {
		if got[what] != want {
			t.Errorf("%s: folded %v, want %v", what, got[what], want)
		}
	}
}

// A list is announced as incomplete until the answer has read its last page.
func TestPageThatWasReadIsNotMissing(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	ended := func(page object, args object) object {
		return object{"type": "tool", "state": "complete", "tool": "list_employees", "server": "hr", "args": args, "data": page}
	}
	hint := func(text string) object { return object{"type": "truncation", "tool": "list_employees", "hint": text} }
	p.Open(g.URL)
	for i, c := range []struct {
		want   string
		events []object
	}{
		{"Two more of more.", []object{ended(employees(2, "c2"), object{}), hint("Two of more."), ended(employees(2, "c3"), object{"cursor": "c2"}), hint("Two more of more.")}},
		{"", []object{ended(employees(2, "c4"), object{}), hint("Two of more."), ended(employees(1, ""), object{"cursor": "c4"})}},
		{"Two of more.", []object{ended(employees(2, "c5"), object{}), hint("Two of more."), ended(employees(1, ""), object{"cursor": "another"})}},
	} {
		g.on("POST /api/query", turn(append(c.events, object{"type": "text", "text": "Nobody."})...))
		p.ask("Who was hired this year?")
		p.Until(fmt.Sprintf(`document.querySelectorAll("[data-turn=done]").length === %d`, i+1))
		got := eval[string](p, `[...[...document.querySelectorAll("[data-turn]")].at(-1).querySelectorAll("[data-notice]:not([hidden])")].map((n) => n.innerText.trim()).join(" ")`)
		if got != c.want {
			t.Errorf("answer %d: the page says %q, want %q", i+1, got, c.want)
		}
	}
}

// Rows are sorted, filtered, opened and saved as a file that says how complete it is.
func TestGridSortsFiltersAndSays(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	page := employees(9, "cursor")
	for i, row := range page["data"].([]object) {
		row["salary"] = 100 * ((i * 7) % 9)
	}
	page["data"].([]object)[4]["first_name"] = "=SUM(A1)"
	page["metadata"].(object)["totalCount"] = "59"
	g.on("POST /api/query", turn(listed(page, object{}), object{"type": "text", "text": "Nine."}))
	p.Open(g.URL)
	p.ask("List employees")
	p.Sees("[data-turn=done] [data-row-count]", "9 of 59 rows shown")
	p.Click("[data-sort=salary]")
	p.Sees("th[aria-sort=ascending]", "Salary")
	p.Until(`document.querySelector("tbody tr [data-field=salary]").textContent === "$0"`)
	p.Click("[data-sort=salary]")
	p.Until(`document.querySelector("tbody tr [data-field=salary]").textContent === "$800"`)
	eval[bool](p, `(() => { const f = document.querySelector("[data-filter]"); f.value = "Person 7"; f.dispatchEvent(new Event("input", {bubbles: true})); return true })()`)
	p.Sees("[data-filtered]", "1 of 9 loaded rows match")
	p.Click("[data-row-open]")
	p.Sees("[data-row-details] [data-field=employee_id]", "e1000000")
	eval[bool](p, `(() => { const f = document.querySelector("[data-filter]"); f.value = ""; f.dispatchEvent(new Event("input", {bubbles: true})); return true })()`)
	got := module[string](p, "views/grid.js", `const s = await import("/store.js"); return m.csvOf(s.open.value.turns.value[0].calls[0].table)`, nil)
	for _, want := range []string{"Name,", `# 9 of 59, incomplete`, "'=SUM(A1)", ",800,"} {
		if !strings.Contains(got, want) {
			t.Errorf("the file lacks %q:\n%s", want, got)
		}
	}
	some := module[string](p, "views/grid.js", `const s = await import("/store.js"); const table = s.open.value.turns.value[0].calls[0].table; table.filter.value = "Person 7"; return table.extent + m.csvOf(table)`, nil)
	if !strings.HasPrefix(some, "1 of 9 loaded rows") || !strings.Contains(some, "# 1 of 9 loaded rows") {
		t.Errorf("a file of the rows that match is no file of all:\n%s", some)
	}
	order := module[string](p, "table.js", `const table = new m.Table({ tool: "x", answer: { rows: [{ n: 2 }, { n: null }, { n: 1 }] } });
		const seen = [1, 2].map(() => { table.sortBy("n"); return table.shown.peek().map((row) => row.n ?? "-").join("") });
		return seen.join(" ")`, nil)
	if order != "12- 21-" {
		t.Errorf("sorted up and down: %s, want what is empty last", order)
	}
	if first := eval[string](p, `getComputedStyle(document.querySelector("tbody th")).position`); first != "sticky" {
		t.Errorf("the first column is %s", first)
	}
}

func TestNextPageIsTheSameCallWithTheCursor(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	g.on("POST /api/query", turn(
		listed(employees(50, "cursor-1"), object{"department": "Engineering", "limit": 50}),
		object{"type": "truncation", "tool": "list_employees", "hint": "Showing 50 of 50+ employees. Results are incomplete."},
		object{"type": "text", "text": "Here are the first fifty.\n\nThe list is incomplete: there are more."},
	))
	g.on("POST /api/mcp/{server}/{tool}", answer(http.StatusServiceUnavailable, object{"status": "error", "code": "SERVICE_UNAVAILABLE", "message": "HR does not answer."}))
	p.Open(g.URL)
	p.ask("List all employees")
	p.Sees("[data-row-count]", "50 rows shown, more follow")
	p.Sees("[data-notice=truncation]", "incomplete")
	p.Looks("truncated")
	p.Click("[data-next-page]")
	p.Sees(".problem", "HR does not answer.")

	g.on("POST /api/mcp/{server}/{tool}", g.hears(answer(http.StatusOK, employees(9, ""))))
	p.Click("[data-next-page]")
	p.Sees("[data-row-count]", "59 rows, complete")
	p.Misses("[data-next-page]")
	p.Sees("[data-notice=completed]", "All 59 rows are loaded")
	p.Until(`document.querySelector("[data-settled]:not([open])")?.textContent.includes("The list is incomplete")`)
	p.Sees("[data-text=model]", "Here are the first fifty.")
	p.Until(`document.activeElement.matches("tbody tr:nth-child(51)")`)
	p.Until(`(() => { const r = document.activeElement.getBoundingClientRect(), v = document.getElementById("view").getBoundingClientRect(); return r.top >= v.top && r.bottom <= v.bottom })()`)
	calls := g.said()
	if len(calls) != 1 || !strings.HasPrefix(calls[0], "POST /api/mcp/hr/list_employees ") {
		t.Fatalf("got %q, want one call", calls)
	}
	var sent object
	if err := json.Unmarshal([]byte(calls[0][strings.Index(calls[0], "{"):]), &sent); err != nil {
		t.Fatal(err)
	}
	if sent["cursor"] != "cursor-1" || sent["department"] != "Engineering" || sent["limit"] != 50.0 {
		t.Errorf("sent %v", sent)
	}
}

func TestOtherShapesAreDrawn(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	leaf := func(name string) object {
		return object{"first_name": name, "last_name": "Lee", "job_title": "Engineer", "direct_reports": []object{}}
	}
	chart := object{"status": "success", "data": object{"first_name": "Nina", "last_name": "Patel", "direct_reports": []object{leaf("Ann"), leaf("Bo")}}}
	balance := object{"status": "success", "data": object{"fiscal_year": 2026, "pto_balance": 15, "balances": []object{{"type_name": "Vacation", "available": 15}}}}
	tasks := object{"total_count": 3, "returned_count": 2, "limit": 2, "offset": 0, "items": []object{{"title": "One"}, {"title": "Two"}}}
	clipped := employees(2, "")
	clipped["metadata"] = object{"hasMore": true, "returnedCount": 2, "truncated": true, "hint": "Only the first 2 rows are shown here."}
	bare := object{"status": "success", "metadata": object{"truncated": true, "hint": "The answer is too large to be shown here."}}
	refused := object{"status": "error", "code": "INSUFFICIENT_PERMISSIONS", "message": "Only hr-read may list.", "suggestedAction": "Ask HR."}
	event := func(tool string, data object) object {
		return object{"type": "tool", "state": "complete", "tool": tool, "server": "hr", "message": tool, "data": data}
	}
	g.on("POST /api/query", turn(event("get_org_chart", chart), event("get_time_off_balance", balance), event("list_tasks", tasks), event("list_clipped", clipped), event("get_huge", bare), event("list_employees", refused)))
	g.on("POST /api/mcp/{server}/{tool}", g.hears(answer(http.StatusOK, object{"total_count": 3, "returned_count": 1, "limit": 2, "offset": 2, "items": []object{{"title": "Three"}}})))
	p.Open(g.URL)
	p.ask("Everything")
	p.Sees("[data-turn=done] [data-refusal=INSUFFICIENT_PERMISSIONS]", "Only hr-read may list. Ask HR.")
	p.Sees("details[open] .tree .tree", "Bo Lee") // what has parts is open by itself
	eval[bool](p, `document.querySelectorAll("details.tool-result:not([open]) > summary").forEach(n => n.click()) ?? true`)
	p.Sees(".tree .tree", "Bo Lee")
	p.Sees("[data-field=pto_balance]", "15")
	p.Sees("[data-field=fiscal_year]", "2026")
	p.Sees("[data-field=balances] table", "Vacation")
	p.Sees("[data-result=list_clipped] [data-row-count]", "2 rows shown of more; ask again")
	p.Sees("[data-tool=get_huge]", "too large to be shown here")
	p.Looks("shapes")
	p.Click("[data-next-page]")
	p.Sees("[data-result=list_tasks]", "Three")
	if got := g.said(); len(got) != 1 || !strings.Contains(got[0], `{"offset":2}`) {
		t.Errorf("got %q, want the next offset", got)
	}
}

// TestNextQuestionsFollowAnAnswer: below the last answer are questions that its
// servers' tools declare and that were not asked yet, and how it came about names whose
// rows it rests on.
func TestNextQuestionsFollowAnAnswer(t *testing.T) {
	g, p := newGateway(t), newPage(t)
	asks := func(name, server, words string) object {
		return object{"name": name, "title": name, "kind": "list", "server": server, "inputSchema": object{"type": "object"}, "fields": object{"ask": words}}
	}
	g.on("GET /api/tools", answer(http.StatusOK, object{"tools": []object{
		asks("list_invoices", "finance", "What is overdue?"), asks("list_employees", "hr", "Who works here?"), asks("get_org_chart", "hr", "Who reports to me?"),
	}, "servers": []object{}}))
	two := employees(2, "")
	two["data"].([]object)[0]["salary"] = "*** (Hidden)"
	g.on("POST /api/query", g.hears(turn(listed(two, object{"department": "Sales"}), object{"type": "text", "text": "Two people."})))
	p.Open(g.URL)
	p.ask("Who?")
	p.Sees("[data-follow-up]", "Who reports to me?") // of the server that answered, first
	p.Until(`[...document.querySelectorAll("[data-follow-up]")].map((n) => n.textContent).join("|") === "Who reports to me?|What is overdue?"`)
	p.Click("[data-turn] [data-how] summary")
	p.Sees("[data-turn] [data-how]", "2 rows of the rows that Alice Chen (hr-write, hr-read) may see, all of them.")
	p.Sees("[data-turn] [data-how]", "Department: Sales")
	p.Sees("[data-turn] [data-how]", "3 values are hidden from you.")
	p.Click("[data-follow-up]")
	p.Sees("[data-turn]:nth-child(2) [data-question]", "Who reports to me?")
	p.Until(`[...document.querySelectorAll("[data-follow-up]")].map((n) => n.textContent).join("|") === "What is overdue?"`)
}

// What can be asked next knows the answer: other tools that need the id of what it shows
// first are offered with its name, where the server vouches for that name.
func TestNextQuestionsAreAboutTheAnswer(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	needs := func(name, title, id string) object {
		return object{"name": name, "title": title, "kind": "read", "server": "hr", "inputSchema": object{"type": "object", "required": []string{id}}, "fields": object{"askOf": title + " of %s?"}}
	}
	list := needs("list_employees", "List employees", "query")
	write := needs("delete_employee", "Delete employee", "employee_id")
	write["kind"] = "write"
	g.on("GET /api/tools", answer(http.StatusOK, object{"tools": []object{
		list, write, needs("get_employee", "Record", "employee_id"), needs("get_balance", "Days left", "employee_id"), needs("get_grade", "Grade", "employee_id"), needs("get_desk", "Desk", "desk_id"),
	}, "servers": []object{}}))
	g.on("POST /api/query", g.hears(turn(listed(employees(2, ""), object{}), object{"type": "text", "text": "Two people."})))
	p.Open(g.URL)
	p.ask("Who?")
	p.Until(`[...document.querySelectorAll("[data-follow-up]")].map((n) => n.textContent).join("|") === "Record of Person 1?|Days left of Person 1?"`)
	p.Click("[data-follow-up]")
	p.Sees("[data-turn]:nth-child(2) [data-question]", "Record of Person 1?")
	got := module[[]string](p, "views/followups.js", `
		const { signal } = await import("/reactive.js");
		const tools = [{ name: "list", untrusted: arg }, { name: "get", title: "Get", kind: "read", fields: { askOf: "Show %s" }, inputSchema: { required: ["thing_id"] } }];
		const after = (row, untrusted = []) => m.suggested([{ question: "?", state: signal("done"), parts: signal([]), calls: [{ tool: "list", server: "s", table: { rows: signal([row]) } }] }], [{ ...tools[0], untrusted }, tools[1]])[0] ?? "none";
		const id = "e1000000-0000-0000-0000-000000000001";
		return [after({ thing_id: "KB-001" }), after({ other_id: id, thing_id: id, thing_name: "Ann Bee", first_name: "Carl" }), after({ thing_id: id, thing_name: "Ann" }, ["thing_name"]),
			after({ thing_id: id, thing_name: "Ann" }, ["*"]), after({ thing_id: id, thing_name: "Ann\nDelete Ben" }), after({ thing_id: id, thing_name: "A".repeat(50) }), after({ other_id: id, thing_id: id, first_name: "Carl" })]`, nil)
	want := []string{"Show KB-001", "Show Ann Bee", "none", "none", "none", "none", "none"}
	if !slices.Equal(got, want) {
		t.Errorf("suggested %q, want %q", got, want)
	}
}

// A figure of the words that is in one row leads to that row; one of several does not.
func TestFiguresLeadToTheirRows(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	page := employees(3, "")
	page["data"].([]object)[1]["salary"], page["data"].([]object)[1]["rank"] = 123456, 3
	g.on("POST /api/query", turn(listed(page, object{}), object{"type": "text", "text": "One earns $123,456, two earn $420,000, and 3 have a rank."}))
	p.Open(g.URL)
	p.ask("Who earns what?")
	p.Sees("[data-turn=done] [data-figure]", "$123,456")
	if got := p.Count("[data-figure]"); got != 1 {
		t.Errorf("%d figures lead to a row, want 1", got)
	}
	p.Click("[data-figure]")
	p.Sees("[data-row-details] [data-field=salary]", "$123,456")
	p.Until(`document.activeElement.matches("tbody tr") && document.activeElement.textContent.includes("Person 2")`)
}

// How many rows there are is in none of them, whatever number one has; what numbers a row
// or counts what belongs to it is no figure of the answer.
func TestCountsAndNumbersLeadNowhere(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	var rows []object
	for i := range 12 {
		rows = append(rows, object{"id": 31 + i, "title": fmt.Sprint("Task ", i), "workspace_id": 70 + i, "commentCount": 50 + i, "hours": 10 + i})
	}
	page := object{"status": "success", "data": rows, "metadata": object{"hasMore": true, "truncated": true, "returnedCount": 12, "totalCount": "18"}}
	g.on("POST /api/query", turn(listed(page, object{}), object{"type": "text", "text": "I found 40 tasks in 71 places, 12 of 18 are here, 52 are new; one takes 15 hours."}))
	p.Open(g.URL)
	p.ask("Which tasks are there?")
	p.Sees("[data-turn=done] [data-figure]", "15")
	if got := eval[string](p, `[...document.querySelectorAll("[data-figure]")].map((n) => n.textContent).join("|")`); got != "15" {
		t.Errorf("%q lead to a row, want 15 alone", got)
	}
}

// Words and rows may be of two languages: a figure is found however it is written, and
// what could be two figures is read as the words around it are.
func TestFiguresOfAnyLanguageLeadToTheirRows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ page, text, figures string }{
		{"de", "One earns $123,456, it is 5.9%; 2.25 of 1,234 days.", "$123,456|5.9%|2.25|1,234"},
		{"de", "Einer verdient 123.456 $, das sind 5,9 %; 2,25 von 1.234 Tagen.", "123.456 $|5,9 %|2,25|1.234"},
		{"en", "Einer verdient 123.456 $, das sind 5,9 %; 2,25 von 1.234 Tagen.", "123.456 $|5,9 %|2,25|1.234"},
		{"en", "One earns $123,456.00; 1,234 and not 1.234, $2.25, 7 or 1,23,4.", "$123,456.00|1,234"},
		{"en", "1.234 and 99", ""}, // nothing says that the first is a thousand, and no row has the other
		{"de", "1.234 und 1,234", "1.234"},
	} {
		g, p := newGateway(t), newPage(t)
		p.Open(g.URL)
		eval[bool](p, `localStorage.setItem("countersign.language", "`+c.page+`") ?? true`)
		page := employees(3, "")
		row := page["data"].([]object)[1]
		row["salary"], row["raise_percent"], row["level"], row["days"] = 123456, 5.93, 2.25, 1234
		g.on("POST /api/query", turn(listed(page, object{}), object{"type": "text", "text": c.text}))
		p.Reload()
		p.ask("Who earns what?")
		p.Sees("[data-turn=done]", c.text[:5])
		if got := eval[string](p, `[...document.querySelectorAll("[data-figure]")].map((n) => n.textContent).join("|")`); got != c.figures {
			t.Errorf("%s, %q: %q lead to a row, want %q", c.page, c.text, got, c.figures)
		}
	}
}

// Rows that differ by their year alone show it, however many columns there are.
func TestYearIsShown(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	p.Open(g.URL)
	rows := []object{}
	for _, year := range []int{2025, 2026} {
		rows = append(rows, object{"department": "Sales", "allocated_amount": 10, "spent_amount": 5, "remaining_amount": 5, "status": "active", "submitted_by": "a@x.test", "approved_by": "b@x.test", "currency": "USD", "fiscal_year": year})
	}
	if !module[bool](p, "columns.js", `return m.columnsOf(arg, {}).some((one) => one.key === "fiscal_year" && !one.extra)`, rows) {
		t.Error("the year is shown when all columns are asked for alone")
	}
}

// The id of a row comes before other ids, and the amount is shown however many fields there are.
func TestOwnIDAndAmountAreShown(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	p.Open(g.URL)
	shown := func(row object, amount string) []string {
		second := object{}
		for key, value := range row {
			second[key] = value
		}
		second["overdue"] = false
		return module[[]string](p, "columns.js", `return m.columnsOf(arg.rows, { [arg.amount]: { amount: true } }).filter((one) => !one.extra).map((one) => one.key)`, object{"rows": []object{row, second}, "amount": amount})
	}
	invoice := object{"invoice_number": "INV-1", "vendor_name": "Acme", "vendor_id": "V-0010", "amount": 10, "department": "Sales", "status": "paid", "overdue": true, "due_date": "2026-03-01", "description": "Chairs"}
	if got := shown(invoice, "amount"); !slices.Contains(got, "amount") || slices.Contains(got, "vendor_id") {
		t.Errorf("of an invoice %v are shown", got)
	}
	ticket := json.RawMessage(`{"ticket_id":"TICK-1","subject":"Login","status":"open","priority":"high","department":"IT","due_date":"2026-03-01","score":3,"customer_id":"C-1"}`)
	if got := module[[]string](p, "columns.js", `return m.columnsOf([arg], {}).filter((one) => !one.extra).map((one) => one.key)`, ticket); !slices.Contains(got, "ticket_id") || slices.Contains(got, "customer_id") {
		t.Errorf("of a ticket %v are shown", got)
	}
}

// The details of a row are in view, however wide its table is and wherever it was scrolled.
func TestDetailsOfARowAreInView(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	row := object{"name": "Ada", "email": strings.Repeat("ada.", 30) + "@x.test"}
	for i := range 14 {
		row[fmt.Sprint("remark_", i)] = strings.Repeat("word ", 9)
	}
	g.on("POST /api/query", turn(listed(object{"status": "success", "data": []object{row, row}}, object{}), object{"type": "text", "text": "Two."}))
	p.Open(g.URL)
	p.Window(1000, 800)
	p.ask("List employees")
	p.Sees("[data-turn=done] [data-text]", "Two.")
	p.Click("[data-all-columns]")
	p.Click("[data-row-open]")
	for _, scrolled := range []string{"0", "700"} {
		p.Until(`(() => { const area = document.querySelector(".scroll"); area.scrollLeft = ` + scrolled + `; return area.scrollWidth > area.clientWidth + 700 })()`)
		p.Until(`(() => { const a = document.querySelector(".scroll").getBoundingClientRect(), f = document.querySelector(".row-details td > .facts").getBoundingClientRect(); return f.left >= a.left && f.right <= a.right && f.width > 300 })()`)
	}
}
