package web_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

// Rows with one category are a chart, too, with the table one switch away.
func TestChartsAreDrawnFromRows(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	page := employees(6, "next")
	for i, row := range page["data"].([]object) {
		row["department"] = []string{"Sales", "Support"}[i%3%2]
	}
	g.on("POST /api/query", turn(listed(page, object{}), object{"type": "text", "text": "Six."}))
	p.Open(g.URL)
	p.ask("List employees")
	p.Click("[data-view=chart]")
	p.Sees("[data-chart=bars] svg", "Sales")
	p.Sees("[data-chart-incomplete]", "incomplete")
	if got := eval[string](p, `document.querySelector("[data-chart] svg").ariaLabel ?? document.querySelector("[data-chart] svg").getAttribute("aria-label")`); !strings.Contains(got, "Sales 4") || !strings.Contains(got, "Support 2") {
		t.Errorf("a screen reader hears %q", got)
	}
	p.Misses("tbody tr")
	p.Click("[data-view=table]")
	p.Sees("tbody tr", "Person 1")
	kinds := module[[]string](p, "views/chart.js", `
		const { columnsOf } = await import("/columns.js");
		const kind = (rows) => m.shapesOf(rows, columnsOf(rows, {}))[0]?.kind ?? "none";
		return [kind([{ name: "A", allocated: 5, spent: 3 }, { name: "B", allocated: 6, spent: 7 }]),
			kind([{ name: "A", stage: "PROPOSAL", value: 5 }, { name: "B", stage: "LEAD", value: 6 }, { name: "C", stage: "LEAD", value: 6 }]),
			kind([{ date: "2026-01-01", amount: 5 }, { date: "2026-02-01", amount: 6 }, { date: "2026-03-01", amount: 6 }]),
			kind([{ name: "A" }, { name: "B" }])]`, nil)
	if got := strings.Join(kinds, " "); got != "bars funnel line none" {
		t.Errorf("got %s", got)
	}
}

// drawnAs lists what rows can be drawn as: kind, caption, labels with their values.
func drawnAs(p *page, rows any, fields object) []string {
	return module[[]string](p, "views/chart.js", `
		const { columnsOf } = await import("/columns.js");
		return m.shapesOf(arg.rows, columnsOf(arg.rows, arg.fields ?? {})).map((one) => one.kind + ", " + one.caption + ": " + one.lines.map((line) => line.values.map((v) => v.label + " " + v.text).join(", ")).join("; "))`,
		object{"rows": rows, "fields": fields})
}

// A row begins with words, whatever comes first, and a bar is named by what names one row.
func TestRowsBeginWithWhatNamesThem(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	p.Open(g.URL)
	p.Sees("#greeting", "Hello")
	customers := []object{
		{"customer_id": "65a1c0000000000000000001", "customer_name": "Acme", "annual_revenue": 500, "account_owner": "ryan@x.org"},
		{"customer_id": "65a1c0000000000000000002", "customer_name": "Iron", "annual_revenue": 18, "account_owner": "ryan@x.org"}}
	wind := []object{{"speed_value": 4, "direction": "N", "place": "Oslo", "_score": 3}, {"speed_value": 5, "direction": "N", "place": "Rome", "_score": 1}}
	for _, c := range []struct {
		rows        []object
		first, want string
	}{{customers, "customer_name", "bars, Annual revenue by Customer name: Acme $500, Iron $18"}, {wind, "direction", "bars, Speed value by Place: Oslo $4, Rome $5"}} {
		first := module[string](p, "columns.js", `return m.columnsOf(arg, {})[0].key`, c.rows)
		if got := drawnAs(p, c.rows, nil); first != c.first || len(got) != 1 || got[0] != c.want {
			t.Errorf("rows begin with %s and are drawn as %q, want %s and %s", first, got, c.first, c.want)
		}
	}
}

// On a phone a chart's words are as large as they are elsewhere, and none is cut off.
func TestChartIsReadableOnAPhone(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	rows := []object{}
	for _, department := range []string{"Information Technology", "Engineering", "Legal"} {
		rows = append(rows, object{"department": department, "allocated_amount": 31000000, "spent_amount": 26000000})
	}
	g.on("POST /api/query", turn(listed(object{"status": "success", "data": rows, "metadata": object{"hasMore": false}}, object{}), object{"type": "text", "text": "Three."}))
	p.Open(g.URL)
	p.Narrow(360)
	p.ask("Show the budgets")
	p.Click("[data-view=chart]")
	p.Sees("[data-chart=bars] text", "Legal")
	p.Shot("chart-phone")
	bad := eval[[]string](p, `(() => {
		const frame = document.querySelector("[data-chart] svg").getBoundingClientRect();
		return [...document.querySelectorAll("[data-chart] text")].filter((n) => { const b = n.getBoundingClientRect(); return b.height < 10 || b.left < frame.left - 1 || b.right > frame.right + 1 }).map((n) => n.textContent + " " + JSON.stringify(n.getBoundingClientRect()));
	})()`)
	if len(bad) > 0 {
		t.Errorf("too small, or cut off: %v", bad)
	}
	covered := eval[[]string](p, `[...document.querySelectorAll("[data-chart] text")].filter((n) => {
		const b = n.getBoundingClientRect();
		return [...document.querySelectorAll("[data-chart] rect")].some((r) => { const c = r.getBoundingClientRect(); return c.left < b.right && b.left < c.right && c.top < b.bottom && b.top < c.bottom });
	}).map((n) => n.textContent)`)
	if len(covered) > 0 {
		t.Errorf("written over each other: %v", covered)
	}
}

// Charts of rows as the servers have them: two years of budgets, tickets by priority
// first, deals in the order of their stages; and no sum of what cannot be added up.
func TestEveryListHasItsChart(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	p.Open(g.URL)
	p.Sees("#greeting", "Hello")
	usd := object{"unit": "USD", "amount": true}
	budgets := []object{}
	for _, department := range []string{"Sales", "Legal", "IT", "HR", "Support", "Finance", "Marketing", "Operations", "Executive", "Engineering"} {
		for _, year := range []int{2026, 2025} {
			budgets = append(budgets, object{"department": department, "fiscal_year": year, "status": "active", "allocated_amount": 100, "spent_amount": 50})
		}
	}
	ticket := func(status, priority string) object {
		return object{"subject": status + priority, "case_status": status, "priority": priority}
	}
	deal := func(stage, currency string, value any) object {
		return object{"deal_name": stage + currency, "stage": stage, "currency": currency, "value": value}
	}
	for name, c := range map[string]struct {
		rows   []object
		fields object
		want   []string // beginnings
	}{
		"budgets of two years":   {budgets, object{"allocated_amount": usd, "spent_amount": object{"unit": "USD"}, "fiscal_year": object{"show": "year"}}, []string{"bars, Allocated amount and Spent amount by Department: Sales 2026 $100, Sales 2025 $100"}},
		"tickets":                {[]object{ticket("open", "low"), ticket("in_progress", "critical"), ticket("open", "low")}, nil, []string{"bars, Rows by Priority: Critical 1, Low 2", "bars, Rows by Case status: "}},
		"deals":                  {[]object{deal("CLOSED_WON", "USD", 1), deal("PROPOSAL", "USD", 2), deal("PROSPECTING", "USD", 4), deal("PROPOSAL", "USD", 8)}, object{"value": usd}, []string{"funnel, Value by Stage: Prospecting $4, Proposal $10, Closed won $1", "bars, Value by Deal name"}},
		"stages with their sums": {[]object{{"stage": "PROPOSAL", "value": 2, "count": 1}, {"stage": "PROSPECTING", "value": 4, "count": 2}}, object{"value": usd}, []string{"funnel, Value by Stage: Prospecting $4, Proposal $2"}},
		"several currencies":     {[]object{deal("PROPOSAL", "USD", 1), deal("PROPOSAL", "EUR", 2), deal("DISCOVERY", "EUR", 2)}, object{"value": object{"amount": true}}, []string{"funnel, Rows by Stage: Discovery 1, Proposal 2"}},
		"a hidden value":         {[]object{deal("PROPOSAL", "USD", 1), deal("PROPOSAL", "USD", "*** (Hidden)"), deal("DISCOVERY", "USD", 2)}, object{"value": usd}, []string{"funnel, Rows by Stage: Discovery 1, Proposal 2"}},
	} {
		got := drawnAs(p, c.rows, c.fields)
		if len(got) < len(c.want) || !slices.EqualFunc(got[:len(c.want)], c.want, strings.HasPrefix) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
	below := module[[]float64](p, "views/chart.js", `
		const { Table } = await import("/table.js");
		const table = new Table({ tool: "x", answer: { rows: [{ name: "A", amount: 30 }, { name: "B", amount: -10 }] } });
		return [...m.chartOf(table, "x")().querySelectorAll("rect")].flatMap((n) => [Number(n.getAttribute("x")), Number(n.getAttribute("width"))])`, nil)
	if len(below) != 4 || below[0] != below[2]+below[3] || below[1] != 3*below[3] {
		t.Errorf("above and below zero are drawn at %v, want them to meet at zero", below)
	}
}

// A pipeline is one record with a list in it: the funnel is there at once, its table
// one switch away, and states are words.
func TestPipelineIsAFunnel(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	stages := []object{{"stage": "NEGOTIATION", "count": 2, "value": 1000000}, {"stage": "PROSPECTING", "count": 0, "value": 0}, {"stage": "CLOSED_WON", "count": 2, "value": 275000}}
	tool := object{"name": "get_pipeline", "title": "Sales pipeline", "kind": "read", "server": "sales", "fields": object{"output": object{"value": object{"unit": "USD", "amount": true}, "count": object{"label": "Deals"}}}}
	g.on("GET /api/tools", answer(http.StatusOK, object{"tools": []object{tool}, "servers": []object{}}))
	g.on("POST /api/query", turn(object{"type": "tool", "state": "complete", "tool": "get_pipeline", "server": "sales", "data": object{"status": "success", "data": object{"quarter": "2026-Q4", "total_pipeline": 1275000, "stages": stages}}}, object{"type": "text", "text": "So much."}))
	p.Open(g.URL)
	p.ask("Show the pipeline")
	p.Sees("[data-turn=done] [data-field=stages] [data-chart=funnel] svg", "Negotiation")
	p.Looks("funnel")
	if got := eval[[]string](p, `[...document.querySelectorAll("[data-chart=funnel] svg g")].map((n) => n.querySelector("text").textContent)`); !slices.Equal(got, []string{"Prospecting", "Negotiation", "Closed won"}) {
		t.Errorf("the funnel has %q", got)
	}
	p.Click("[data-result=stages] [data-view=table]")
	p.Sees("[data-result=stages] tbody [data-field=stage]", "Closed won")
	p.Sees("[data-result=stages] tbody [data-field=value]", "$275,000")
}

// Rows with several categories have a choice of what is drawn, and a filter is one of
// the chart, too.
func TestChartIsChosenAndFiltered(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	rows := []object{}
	for i := range 9 {
		rows = append(rows, object{"subject": "Ticket " + string(rune('A'+i)), "status": []string{"open", "in_progress"}[i%2], "priority": []string{"high", "low", "low"}[i%3]})
	}
	g.on("POST /api/query", turn(object{"type": "tool", "state": "complete", "tool": "search_tickets", "server": "support", "args": object{}, "data": object{"status": "success", "data": rows, "metadata": object{"hasMore": false}}}, object{"type": "text", "text": "Nine."}))
	p.Open(g.URL)
	p.ask("Which tickets are there?")
	p.Sees("[data-turn=done] tbody [data-field=status]", "In progress")
	p.Click("[data-view=chart]")
	p.Sees("[data-chart=bars] svg", "High")
	eval[bool](p, `(() => { const s = document.querySelector("[data-chart-choice]"); s.value = "1"; return s.dispatchEvent(new Event("change", {bubbles: true})) })()`)
	p.Sees("[data-chart=bars] svg", "In progress")
	p.Misses("[data-chart-incomplete]")
	eval[bool](p, `(() => { const f = document.querySelector("[data-filter]"); f.value = "open"; f.dispatchEvent(new Event("input", {bubbles: true})); return true })()`)
	p.Sees("[data-chart-incomplete]", "Drawn from 5 of 9 loaded rows.")
	last := module[string](p, "views/chart.js", `const { Table } = await import("/table.js"); return m.chartOf(new Table({ tool: "x", answer: { rows: [{ name: "One", share: 1 }, { name: "Two", share: 2 }], more: false, total: 59 } }))().textContent`, nil)
	if !strings.Contains(last, "Drawn from 2 of 59, incomplete.") {
		t.Errorf("the chart of the last page alone says %s", last)
	}
}
