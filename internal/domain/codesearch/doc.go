// Package codesearch is the server of code search: three tools, and document
// 004's POST /mcp/search, over one index for each repository.
//
// It owns the tools, the repositories with who may see them, and keeping indexes
// current. Which repositories a caller may search is decided before anything is
// searched: no query is possible without a [Scope]. How text becomes an index is
// package index's, how an index is searched package query's, and document 004's
// wire format package endpoint's. Start with Server in codesearch.go, then
// scope.go.
package codesearch
