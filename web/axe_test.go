package web_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
			everyState(g, p, width == "phone", func(state string) {
				t.Helper()
				if !eval[bool](p, "Boolean(globalThis.axe)") { // a new document
					eval[bool](p, axe+"; true")
				}
				for _, look := range looks {
					p.Prefer(look.scheme)
					for _, finding := range eval[[]string](p, fmt.Sprintf(serious, look.rules)) {
						t.Errorf("%s, %s: %s", state, look.scheme, finding)
					}
					p.Shot(strings.ReplaceAll(strings.Join([]string{"axe", width, look.scheme, state}, "-"), " ", "-"))
				}
			})
		})
	}
}
