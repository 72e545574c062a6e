// Package result is what a call comes to, as plain data: the outcome, the page,
// the pending confirmation, the description of a tool, and the envelope that
// documents 000 and 003 put on the wire.
//
// It is a leaf that the kernel, the host and both MCP edges share. It runs
// nothing and knows neither MCP nor HTTP.
package result
