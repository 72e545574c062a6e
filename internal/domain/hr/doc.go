// Package hr is the server of employees, org charts, reviews, leave and salaries.
// It owns the PostgreSQL schema `hr`, its policies, and seven tools over it.
//
// It knows no transport, no token and no other domain. Policies in migrations/
// decide which rows a caller sees, mask tags on the types which fields. Start with [Server.Tools] in hr.go.
package hr
