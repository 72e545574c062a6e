package web_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// checker is axe-core, where .ci/page has fetched it.
func checker(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("node_modules", "axe-core", "axe.min.js"))
	if err != nil && os.Getenv("CI") == "true" {
		t.Fatal("axe-core is missing: run .ci/page")
	}
	if err != nil {
		t.Skip("axe-core is missing: run .ci/page")
	}
	return string(text)
}

// serious lists what axe-core finds by some of its rules that keeps people out.
const serious = `axe.run(document, { resultTypes: ["violations"], runOnly: %s }).then((found) => found.violations
	.filter((one) => ["serious", "critical"].includes(one.impact))
	.map((one) => one.id + ": " + one.nodes.map((node) => node.html.slice(0, 160) + " " + node.failureSummary.split("\n").slice(1, 3).join(" ")).slice(0, 3).join(" | ")))`

// The rules of axe-core: all, and those that a colour scheme can break.
const everyRule, ofColour = `undefined`, `{ type: "rule", values: ["color-contrast", "link-in-text-block"] }`

// TestEveryStateIsAccessible: no state of the page has a serious finding, in light,
// in dark, and at the width of a phone, which has the same colours.
func TestEveryStateIsAccessible(t *testing.T) {
	t.Parallel()
	axe := checker(t)
	type look struct{ scheme, rules string }
	for width, looks := range map[string][]look{"wide": {{"dark", ofColour}, {"light", everyRule}}, "phone": {{"light", everyRule}}} {
		t.Run(width, func(t *testing.T) {
			t.Parallel()
			g, p := newGateway(t), newPage(t)
			check := func(state string) {
				t.Helper()
				for _, look := range looks {
					p.Prefer(look.scheme)
					for _, finding := range eval[[]string](p, fmt.Sprintf(serious, look.rules)) {
						t.Errorf("%s, %s: %s", state, look.scheme, finding)
					}
					p.Shot(strings.ReplaceAll(strings.Join([]string{"axe", width, look.scheme, state}, "-"), " ", "-"))
				}
			}
			g.on("GET /api/user", answer(200, auditor()))
			g.on("GET /api/audit", answer(200, object{"events": []object{{"seq": 3, "time": "2026-11-21T09:00:00Z", "kind": "denial", "username": "frank.davis", "outcome": "INSUFFICIENT_PERMISSIONS", "confirmation": "c-1"}}}))
			g.on("GET /api/admin", answer(200, object{"servers": []object{{"name": "hr", "healthy": true, "calls": 1, "failures": 0, "averageMs": 1}}, "tools": []object{{"name": "list_budgets", "server": "finance", "kind": "list", "roles": []string{"finance-read"}}}, "held": []object{{"server": "notes", "tool": "wipe", "why": "new"}}, "people": []object{{"username": "alice", "issuer": "i", "sub": "s", "seen": "2026-11-22T09:00:00Z"}}, "expired": []object{}}))
			g.on("GET /api/conversations", answer(200, object{"conversations": []object{{"id": "c8", "title": "Earlier", "updated": time.Now().Format(time.RFC3339)}}}))
			g.on("GET /api/confirmations", answer(200, object{"confirmations": []object{waiting("x9")}}))
			g.on("GET /api/tools", workTools())
			g.on("POST /api/query", turn(
				listedTasks(), foundCode(),
				object{"type": "tool", "state": "complete", "tool": "list_employees", "server": "hr", "message": "Listed employees", "data": employees(12, "next"), "args": object{}},
				object{"type": "truncation", "tool": "list_employees", "hint": "Showing 12 of 12+ employees."},
				object{"type": "text", "text": "See [the **handbook**](https://example.com) and `code`.\n\n| a | b |\n|---|---|\n| 1 | 2 |"},
				object{"type": "note", "kind": "figure", "text": "The answer names 13 people, the rows are 12."},
				object{"type": "error", "error": "Something failed.", "code": "TIMEOUT"},
				pending("x1"),
			))
			p.Prefer("light")
			p.Open(g.URL)
			p.Sees("#suggestions", "")
			eval[bool](p, axe+"; true")
			if width == "phone" {
				p.Narrow(360)
				p.Click("#question")
			}
			check("empty")
			p.ask("Show me everything")
			p.Sees("[data-turn=done] [data-card=x1]", "Frank")
			p.Sees("[data-note=figure]", "the rows are 12")
			check("answered")
			eval[bool](p, `document.querySelectorAll("#log details").forEach((n) => (n.open = true)) ?? true`)
			p.Click("[data-row-open]")
			check("all opened")
			p.Click("[data-result=list_tasks] [data-view=board]")
			p.Sees("[data-lane=todo]", "Read the log")
			check("board")
			for _, place := range []string{"approvals", "approve/x9", "usage", "audit", "audit/c-1", "admin", "nowhere"} {
				eval[bool](p, fmt.Sprintf(`(document.querySelector(".page-view")?.setAttribute("data-before", ""), location.hash = "#/%s") !== ""`, place))
				p.Sees(".page-view:not([data-before])", "")
				check(strings.ReplaceAll(place, "/", " "))
			}
		})
	}
}
