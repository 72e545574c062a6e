package tasks_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"countersign.dev/internal/access"
	"countersign.dev/internal/tokens"
)

// about is what the descriptions of the measured tasks say, again and again.
const about = "The index of words is read once for each search, and that takes longest. "

// tokensPerTask are those of a list in a mode, for each of its 20 tasks.
func tokensPerTask(t testing.TB, h *harness, mode string) float64 {
	t.Helper()
	args, err := json.Marshal(map[string]any{"mode": mode, "limit": 20, "workspace_path": h.platform})
	if err != nil {
		t.Fatal(err)
	}
	answer := h.Encode(h.Call(as(t, "nina", access.PurposeNone), "list_tasks", args))
	return float64((&tokens.Counter{}).Count(string(answer))) / 20
}

// BenchmarkTokensPerTask: what does a listed task cost a model, in both modes? It ends
// with the answer as a table.
func BenchmarkTokensPerTask(b *testing.B) {
	var table strings.Builder
	table.WriteString("| a description of | summary, tokens a task | details | saved |\n|---|---|---|---|\n")
	for _, length := range []int{0, 200, 800, 2000} {
		b.Run(fmt.Sprint(length, " characters"), func(b *testing.B) {
			h := newHarness(b)
			fill(b, h, 20, strings.Repeat(about, length/len(about)+1)[:length])
			var summary, details float64
			for b.Loop() {
				summary, details = tokensPerTask(b, h, "summary"), tokensPerTask(b, h, "details")
			}
			b.ReportMetric(summary, "summary-tokens")
			b.ReportMetric(details, "details-tokens")
			fmt.Fprintf(&table, "| %d characters | %.0f | %.0f | %.0f %% |\n", length, summary, details, 100*(1-summary/details))
		})
	}
	fmt.Print(table.String())
}
