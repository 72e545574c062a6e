package live

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/plaintext"
	"countersign.dev/internal/seal"
)

const (
	missedBeats  = 3   // without a renewal a connection is no longer listed
	maxUserAgent = 200 // characters
)

// Connection is an open connection as its owner sees it: document 001's
// ConnectionMetadata. Times are milliseconds since 1970.
type Connection struct {
	SessionID    string `json:"sessionId"` // the conversation
	ClientID     string `json:"clientId"`  // of this connection alone
	ConnectedAt  int64  `json:"connectedAt"`
	LastActiveAt int64  `json:"lastActiveAt"` // of its last message or pong
	UserAgent    string `json:"userAgent,omitempty"`
}

// values keeps the entries of connections. Package state has it.
type values interface {
	Set(ctx context.Context, key string, value []byte, ttl time.Duration) error
	Get(ctx context.Context, key string) (value []byte, ok bool, err error)
	Delete(ctx context.Context, key string) error
}

// sets keeps the ids of each person's connections. Package state has it.
type sets interface {
	Join(ctx context.Context, set, member string, ttl time.Duration) error
	Leave(ctx context.Context, set, member string) error
	Members(ctx context.Context, set string) ([]string, error)
}

// Connections is the list of open connections, shared by all replicas. An entry
// that its replica no longer renews expires after three heartbeats.
type Connections struct {
	values values
	sets   sets
	ring   *seal.Ring
}

// NewConnections keeps the list in a store, its entries sealed with ring.
func NewConnections[Store interface {
	values
	sets
}](store Store, ring *seal.Ring) *Connections {
	return &Connections{store, store, ring}
}

// entry is what is under the seal: one that is put back after its time is none.
type entry struct {
	Connection
	Ends time.Time
}

func entryKey(client string) string      { return "connection:" + client }
func ownerKey(owner access.Owner) string { return "connections:" + owner.String() }

func binding(o access.Owner, client string) []byte {
	return []byte("connection/2/" + o.String() + "/" + client)
}

// renew lists a connection for ttl.
func (c *Connections) renew(ctx context.Context, o access.Owner, one Connection, ttl time.Duration) error {
	if c == nil {
		return nil
	}
	plain, err := json.Marshal(entry{one, time.Now().Add(ttl)})
	if err != nil {
		return err
	}
	if err := c.values.Set(ctx, entryKey(one.ClientID), c.ring.SealBytes(plain, binding(o, one.ClientID)), ttl); err != nil {
		return err
	}
	return c.sets.Join(ctx, ownerKey(o), one.ClientID, ttl)
}

func (c *Connections) remove(ctx context.Context, o access.Owner, client string) error {
	if c == nil {
		return nil
	}
	if err := c.values.Delete(ctx, entryKey(client)); err != nil {
		return err
	}
	return c.sets.Leave(ctx, ownerKey(o), client)
}

// of returns the connections of a person, oldest first. Entries that ended, also ones
// that somebody put back, or that were not sealed for the person, leave the list.
func (c *Connections) of(ctx context.Context, o access.Owner) ([]Connection, error) {
	list := []Connection{}
	if c == nil {
		return list, nil
	}
	clients, err := c.sets.Members(ctx, ownerKey(o))
	if err != nil {
		return nil, err
	}
	for _, client := range clients {
		one, ok, err := c.entry(ctx, o, client)
		if err == nil && !ok {
			err = c.sets.Leave(ctx, ownerKey(o), client)
		}
		if err != nil {
			return nil, err
		}
		if ok {
			list = append(list, one)
		}
	}
	slices.SortFunc(list, func(x, y Connection) int {
		return cmp.Or(cmp.Compare(x.ConnectedAt, y.ConnectedAt), cmp.Compare(x.ClientID, y.ClientID))
	})
	return list, nil
}

func (c *Connections) entry(ctx context.Context, o access.Owner, client string) (one Connection, ok bool, err error) {
	sealed, ok, err := c.values.Get(ctx, entryKey(client))
	if err != nil || !ok {
		return one, false, err
	}
	var kept entry
	plain, opened := c.ring.OpenBytes(sealed, binding(o, client))
	ok = opened == nil && json.Unmarshal(plain, &kept) == nil && time.Now().Before(kept.Ends)
	return kept.Connection, ok, nil
}

// userAgentOf returns the User-Agent of a client, clipped and escaped for display.
func userAgentOf(header string) string {
	return plaintext.Escape(plaintext.Clip(header, maxUserAgent), false)
}
