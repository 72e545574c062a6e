// Package access holds the principal, the common roles, the relation of a
// principal to a row, and the one masking rule. Roles and classes of sensitive
// fields beyond that are declared by domains, in a [Policy].
//
// It is a leaf: it does no I/O, and knows neither a tool nor a domain by name.
// Only package auth makes a principal.
package access
