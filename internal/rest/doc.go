// Package rest calls tools over plain HTTP, for scripts: a [Face] reads an input from
// a body or a query, asks a [Toolbox], and writes the outcome in its dialect with the
// status of its code. Servers and the gateway mount the same face.
//
// It does not know what a tool does, who may call it, or MCP. Start with [Face.Post].
package rest
