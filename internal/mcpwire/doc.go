// Package mcpwire reads and writes the bytes of one MCP message, tools/call, and
// of its answer, without decoding what they carry: arguments and results are spans
// of the message. [IsModern] reads of any message which version of the protocol it is of.
//
// It is for the two ends of the hot path: the lane of package mcpserver, and the
// gateway's calls to our own servers. A reader accepts only what it understands
// whole and reports anything else as not understood, for the MCP SDK to read. So
// it never has to say what is wrong with a call.
//
// It does not check that a message is strict JSON: package strictjson has, before.
package mcpwire

// The modern version of the protocol, in which every message has its metadata.
const ModernVersion = "2026-07-28"

// The headers of a modern call, which repeat what its body says.
const (
	HeaderVersion = "Mcp-Protocol-Version"
	HeaderMethod  = "Mcp-Method"
	HeaderName    = "Mcp-Name"
)

// MethodCall is the method that this package is about.
const MethodCall = "tools/call"
