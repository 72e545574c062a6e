// Package query answers questions and names from indexes: it scores chunks by
// BM25 over the terms of the query and orders them by signals that each can be
// left out, so that the benchmark can say what each is worth. It knows no person:
// the caller passes only the indexes that may be searched. Start with Search in
// search.go, then signals.go.
package query
