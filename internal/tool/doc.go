// Package tool declares and runs tools. A declaration is made with [Read],
// [List], [Write], [Edit] or [Offsets]: a name, a description, the roles that may
// call it, typed input and output, and a function. The [Runner] does everything
// else, in one order (run.go).
//
// A tool's function has no access to MCP, HTTP, tokens, roles, Redis or a log; this
// package knows no store, no transport and no tool by name. Start with Spec in
// tool.go, then Runner.Call in run.go and Runner.Answer in write.go.
package tool
