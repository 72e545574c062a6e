// Package mcpfile reads the file of connected servers: document 001's `servers`
// or the `mcpServers` of desktop clients, strictly, with every problem and its
// line at once.
//
// It is plain data: it connects to nothing and knows no caller. [Rules] say what
// the operator allows a server's tools; package upstream enforces them. Start
// with [Read].
package mcpfile
