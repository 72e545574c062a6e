package state

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"countersign.dev/internal/access"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/seal"
)

// Confirmations keeps confirmations in Redis: each under pending:{id}, sealed,
// and per owner an index of ids in the order of their creation.
//
// A change is decided in Go, on a record that was read, and made with
// [Redis.Swap], which replaces the record only if it is still the one that was
// read. So of concurrent callers one wins.
type Confirmations struct {
	redis *Redis
	seals *seal.Ring
}

// NewConfirmations keeps confirmations in r. seals is derived from secrets of the
// server that owns them, and opens those of no other server.
func NewConfirmations(r *Redis, seals *seal.Ring) *Confirmations { return &Confirmations{r, seals} }

// stored is a record in Redis: its entry in the clear, and all of it sealed.
type stored struct {
	confirm.Entry
	Sealed string `json:"sealed"`
}

// sealed is the record under the seal. Input and answer are strings: JSON inside
// JSON would come back compacted and escaped, not byte for byte.
type sealed struct {
	confirm.Record
	Input  string `json:"input"`
	Answer string `json:"answer,omitempty"`
}

// binding keeps a record from being opened under another id.
func binding(id confirm.ID) []byte { return []byte("confirmation/1/" + string(id)) }

func (c *Confirmations) encode(r confirm.Record) ([]byte, error) {
	plain, err := json.Marshal(sealed{Record: r, Input: string(r.Input), Answer: string(r.Answer)})
	if err != nil {
		return nil, err
	}
	return json.Marshal(stored{r.Entry(), c.seals.Seal(plain, binding(r.ID))})
}

// decode opens the record that is stored under an id. One that does not open, or
// whose entry in the clear is another, is CONFIRMATION_ALTERED. One of another
// server, which could not be opened, is errNone; an empty name is any server's.
func (c *Confirmations) decode(id confirm.ID, server string, b []byte) (confirm.Record, error) {
	s, err := entryIn(b)
	switch {
	case err != nil:
		return confirm.Record{}, err
	case server != "" && s.Server != server:
		return confirm.Record{}, errNone
	}
	plain, err := c.seals.Open(s.Sealed, binding(id))
	if err != nil {
		return confirm.Record{}, confirm.Altered(err)
	}
	var r sealed
	if err := json.Unmarshal(plain, &r); err != nil {
		return confirm.Record{}, confirm.Altered(err)
	}
	r.Record.Input, r.Record.Answer = raw(r.Input), raw(r.Answer)
	if r.Entry() != s.Entry || r.ID != id {
		return confirm.Record{}, confirm.Altered(errClear)
	}
	return r.Record, nil
}

func entryIn(b []byte) (stored, error) {
	var s stored
	if err := json.Unmarshal(b, &s); err != nil {
		return stored{}, confirm.Altered(err)
	}
	return s, nil
}

func raw(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	return json.RawMessage(text)
}

func pendingKey(id confirm.ID) string { return "pending:" + string(id) }

// askedKey is that of a copy of the record as it was created, for its owner to see what
// expired. It is read when the record is gone, and nothing is answered by it. An answered
// record outlives it.
func askedKey(id confirm.ID) string { return "asked:" + string(id) }

func (c *Confirmations) key(id confirm.ID) string { return c.redis.key(pendingKey(id)) }

func (c *Confirmations) index(owner access.Owner) string { return c.redis.key(indexKey(owner)) }

func indexKey(owner access.Owner) string { return "pending-of:" + owner.String() }

// Create implements [confirm.Store]. An id that exists is an error.
func (c *Confirmations) Create(ctx context.Context, r confirm.Record) error {
	encoded, err := c.encode(r)
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
			p.SetNX(ctx, c.redis.key(askedKey(r.ID)), encoded, confirm.Memory)
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
func (c *Confirmations) Get(ctx context.Context, server string, id confirm.ID) (r confirm.Record, ok bool, err error) {
	b, expired, err := c.redis.record(ctx, id)
	if err != nil || b == nil {
		return r, false, err
	}
	if r, err = c.decode(id, server, b); errors.Is(err, errNone) {
		return r, false, nil
	}
	if expired {
		r.State = confirm.Expired
	}
	return r, err == nil, err
}

// record returns a record, or the copy of one that expired.
func (r *Redis) record(ctx context.Context, id confirm.ID) (b []byte, expired bool, err error) {
	b, ok, err := r.Get(ctx, pendingKey(id))
	if err != nil || ok {
		return b, false, err
	}
	b, _, err = r.Get(ctx, askedKey(id))
	return b, true, err
}

// Acquire implements [confirm.Store].
func (c *Confirmations) Acquire(ctx context.Context, reply confirm.Reply, owner access.Owner, now time.Time) (confirm.Record, confirm.Acquisition, error) {
	acquired := confirm.Unknown
	record, err := c.change(ctx, reply.ID, reply.Server, func(r *confirm.Record) bool {
		acquired = r.Acquire(reply, owner, now)
		return acquired == confirm.Acquired
	})
	if errors.Is(err, errNone) || (err == nil && acquired == confirm.Unknown) {
		return confirm.Record{}, confirm.Unknown, nil
	}
	return record, acquired, err
}

// Settle implements [confirm.Store].
func (c *Confirmations) Settle(ctx context.Context, attempt confirm.Record, to confirm.State, answer json.RawMessage) (moved bool, err error) {
	_, err = c.change(ctx, attempt.ID, "", func(r *confirm.Record) bool {
		moved = r.Settle(attempt.Acquired, to, answer)
		return moved
	})
	if errors.Is(err, errNone) {
		return false, nil
	}
	return moved && err == nil, err
}

var (
	errNone  = errors.New("no such confirmation")
	errTwice = errors.New("a confirmation of this id exists")
	errClear = errors.New("what is in the clear is not what is sealed")
)

// change reads a record, lets step change it, and swaps it in; when another
// process was faster, it tries again. That process moved the record towards a
// final state, so the loop ends. step says whether to keep the change; then the record is
// kept for [confirm.Memory].
func (c *Confirmations) change(ctx context.Context, id confirm.ID, server string, step func(*confirm.Record) (keep bool)) (confirm.Record, error) {
	for {
		before, ok, err := c.redis.Get(ctx, pendingKey(id))
		if err != nil {
			return confirm.Record{}, err
		}
		if !ok {
			return confirm.Record{}, errNone
		}
		r, err := c.decode(id, server, before)
		if err != nil {
			return r, err
		}
		if !step(&r) {
			return r, nil
		}
		if done, err := c.swap(ctx, before, r); done || err != nil {
			return r, err
		}
	}
}

func (c *Confirmations) swap(ctx context.Context, before []byte, r confirm.Record) (done bool, err error) {
	after, err := c.encode(r)
	if err != nil {
		return false, err
	}
	done, err = c.redis.Swap(ctx, pendingKey(r.ID), before, after, confirm.Memory)
	if done && r.State != confirm.Pending && r.State != confirm.Applying {
		c.forget(ctx, r)
	}
	return done, err
}

// forget removes what only a change that waits needs: its place in its owner's list, and the copy of what was
// asked. Both expire when that fails.
func (c *Confirmations) forget(ctx context.Context, r confirm.Record) {
	_ = c.redis.call(ctx, "forget confirmation", func(ctx context.Context) error {
		_, err := c.redis.client.Pipelined(ctx, func(p redis.Pipeliner) error {
			p.ZRem(ctx, c.index(r.Owner), string(r.ID))
			p.Del(ctx, c.redis.key(askedKey(r.ID)))
			return nil
		})
		return err
	})
}

var _ confirm.Store = (*Confirmations)(nil)
