package quota

import (
	"cmp"
	"time"
)

// Limits are what one person, known by issuer and subject, may use at a time
// over all replicas and surfaces; the last is of an address. Zero fields take the default.
type Limits struct {
	Requests      int   // a second, on average; twice as many at once; 50
	Sessions      int   // MCP sessions of the handshake revisions; 20
	Streams       int   // open event streams; 20
	Turns         int   // questions that are being answered; 4
	Conversations int   // kept; 200
	Pending       int   // changes that wait for approval; 50
	Stored        int64 // bytes of conversations' messages and events; 64 MiB
	Calls         int   // calls a minute of one tool of a connected server; 60
	Unproven      int   // requests a second without a proved caller, of one address and in one process; twice as many at once; 100
}

// WithDefaults returns the limits with the defaults for those that are zero.
func (l Limits) WithDefaults() Limits {
	return Limits{
		Requests: cmp.Or(l.Requests, 50), Sessions: cmp.Or(l.Sessions, 20), Streams: cmp.Or(l.Streams, 20), Turns: cmp.Or(l.Turns, 4),
		Conversations: cmp.Or(l.Conversations, 200), Pending: cmp.Or(l.Pending, 50), Stored: cmp.Or(l.Stored, 64<<20),
		Calls: cmp.Or(l.Calls, 60), Unproven: cmp.Or(l.Unproven, 100),
	}
}

const (
	burstSeconds = 2       // of requests may come at once
	bodyPrice    = 2 << 10 // bytes of a body count as one request more
	answerPrice  = 8 << 10 // bytes of an answer count as one request more
	turnPrice    = 10      // a turn counts as so many requests more
	sliceParts   = 30      // a replica leases this part of the burst; it holds 1.5 slices at most, so two hold a tenth
	outageParts  = 4       // while Redis cannot be reached a replica allows this part of each limit
	maxPeople    = 20_000
	maxAddresses = 20_000
	maxCallers   = 20_000 // people, each with one tool, whose calls are counted
	maxAsked     = 5000   // changes that a person asked for within askedFor: each is kept that long, answered or not
	askedFor     = 24 * time.Hour

	takeTimeout = 250 * time.Millisecond // for a slice from Redis, unless Options say otherwise
	outagePause = time.Second            // before Redis is asked again after a failure
	holdTTL     = 30 * time.Second       // of a slot, when its replica has crashed
	holdRenewal = 10 * time.Second
)

// Kind is what a limit counts, as it is named in the configuration, in errors
// and in metrics.
type Kind string

// The kinds of limits.
const (
	Requests      Kind = "requests"
	Sessions      Kind = "mcp_sessions"
	Streams       Kind = "streams"
	Turns         Kind = "turns"
	Conversations Kind = "conversations"
	Pending       Kind = "pending_confirmations"
	Asked         Kind = "asked_confirmations"
	Stored        Kind = "stored_bytes"
	Calls         Kind = "calls"
	Unproven      Kind = "unproven_requests"
)
