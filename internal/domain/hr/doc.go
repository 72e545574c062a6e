// Package hr is the people's side of the company: who works here and for whom,
// what they earn, how they were reviewed, and the leave they have left. It owns
// the PostgreSQL schema `hr`, its policies, and seven tools over it.
//
// It knows no transport, no token and no other domain. Whose rows a caller sees
// is decided by the policies in migrations/, which fields by the mask tags on
// its types. Start with [Server.Tools] in hr.go.
package hr
