// Package support is the server of tickets and the knowledge base: four tools
// over one small store, which is SQLite with FTS5 in the demo and Elasticsearch
// or OpenSearch in production.
//
// It owns the tools' declarations, their business rules, the query language and
// both stores. It knows no transport, no role table and no mask: the kernel runs
// its tools, the stores are asked for nothing without a [Scope], and what people
// type reaches a store only as a parsed [Query]. Start with Server.Tools in
// support.go, then ParseQuery in query.go and Store in store.go.
package support
