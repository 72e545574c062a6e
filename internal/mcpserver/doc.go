// Package mcpserver is the edge between tools and their clients: one URL that
// serves MCP in every protocol version, with package rest beside it for scripts, and
// one gate in front of both. It owns MCP's wire formats.
//
// It does not know who calls, what a tool does, who may call it or what they may see:
// it asks a [rest.Toolbox] for each request, with the principal of that request. Start
// with [Server.Handler].
//
// # Protocol versions
//
// Version 2026-07-28 (modern) is stateless; older versions (legacy) begin with a
// handshake and keep an MCP session. The SDK serves them with two handlers over
// the same mcp.Server, whose one receiving middleware answers tools/list and
// tools/call from the Toolbox. No session has a list of tools of its own: it
// would outlive a demotion. For the same reason the principal is always that of
// the request's own token, never that of a session's context.
//
// # The gate
//
// Every request passes one [gate.Gate]: host and origin, headers, caller, body,
// purpose of the token. The Toolbox checks tool, roles and input in
// Toolbox.Call. The gateway puts the same gate in front of its own API.
//
// # The lane
//
// A tools/call that package mcpwire understands whole is answered by [Lane], behind
// the same gate and by the same Toolbox.Call, at a twentieth of the SDK's cost. It
// leaves anything else to the SDK.
package mcpserver
