// Package fault is the one vocabulary of failure: a closed list of kinds, an
// open set of codes, and one error type that carries a sentence for people, a
// next step, and a cause that only the log may see.
//
// It does not know how a surface draws an error. HTTP, MCP and the command line
// each encode an [Error] in their own founding document's shape.
package fault
