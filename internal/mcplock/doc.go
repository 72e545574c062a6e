// Package mcplock keeps mcp.lock.json: the definitions of connected servers' tools
// that an operator has accepted. A definition that is not in the file as it is
// holds its tool back.
//
// The first list of a server that this installation has never seen is accepted and
// written. That a server was seen, also only with an accepted lock, is noted in another
// file, so that a lock that was removed holds everything back instead of being written
// anew.
//
// It knows no server and no caller. Start with [Open] and [Lock.Check].
package mcplock
