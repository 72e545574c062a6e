// Package telemetry correlates log lines with requests: request and trace ids in
// the context, and one log handler that adds them and the principal to every
// record.
//
// It never logs payloads.
package telemetry

import "context"

// Request identifies one request across processes.
type Request struct {
	ID     string // X-Request-ID, accepted or made
	Trace  string // the W3C trace id of traceparent, or empty
	Parent string // the request in which this one came: that of its WebSocket, or of its turn; or empty

	Conversation string // whose turn it is; empty outside of a turn
}

// acceptedID is how long an id may be that a server takes from a caller.
const acceptedID = 64

// Part names a part of the request, whose id follows that of the whole: a reader
// finds the parts by it, in other processes too, which get the id alone.
func (r Request) Part(name string) Request {
	r.Parent = r.ID
	if len(r.ID)+1+len(name) <= acceptedID {
		name = r.ID + "." + name
	}
	r.ID = name
	return r
}

type requestKey struct{}

// named is a context with a request's ids.
type named struct {
	context.Context
	request Request
}

// Value implements context.Context.
func (n *named) Value(key any) any {
	if _, asked := key.(requestKey); asked {
		return &n.request
	}
	return n.Context.Value(key)
}

// WithRequest puts the request's ids into the context.
func WithRequest(ctx context.Context, r Request) context.Context { return &named{ctx, r} }

// RequestOf returns the request's ids; they are empty when there are none.
func RequestOf(ctx context.Context) Request {
	if r, ok := ctx.Value(requestKey{}).(*Request); ok {
		return *r
	}
	return Request{}
}
