// Package gateway is the chat host's HTTP API: routes, and encoders of what
// the rooms below return. It remembers nothing: package conversation has the
// conversations, package session the browser sign-ins, package confirm the
// confirmations. It knows no tool, no role table and no model vendor: servers
// decide who may do what, and apply every change themselves.
//
// Start with routes.go, which is the whole API; package chat has the conversations and
// the shapes of the event streams.
package gateway
