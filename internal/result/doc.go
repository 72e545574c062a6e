// Package result holds the result of a call as plain data: the outcome, the page,
// the pending confirmation, the description of a tool, and the codec of the
// envelope of documents 000 and 003.
//
// It is a leaf that the kernel, the host and both MCP edges share. It knows
// neither MCP nor HTTP. Start with [Outcome].
package result
