// Package chat is the part of the gateway's API in which people ask: questions, their
// conversations, and the encoder of events as server-sent events. Package live encodes
// the same events for WebSockets.
//
// It remembers nothing: package conversation does, and knows neither HTTP nor a
// client's wire format. Start with [API.AskByPost].
package chat

import (
	"countersign.dev/internal/conversation"
	"countersign.dev/internal/gate"
	"countersign.dev/internal/quota"
)

// API serves questions and conversations. The principal of each request is proved.
type API struct {
	Conversations *conversation.Service
	Gate          *gate.Gate    // ends a stream with its caller's right
	Quotas        *quota.Quotas // bound the streams of one person; nil: nothing
	MaxBody       int64         // bytes of a request's body
}
