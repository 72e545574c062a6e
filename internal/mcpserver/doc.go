// Package mcpserver is the edge between tools and the world: one URL that
// speaks both eras of MCP, a REST face for scripts, and one gate in front of
// both. It owns the wire and the question who is calling.
//
// It does not know what a tool does, who may call it or what may be seen: it
// asks a [Service] at every request, for the principal of that request. Start
// with [Server.Handler].
//
// # Two eras
//
// Revision 2026-07-28 is stateless, older ones begin with a handshake and keep
// a session; the SDK serves them from two handlers. Both stand over the same
// mcp.Server, whose one receiving middleware answers tools/list and tools/call
// from the Service. There is no registry of tools per session or per set of
// roles: a session would outlive a demotion. For the same reason the principal
// is taken from the request's own token, never from a session's context.
//
// # The gate
//
// Every request passes one [Gate]: host and origin, headers, bearer, body,
// purpose of the token. Known tools, roles and input are the Service's to
// check, in Service.Call. A faster lane for tools/call would stand beside the
// SDK's in serveMCP: behind the same Gate, in front of the same Service.Call,
// handing on whatever it does not fully understand.
package mcpserver
