package codesearch

import (
	"slices"

	"countersign.dev/internal/tool"
)

// Tools declares the domain's tools.
func (s *Server) Tools() []tool.Tool {
	return slices.Concat(s.searchTools(), s.fileTools(), s.repositoryTools())
}
