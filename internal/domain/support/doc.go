// Package support is the server of tickets and the knowledge base: four tools
// over one small store, which is SQLite with FTS5 in the demo and Elasticsearch
// or OpenSearch in production.
//
// It owns the tools' declarations, their business rules and the query language,
// and declares the [Store] that packages sqlite and elastic implement. It knows no
// transport, no driver and no mask: the kernel runs its tools, no query to a store
// is possible without a [Scope], and user input reaches a store only as a parsed
// [Query]. Start with Server.Tools in
// support.go, then ParseQuery in query.go and Store in store.go.
package support
