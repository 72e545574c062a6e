// Package database is the one room that speaks to PostgreSQL. It owns the pool,
// the transaction, the identity that row-level security reads, migrations, the
// receipts of confirmed changes, and the check that a login cannot look around
// the policies.
//
// Every statement runs for the principal in its context, in a transaction that
// was told who that is; without a principal nothing runs. The room knows no
// table of any domain. Start with [Rows] and [DB.Change] in session.go.
package database
