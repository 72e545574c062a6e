// Package fault defines failures: a closed list of kinds, an open set of codes,
// and one error type with a sentence for people, a suggested action, and a cause
// that is only logged.
//
// It encodes nothing: HTTP, MCP and the command line each write an [Error] in the
// shape of their founding document.
package fault
