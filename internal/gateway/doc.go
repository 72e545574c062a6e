// Package gateway is the chat host's HTTP surface: signing in, asking, the
// stream of an answer, conversations, the answering of confirmations, direct
// tool calls, and the addresses under which everything else is found.
//
// It owns turns (each runs in a goroutine of the gateway, whoever listens),
// conversations and sessions, all of which live in Redis, so that any replica
// can go on where another stopped. It knows no tool, no role table and no model
// vendor: servers decide who may do what, and apply every change themselves.
//
// Start with routes.go, which is the whole API; then chat.go for a turn, and
// stream.go for how people follow it.
package gateway
