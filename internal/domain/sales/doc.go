// Package sales is the server of customers, deals and the pipeline: five tools
// over one small store, which is SQLite in the demo and MongoDB in production.
//
// It owns the tools' declarations, their business rules and both stores. It
// knows no transport, no role table and no mask: the kernel runs its tools, and
// the stores are asked for nothing without a [Scope]. Start with Server.Tools
// in sales.go, then Store in store.go; deals.go shows a list and a write.
package sales
