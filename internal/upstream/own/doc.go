// Package own reaches one of our own servers: MCP for calls, /execute for
// answered confirmations, with a short-lived token of the calling person on
// every request. Its results are envelopes, and its tools name the roles that
// may call them.
//
// It never sends a caller's own token, and never sends a call twice.
package own
