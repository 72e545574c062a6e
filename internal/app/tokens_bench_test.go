package app

import (
	"testing"

	"countersign.dev/internal/result"
	"countersign.dev/internal/tokens"
)

// How many tokens does a model read for a row of a list, as the envelope and as a
// table? Floor: the values alone, without a name or a mark, are not measured: no
// model could read them. The sample company as an executive sees it, a page of 50.
func BenchmarkTokensPerRow(b *testing.B) {
	w := newHarness(b)
	who := account(b, "eve.thompson").Principal()
	var c tokens.Counter
	for _, list := range []struct {
		server, tool string
		in           map[string]any
	}{
		{"hr", "list_employees", map[string]any{}}, {"finance", "list_invoices", map[string]any{}}, {"finance", "list_budgets", map[string]any{}},
		{"sales", "list_deals", map[string]any{}},
		{"support", "search_tickets", map[string]any{"query": "*"}}, {"support", "search_knowledge_base", map[string]any{"query": "*"}},
	} {
		o := w.call(b, who, list.server, list.tool, list.in)
		if o.Fault() != nil {
			b.Fatalf("%s: %v", list.tool, o.Fault())
		}
		var untrusted []string
		for _, info := range w.runners[list.server].Visible(catalogue()) {
			if info.Name == list.tool {
				untrusted = info.Untrusted
			}
		}
		envelope, _ := result.EncodeForModel(o, untrusted)
		rows := float64(max(1, o.Rows()))
		b.Run(list.tool, func(b *testing.B) {
			var table string
			for b.Loop() {
				table = result.Table(envelope)
			}
			b.ReportMetric(rows, "rows")
			b.ReportMetric(float64(c.Count(string(envelope)))/rows, "envelope-tokens/row")
			b.ReportMetric(float64(c.Count(table))/rows, "table-tokens/row")
			if testing.Verbose() {
				b.Logf("%.900s", table)
			}
		})
	}
}
