package finance

import (
	"slices"

	"countersign.dev/internal/tool"
)

// Tools lists the domain's tools.
func (s *Server) Tools() []tool.Tool {
	return slices.Concat(s.budgets(), s.approval(), s.invoices(), s.deletion(), s.expenses())
}
