// Package live serves what stays open: the WebSocket of a conversation (document
// 001's WebSocket handler), the event stream of a person, and the list of a
// person's connections.
//
// It reads the event logs of package conversation and remembers nothing of them,
// so that a client may resume at any replica. It knows no tool and no model. Start
// with [Server.Chat]; frames.go has the shapes of the messages.
package live
