package hr

import (
	"slices"

	"countersign.dev/internal/tool"
)

// Tools lists the domain's tools.
func (s *Server) Tools() []tool.Tool {
	return slices.Concat(s.employees(), s.orgChart(), s.reviews(), s.timeOff(), s.salary())
}
