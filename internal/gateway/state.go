package gateway

import (
	"context"
	"time"

	"countersign.dev/internal/state"
)

// Redis is what the gateway keeps its state in. Every name that it uses is made
// here; a life is how long a thing is kept after it was last written. Package
// state is it.
type Redis interface {
	logs
	keys
	sets
	Ping(ctx context.Context) error
}

type logs interface {
	Append(ctx context.Context, log string, entry []byte, life time.Duration) (id string, err error)
	ReadAfter(ctx context.Context, log, after string, max int, block time.Duration) ([]state.Entry, error)
	LastID(ctx context.Context, log string) (id string, err error)
}

type keys interface {
	Set(ctx context.Context, key string, value []byte, life time.Duration) error
	SetNX(ctx context.Context, key string, value []byte, life time.Duration) (done bool, err error)
	Get(ctx context.Context, key string) (value []byte, ok bool, err error)
	Take(ctx context.Context, key string) (value []byte, ok bool, err error)
	Delete(ctx context.Context, key string) error
}

type sets interface {
	Join(ctx context.Context, set, member string, life time.Duration) error
	Leave(ctx context.Context, set, member string) error
	Members(ctx context.Context, set string) ([]string, error)
}

// How long things are kept.
const (
	conversationLife = 30 * 24 * time.Hour
	eventLife        = 24 * time.Hour // a stream can be resumed that long
	turnLife         = 15 * time.Second
	turnTick         = 2 * time.Second // how often a turn says that it still runs
	stateTime        = 5 * time.Second // for what is still written when a turn or a client is gone
)

func conversationKey(id string) string { return "conversation:" + id }
func messagesKey(id string) string     { return "messages:" + id }
func eventsKey(id string) string       { return "events:" + id }
func turnKey(id string) string         { return "turn:" + id }   // held while a turn runs
func openKey(id string) string         { return "open:" + id }   // from a turn's first event to its last: the id before the first
func cancelKey(id string) string       { return "cancel:" + id } // a wish to stop the turn, from any replica
func ownedKey(owner string) string     { return "conversations:" + owner }
func askedKey(id string) string        { return "asked:" + id } // confirmation → conversation
func toldKey(id string) string         { return "told:" + id }  // the conversation has heard the outcome
