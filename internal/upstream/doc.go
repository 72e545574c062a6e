// Package upstream is the host's side of MCP. It keeps one registry of the
// tools of all servers, and brings each call to the server that owns the tool,
// as the person who calls.
//
// It owns tool lists, deadlines, breakers and the answering of confirmations.
// It knows no rule of who may do what: a server names the roles that open a
// tool, and our own servers enforce them by themselves. It applies no change of
// theirs and sends no call twice.
//
// Start with [Upstream.Tools] and [Upstream.Call]. The registry is an immutable
// snapshot that updates replace. A server is reached through an [Adapter]:
// package own has the one for our own servers, package foreign the one for
// others. No configuration names a foreign server yet.
//
// What an own server enforces by itself, the host enforces for a foreign one:
// roles, the confirmation of every tool that is not read-only, the record.
package upstream
