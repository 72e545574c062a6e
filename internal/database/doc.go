// Package database is the only one that uses PostgreSQL. It owns the pool, the
// transaction, the identity that row-level security reads, migrations, the
// receipts of confirmed changes, and the check that a login cannot bypass the
// policies.
//
// Every statement runs for the principal in its context, in a transaction that
// carries their identity; without a principal nothing runs. It knows no table of
// any domain. Start with [Rows] and [DB.Change] in session.go.
package database
