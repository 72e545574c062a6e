package state

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"countersign.dev/internal/access"
	"countersign.dev/internal/confirm"
)

// Confirmations keeps confirmations in Redis: each as JSON under pending:{id},
// and per owner an index of ids in the order of their creation.
//
// A change is decided in Go, on a record that was read, and made with
// [Redis.Swap], which replaces the record only if it is still the one that was
// read. So of concurrent claimants one wins.
type Confirmations struct{ redis *Redis }

// NewConfirmations keeps confirmations in r.
func NewConfirmations(r *Redis) *Confirmations { return &Confirmations{r} }

// stored is the record in Redis. Input and answer are strings: JSON inside JSON
// would come back compacted and escaped, not byte for byte.
type stored struct {
	confirm.Record
	Input  string `json:"input"`
	Answer string `json:"answer,omitempty"`
}

func encode(r confirm.Record) ([]byte, error) {
	return json.Marshal(stored{Record: r, Input: string(r.Input), Answer: string(r.Answer)})
}

func decode(b []byte) (confirm.Record, error) {
	var s stored
	if err := json.Unmarshal(b, &s); err != nil {
		return confirm.Record{}, fmt.Errorf("reading a confirmation: %w", err)
	}
	s.Record.Input, s.Record.Answer = raw(s.Input), raw(s.Answer)
	return s.Record, nil
}

func raw(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	return json.RawMessage(text)
}

func pendingKey(id confirm.ID) string { return "pending:" + string(id) }

func (c *Confirmations) key(id confirm.ID) string { return c.redis.key(pendingKey(id)) }

func (c *Confirmations) index(owner access.Owner) string {
	return c.redis.key("pending-of:" + owner.String())
}

// Create implements [confirm.Store]. An id that exists is an error.
func (c *Confirmations) Create(ctx context.Context, r confirm.Record) error {
	encoded, err := encode(r)
	if err != nil {
		return err
	}
	ttl, err := ttlOf(r.Expires.Sub(r.Created))
	if err != nil {
		return err
	}
	fresh, err := c.create(ctx, r, encoded, ttl)
	if err == nil && !fresh {
		return errTwice
	}
	return err
}

// create also removes expired ids from the index, so that it is no longer than
// what its owner opened within one TTL.
func (c *Confirmations) create(ctx context.Context, r confirm.Record, encoded []byte, ttl time.Duration) (fresh bool, err error) {
	index, gone := c.index(r.Owner), r.Created.Add(-ttl).UnixMilli()
	err = c.redis.call(ctx, "create confirmation", func(ctx context.Context) error {
		var set *redis.BoolCmd
		_, err := c.redis.client.TxPipelined(ctx, func(p redis.Pipeliner) error {
			set = p.SetNX(ctx, c.key(r.ID), encoded, ttl)
			p.ZRemRangeByScore(ctx, index, "-inf", strconv.FormatInt(gone, 10))
			p.ZAdd(ctx, index, redis.Z{Score: float64(r.Created.UnixMilli()), Member: string(r.ID)})
			p.PExpire(ctx, index, ttl)
			return nil
		})
		fresh = set.Val()
		if errors.Is(err, redis.Nil) { // the reply of a SET NX that set nothing
			return nil
		}
		return err
	})
	return fresh, err
}

// Get implements [confirm.Store].
func (c *Confirmations) Get(ctx context.Context, id confirm.ID) (r confirm.Record, ok bool, err error) {
	b, ok, err := c.redis.Get(ctx, pendingKey(id))
	if err != nil || !ok {
		return r, false, err
	}
	r, err = decode(b)
	return r, err == nil, err
}

// Claim implements [confirm.Store].
func (c *Confirmations) Claim(ctx context.Context, id confirm.ID, owner access.Owner, now time.Time) (confirm.Record, confirm.Claim, error) {
	return c.take(ctx, id, owner, now, confirm.Applying)
}

// Deny implements [confirm.Store].
func (c *Confirmations) Deny(ctx context.Context, id confirm.ID, owner access.Owner, now time.Time) (confirm.Record, confirm.Claim, error) {
	return c.take(ctx, id, owner, now, confirm.Denied)
}

// take moves a pending record of that owner to a state, or returns the claim
// that says why it cannot.
func (c *Confirmations) take(ctx context.Context, id confirm.ID, owner access.Owner, now time.Time, to confirm.State) (confirm.Record, confirm.Claim, error) {
	claim := confirm.Unknown
	record, err := c.change(ctx, id, func(r *confirm.Record) (bool, time.Duration) {
		claim = claimOf(r, owner, now)
		switch claim {
		case confirm.Acquired:
			r.State = to
			if to == confirm.Applying {
				r.Claimed = now
			}
		case confirm.Abandoned:
			r.Claimed = now
		default:
			return false, 0
		}
		return true, confirm.Memory
	})
	if errors.Is(err, errNone) || (err == nil && claim == confirm.Unknown) {
		return confirm.Record{}, confirm.Unknown, nil
	}
	return record, claim, err
}

func claimOf(r *confirm.Record, owner access.Owner, now time.Time) confirm.Claim {
	switch {
	case r.State == confirm.Pending && !now.Before(r.Expires):
		return confirm.Unknown
	case r.Owner != owner:
		return confirm.Foreign
	case r.State == confirm.Pending:
		return confirm.Acquired
	case r.State == confirm.Applying && now.Sub(r.Claimed) > confirm.ClaimAge:
		return confirm.Abandoned
	case r.State == confirm.Applying:
		return confirm.Busy
	}
	return confirm.Ended
}

// Settle implements [confirm.Store].
func (c *Confirmations) Settle(ctx context.Context, id confirm.ID, to confirm.State, answer json.RawMessage, now time.Time) (moved bool, err error) {
	_, err = c.change(ctx, id, func(r *confirm.Record) (bool, time.Duration) {
		reopened := r.State == confirm.Pending && to == confirm.Applied
		moved = r.State == confirm.Applying || reopened
		r.State, r.Answer = to, answer
		if to == confirm.Pending {
			return moved, r.Expires.Sub(now)
		}
		return moved, confirm.Memory
	})
	if errors.Is(err, errNone) {
		return false, nil
	}
	return moved && err == nil, err
}

var (
	errNone  = errors.New("no such confirmation")
	errTwice = errors.New("a confirmation of this id exists")
)

// change reads a record, lets step change it, and swaps it in; when another
// process was faster, it tries again. That process moved the record towards a
// final state, so the loop ends. step says whether to keep the change, and the
// TTL of the record: zero or less deletes it.
func (c *Confirmations) change(ctx context.Context, id confirm.ID, step func(*confirm.Record) (keep bool, ttl time.Duration)) (confirm.Record, error) {
	for {
		before, ok, err := c.redis.Get(ctx, pendingKey(id))
		if err != nil {
			return confirm.Record{}, err
		}
		if !ok {
			return confirm.Record{}, errNone
		}
		r, err := decode(before)
		if err != nil {
			return r, err
		}
		keep, ttl := step(&r)
		if !keep {
			return r, nil
		}
		if done, err := c.swap(ctx, before, r, ttl); done || err != nil {
			return r, err
		}
	}
}

func (c *Confirmations) swap(ctx context.Context, before []byte, r confirm.Record, ttl time.Duration) (done bool, err error) {
	after, err := encode(r)
	if err != nil {
		return false, err
	}
	return c.redis.Swap(ctx, pendingKey(r.ID), before, after, ttl)
}

// PendingOf implements [confirm.Store].
func (c *Confirmations) PendingOf(ctx context.Context, owner access.Owner) ([]confirm.Record, error) {
	var found []any
	err := c.redis.call(ctx, "list confirmations", func(ctx context.Context) error {
		ids, err := c.redis.client.ZRange(ctx, c.index(owner), 0, -1).Result()
		if err != nil || len(ids) == 0 {
			return err
		}
		keys := make([]string, len(ids))
		for i, id := range ids {
			keys[i] = c.key(confirm.ID(id))
		}
		found, err = c.redis.client.MGet(ctx, keys...).Result()
		return err
	})
	if err != nil {
		return nil, err
	}
	return pendingIn(found)
}

func pendingIn(found []any) (pending []confirm.Record, err error) {
	for _, v := range found {
		text, ok := v.(string)
		if !ok { // expired, but still in the index
			continue
		}
		r, err := decode([]byte(text))
		if err != nil {
			return nil, err
		}
		if r.State == confirm.Pending {
			pending = append(pending, r)
		}
	}
	return pending, nil
}

var _ confirm.Store = (*Confirmations)(nil)
