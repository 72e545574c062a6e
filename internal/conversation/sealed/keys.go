package sealed

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"countersign.dev/internal/seal"
)

// skew is how far the clocks of replicas may differ.
const skew = time.Minute

// Store keeps values under keys, and swaps them.
type Store interface {
	Set(ctx context.Context, key string, value []byte, ttl time.Duration) error
	SetNX(ctx context.Context, key string, value []byte, ttl time.Duration) (done bool, err error)
	Get(ctx context.Context, key string) (value []byte, ok bool, err error)
	Swap(ctx context.Context, key string, before, after []byte, ttl time.Duration) (done bool, err error)
}

// Keys keeps small values that decide what the service does. Each is sealed
// for its key, with the time at which it ends: one that was altered, moved from
// another key, or put back after its time counts as absent. All fields are required.
type Keys struct {
	Store Store
	Ring  *seal.Ring
	Log   *slog.Logger
	Now   func() time.Time
}

// content is what is under the seal.
type content struct {
	Value   string    `json:"value"`
	Expires time.Time `json:"expires"`
}

func keyBinding(key string) []byte { return []byte("key/1/" + key) }

func (s Keys) seal(key, value string, life time.Duration) ([]byte, error) {
	plain, err := json.Marshal(content{value, s.Now().Add(life + skew).UTC()})
	if err != nil {
		return nil, err
	}
	return s.Ring.SealBytes(plain, keyBinding(key)), nil
}

func (s Keys) open(ctx context.Context, key string, stored []byte) (value string, ok bool) {
	var v content
	plain, err := s.Ring.OpenBytes(stored, keyBinding(key))
	if err == nil {
		err = json.Unmarshal(plain, &v)
	}
	if err != nil {
		s.Log.WarnContext(ctx, "a key in Redis was altered, or sealed with other keys", "key", key, "error", err)
		return "", false
	}
	if !s.Now().Before(v.Expires) {
		return "", false
	}
	return v.Value, true
}

// Set keeps a value for a time.
func (s Keys) Set(ctx context.Context, key, value string, ttl time.Duration) error {
	sealed, err := s.seal(key, value, ttl)
	if err != nil {
		return err
	}
	return s.Store.Set(ctx, key, sealed, ttl)
}

// SetNew is Set unless the key has a value. It returns what Redis has when it was
// set. The life under the seal may be longer than the key's TTL, which can be
// renewed until then.
func (s Keys) SetNew(ctx context.Context, key, value string, ttl, life time.Duration) (sealed []byte, done bool, err error) {
	if sealed, err = s.seal(key, value, life); err != nil {
		return nil, false, err
	}
	if done, err = s.Store.SetNX(ctx, key, sealed, ttl); done || err != nil {
		return sealed, done, err
	}
	stored, there, err := s.Store.Get(ctx, key)
	if err != nil || !there { // it has just expired: the caller may try again
		return nil, false, err
	}
	if _, valid := s.open(ctx, key, stored); valid {
		return nil, false, nil
	}
	done, err = s.Store.Swap(ctx, key, stored, sealed, ttl)
	return sealed, done, err
}

// Get returns the value of a key. ok is false when it has none.
func (s Keys) Get(ctx context.Context, key string) (value string, ok bool, err error) {
	value, _, ok, err = s.Find(ctx, key)
	return value, ok, err
}

// Find is Get that returns what Redis has, too, for [Keys.Remove]. No two values that were set are the same there.
func (s Keys) Find(ctx context.Context, key string) (value string, sealed []byte, ok bool, err error) {
	sealed, ok, err = s.Store.Get(ctx, key)
	if err != nil || !ok {
		return "", nil, false, err
	}
	value, ok = s.open(ctx, key, sealed)
	return value, sealed, ok, nil
}

// Remove deletes a key while it has that value. Of several callers one does.
func (s Keys) Remove(ctx context.Context, key string, sealed []byte) (done bool, err error) {
	return s.Store.Swap(ctx, key, sealed, nil, 0)
}
