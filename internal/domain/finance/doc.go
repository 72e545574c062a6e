// Package finance is the server of budgets, invoices and expense reports. It owns
// the PostgreSQL schema `finance`, its policies, and six tools over it.
//
// It knows no transport, no token and no other domain; of people it keeps the
// names and addresses on its documents. Policies in migrations/ decide who reads
// which table. Start with [Server.Tools] in finance.go.
package finance
