// Package access says who may do what and who may see what: the principal, the
// role names, the relation of a principal to a row, and the one masking rule.
//
// It is a leaf: it does no I/O, knows no tool by name, and cannot tell where a
// principal came from. Only package auth makes one.
package access
