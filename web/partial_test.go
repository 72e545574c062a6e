package web_test

import (
	"strings"
	"testing"
)

// TestLastPageIsAPartEverywhere: nine rows of 59 with no page after them are not all rows, whatever draws them.
func TestLastPageIsAPartEverywhere(t *testing.T) {
	t.Parallel()
	g, p := newGateway(t), newPage(t)
	p.Open(g.URL)
	const rows = `
		const { Table } = await import("/table.js");
		const { signal } = await import("/reactive.js");
		const rows = Array.from({ length: 9 }, (_, i) => ({ title: "Task " + i, status: i % 2 ? "todo" : "done", amount: i + 1 }));
		const tableOf = (total) => new Table({ tool: "x", fields: { status: { show: "state" } }, answer: { rows, more: false, total } });
		const text = (drawn) => [drawn].flat().filter(Boolean).map((node) => node.textContent).join(" ");
		`
	for name, c := range map[string]struct{ file, draw string }{
		"chart": {"views/chart.js", `return [59, 9].map((n) => text(m.chartOf(tableOf(n), "x")()))`},
		"board": {"views/board.js", `return [59, 9].map((n) => text(m.boardOf(tableOf(n))()))`},
		"how": {"views/how.js", `return [59, 9].map((n) => text(m.howView({ calls: [{ tool: "x", server: "y", state: signal("complete"), took: signal(0),
			envelope: signal({ status: "success", data: rows, metadata: { hasMore: false, totalCount: String(n) } }) }] })))`},
	} {
		got := module[[]string](p, c.file, rows+c.draw, nil)
		if len(got) != 2 || !strings.Contains(got[0], "59") || strings.Contains(got[0], "all of them") || strings.Contains(got[1], "incomplete") || strings.Contains(got[1], "Drawn from") {
			t.Errorf("%s: got %q", name, got)
		}
	}
}
