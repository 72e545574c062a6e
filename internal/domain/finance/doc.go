// Package finance is the money side of the company: what each department may
// spend and has spent, what vendors want to be paid, and what people spent for
// the company. It owns the PostgreSQL schema `finance`, its policies, and six
// tools over it.
//
// It knows no transport, no token and no other domain; of people it keeps the
// names and addresses that stand on its papers. Who reads which table is decided
// by the policies in migrations/. Start with [Server.Tools] in finance.go.
package finance
