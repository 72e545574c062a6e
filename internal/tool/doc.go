// Package tool is what a tool is and how every tool runs. A tool is a
// declaration made with [Read], [List], [Write], [Edit] or [Offsets]: a name, a
// sentence, the roles that may, typed input and output, and a function. The
// [Runner] does everything else, in one readable order (run.go).
//
// A tool's function never sees MCP, HTTP, tokens, roles, Redis or a log; this
// package knows no store, no transport and no tool by name. Start with Spec in
// tool.go, then Runner.Call in run.go and Runner.Answer in write.go.
package tool
