// Package sales is the server of customers, deals and the pipeline: six tools
// over one small store, which is SQLite in the demo and MongoDB in production.
//
// It owns the tools' declarations and their business rules, and declares the
// [Store] that packages sqlite and mongo implement. It knows no transport, no
// driver and no mask: the kernel runs its tools, and no query to a store is
// possible without a [Scope]. Start with Server.Tools
// in sales.go, then Store in store.go; deals.go shows a list and a write.
package sales
