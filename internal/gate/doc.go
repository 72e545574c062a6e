// Package gate is what every request passes before anything is done for it: what
// its address may still send, host and origin, headers, the caller, the purpose of
// the token, the person's quota and the body. A stream ends with its caller's right.
//
// It knows HTTP and principals, and neither MCP nor tools. Servers and the gateway
// each put one [Gate] in front of all that they serve. Start with [Gate.Enter].
package gate
