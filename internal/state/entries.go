package state

import (
	"context"

	"countersign.dev/internal/access"
	"countersign.dev/internal/confirm"
)

// Entries finds and lists confirmations by what of them is in the clear, for a
// process that has no key to open them.
type Entries struct{ redis *Redis }

// NewEntries reads the entries of the confirmations in r.
func NewEntries(r *Redis) *Entries { return &Entries{r} }

// maxListed bounds the entries of one list.
const maxListed = 100

// Find returns the entry of a confirmation, also of one that expired. ok is false when
// there is none that can be read.
func (e *Entries) Find(ctx context.Context, id confirm.ID) (entry confirm.Entry, ok bool, err error) {
	b, _, err := e.redis.record(ctx, id)
	if err != nil || b == nil {
		return entry, false, err
	}
	s, err := entryIn(b)
	return s.Entry, err == nil && s.ID == id, nil
}

// PendingOf lists an owner's pending confirmations, at most 100, oldest first. Those that
// are being applied are among them: their server says which one a crash left, and waits again.
func (e *Entries) PendingOf(ctx context.Context, owner access.Owner) ([]confirm.Entry, error) {
	var ids []string
	var found []any
	err := e.redis.call(ctx, "list confirmations", func(ctx context.Context) (err error) {
		ids, err = e.redis.client.ZRange(ctx, e.redis.key(indexKey(owner)), 0, -1).Result()
		if err != nil || len(ids) == 0 {
			return err
		}
		keys := make([]string, len(ids))
		for i, id := range ids {
			keys[i] = e.redis.key(pendingKey(confirm.ID(id)))
		}
		found, err = e.redis.client.MGet(ctx, keys...).Result()
		return err
	})
	if err != nil {
		return nil, err
	}
	var pending []confirm.Entry
	for i, v := range found {
		text, ok := v.(string)
		if !ok { // expired, but still in the index
			continue
		}
		s, err := entryIn([]byte(text))
		waits := s.State == confirm.Pending || s.State == confirm.Applying
		if err == nil && waits && s.ID == confirm.ID(ids[i]) {
			pending = append(pending, s.Entry)
		}
	}
	return pending[:min(len(pending), maxListed)], nil
}
