// Package upstream is the host's MCP client. It keeps one list of the tools of
// all servers, and brings each call to the server that owns the tool, with a
// short-lived token of the very person who calls.
//
// It owns sessions, catalogues, deadlines, breakers and the answering of
// confirmations over HTTP. It knows no rule of who may do what: a server says
// which roles open a tool, and refuses by itself. It never applies a change and
// never sends a call twice.
//
// Start with [Upstream.Tools] and [Upstream.Call]. A [peer] is what is the same
// for every server; a remote is what differs between kinds of servers.
package upstream
