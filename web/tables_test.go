package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// Rows that an answer names none of, and does not count, are folded: they are not what
// was asked for. A summary of them shows them.
func TestRowsThatAnAnswerDoesNotNameAreFolded(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	p.Open(g.URL)
	for text, named := range map[string]bool{
		"I found no employees (this year).": false, "Niemand wurde dieses Jahr eingestellt.": false, "7 people were hired in 2019.": false, "I can't do that here because I do not understand \"Why\".": false, "Das kann ich hier nicht.": false, "Nothing fits. Person 11 is none of them.": false,
		"Here they are.": true, "All 5 employees; 2 of them are new.": true, "Nobody but Person 1.": true, "Your team of 2026, for $45 a day.": true, "2 earn more; e1000000-0000-0000-0000-000000000003 does.": true,
	} {
		g.on("POST /api/query", turn(listed(employees(5, ""), object{}), object{"type": "text", "text": text}))
		p.Click("#new")
		p.ask("Who was hired this year?")
		p.Sees("[data-turn=done] [data-text]", text)
		got := eval[string](p, `(() => { const node = document.querySelector("[data-turn=done] .tool-result"); return node.open + " " + !node.querySelector("[data-unsaid]").checkVisibility() })()`)
		if want := fmt.Sprint(named, named); got != want {
			t.Errorf("%q: the rows are open, and not called unnamed: %s, want %s", text, got, want)
		}
	}
}

// Pages of one list in one answer are one table, with all conditions the same.
func TestListIsOneTable(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	g.on("GET /api/tools", workTools())
	ended := func(tool string, page object, args object) object {
		return object{"type": "tool", "state": "complete", "tool": tool, "server": "hr", "args": args, "data": page}
	}
	tasks := func(offset, count int, state string) object {
		var rows []object
		for i := range count {
			rows = append(rows, object{"id": offset + i, "title": fmt.Sprint("Task ", offset+i), "status": state})
		}
		return object{"status": "success", "data": rows, "metadata": object{"hasMore": offset == 0, "truncated": offset == 0, "returnedCount": count, "nextOffset": offset + count, "totalCount": "3"}}
	}
	g.on("POST /api/query", turn(
		ended("list_employees", employees(3, "c2"), object{}), ended("list_employees", employees(2, ""), object{"cursor": "c2"}),
		ended("list_tasks", tasks(0, 2, "done"), object{"status": "done"}), ended("list_tasks", tasks(2, 1, "todo"), object{"status": "todo", "offset": 2}), ended("list_tasks", tasks(2, 1, "done"), object{"status": "done", "offset": 2}),
		object{"type": "text", "text": "Five and three."}))
	p.Open(g.URL)
	p.ask("All employees and tasks")
	p.Sees("[data-turn=done] [data-text]", "Five and three.")
	got := eval[string](p, `[...document.querySelectorAll("[data-row-count]")].map((node) => node.textContent).join(", ")`)
	if want := "5 rows, complete, 3 rows, complete, 1 of 3 rows shown"; got != want {
		t.Errorf("the tables have %s, want %s", got, want)
	}
	how := eval[string](p, `(() => { document.querySelector("[data-how]").open = true; return document.querySelector("[data-how]").innerText })()`)
	for _, want := range []string{"3 rows of the rows", "2 rows of the rows", "1 row of 3 rows that"} {
		if !strings.Contains(how, want) {
			t.Errorf("how it came about does not say %q:\n%s", want, how)
		}
	}
}

// A file says of how many rows it has some: what follows is counted by reading it, which
// is then the next page. Where it cannot be read, or goes on too long, the file says less.
func TestFileSaysOfHowManyRowsItHasSome(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	g.on("POST /api/query", turn(listed(employees(50, "c1"), object{"department": "Sales"}), object{"type": "truncation", "tool": "list_employees", "hint": "Showing 50 of 50+ employees."}, object{"type": "text", "text": "Fifty."}))
	p.Open(g.URL)
	eval[bool](p, `(globalThis.names = [], HTMLAnchorElement.prototype.click = function () { names.push(this.download) }, true)`)
	file := func(page http.HandlerFunc) string {
		t.Helper()
		g.on("POST /api/mcp/{server}/{tool}", g.hears(page))
		p.Click("[data-csv]")
		p.Until(`names.length > 0`)
		return eval[string](p, `names.pop()`)
	}
	p.ask("List all employees")
	p.Sees("[data-row-count]", "50 rows shown, more follow")
	if got := file(answer(http.StatusServiceUnavailable, object{"status": "error", "code": "SERVICE_UNAVAILABLE", "message": "HR does not answer."})); got != "list_employees (50 of more than 50, incomplete).csv" {
		t.Errorf("without the next page: %s", got)
	}
	if got := file(answer(http.StatusOK, employees(50, "again"))); got != "list_employees (50 of more than 550, incomplete).csv" {
		t.Errorf("of a list without an end: %s", got)
	}
	g.said()
	p.Reload()
	p.Until(`document.activeElement?.id === "question"`)
	eval[bool](p, `(globalThis.names = [], HTMLAnchorElement.prototype.click = function () { names.push(this.download) }, true)`)
	p.ask("List all employees")
	p.Sees("[data-row-count]", "50 rows shown, more follow")
	before := len(g.said())
	if got := file(answer(http.StatusOK, employees(9, ""))); got != "list_employees (50 of 59, incomplete).csv" {
		t.Errorf("of 59: %s", got)
	}
	p.Sees("[data-row-count]", "50 of 59 rows shown")
	p.Sees("[data-notice=truncation]", "Showing 50 of 59 rows.")
	p.Click("[data-next-page]")
	p.Sees("[data-row-count]", "59 rows, complete")
	if got := file(notFound); got != "list_employees (59 rows, complete).csv" {
		t.Errorf("of all: %s", got)
	}
	if calls := g.said()[before:]; len(calls) != 1 || !strings.Contains(calls[0], `"cursor":"c1"`) {
		t.Errorf("the next page was asked for with %q, want once", calls)
	}
}

// Spreadsheets read a file's numbers and times as such, under the heads that a tool
// declares, in any language of the page.
func TestFileIsForSpreadsheets(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	p.Open(g.URL + "/icon.svg")
	eval[bool](p, `localStorage.setItem("countersign.language", "de") ?? true`)
	p.Open(g.URL)
	p.Sees("#greeting", "Guten Tag")
	got := module[string](p, "views/grid.js", `
		const { Table } = await import("/table.js");
		const rows = [{ title: "One", hire_date: "2024-03-01", changed: "2026-11-25T09:30:00Z", salary: 1234.5, share: 12 }];
		const fields = { salary: { label: "Yearly pay", unit: "EUR" }, share: { unit: "percent" } };
		return m.csvOf(new Table({ tool: "x", fields, answer: { rows, more: false } }))`, nil)
	last := module[string](p, "views/grid.js", `const { Table } = await import("/table.js"); return m.csvOf(new Table({ tool: "x", answer: { rows: [{ title: "One" }], more: false, total: 59 } }))`, nil)
	if !strings.Contains(last, "# 1 von 59, unvollständig") {
		t.Errorf("the last page alone is no file of all:\n%s", last)
	}
	for _, want := range []string{"Yearly pay (EUR)", "(%)", "2024-03-01", "2026-11-25T09:30:00Z", "1234.5", "12"} {
		if !strings.Contains(got, want) {
			t.Errorf("the file lacks %q:\n%s", want, got)
		}
	}
}
