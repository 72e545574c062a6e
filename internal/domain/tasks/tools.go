package tasks

import (
	"slices"

	"countersign.dev/internal/tool"
)

// Tools lists all tools of the domain.
func (s *Server) Tools() []tool.Tool {
	all := slices.Concat(taskTools(s), listTools(s), treeTools(s), s.deletionTools(), entityTools(s), linkTools(s), s.projectTools(), s.auditTools())
	return append(all, s.usageTool(all))
}
