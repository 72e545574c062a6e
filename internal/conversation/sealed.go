package conversation

import (
	"context"
	"encoding/json"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"countersign.dev/internal/seal"
)

// sealedLogs appends entries that are sealed for their place: the log and the id
// under which they stand there. An entry of another log, or at another place of
// its own, does not open.
type sealedLogs struct {
	byteLog
	next *numbers
}

func newSealedLogs(logs byteLog) sealedLogs {
	return sealedLogs{logs, &numbers{next: make(map[string]int64)}}
}

// append seals an entry for the next id of the log and adds it. When another
// writer took that id, the entry is sealed again for the one that follows.
func (s sealedLogs) append(ctx context.Context, log string, ttl time.Duration, seal func(id string) ([]byte, error)) (id string, err error) {
	for seq := s.next.of(log); ; {
		id = strconv.FormatInt(seq, 10) + "-0"
		entry, err := seal(id)
		if err != nil {
			return "", err
		}
		next, done, err := s.AppendNumbered(ctx, log, seq, entry, ttl)
		if err != nil {
			return "", err
		}
		if s.next.set(log, next); done {
			return id, nil
		}
		seq = next
	}
}

// maxNumbers bounds the logs whose next number is remembered.
const maxNumbers = 10_000

// numbers remembers the next number of logs, so that an append is one exchange. It
// may be out of date.
type numbers struct {
	mu   sync.Mutex
	next map[string]int64
}

func (n *numbers) of(log string) int64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return max(n.next[log], 1)
}

func (n *numbers) set(log string, next int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.next) >= maxNumbers {
		clear(n.next)
	}
	n.next[log] = next
}

// skew is how far the clocks of replicas may differ.
const skew = time.Minute

// keyStore keeps values under keys.
type keyStore interface {
	Set(ctx context.Context, key string, value []byte, ttl time.Duration) error
	SetNX(ctx context.Context, key string, value []byte, ttl time.Duration) (done bool, err error)
	Get(ctx context.Context, key string) (value []byte, ok bool, err error)
	Swap(ctx context.Context, key string, before, after []byte, ttl time.Duration) (done bool, err error)
}

// sealedKeys keeps small values that decide what the service does. Each is sealed
// for its key, with the time at which it ends: one that was altered, moved from
// another key, or put back after its time counts as absent.
type sealedKeys struct {
	keys keyStore
	ring *seal.Ring
	log  *slog.Logger
	now  func() time.Time
}

// sealedValue is what is under the seal.
type sealedValue struct {
	Value   string    `json:"value"`
	Expires time.Time `json:"expires"`
}

func keyBinding(key string) []byte { return []byte("key/1/" + key) }

func (s sealedKeys) seal(key, value string, life time.Duration) ([]byte, error) {
	plain, err := json.Marshal(sealedValue{value, s.now().Add(life + skew).UTC()})
	if err != nil {
		return nil, err
	}
	return s.ring.SealBytes(plain, keyBinding(key)), nil
}

func (s sealedKeys) open(ctx context.Context, key string, stored []byte) (value string, ok bool) {
	var v sealedValue
	plain, err := s.ring.OpenBytes(stored, keyBinding(key))
	if err == nil {
		err = json.Unmarshal(plain, &v)
	}
	if err != nil {
		s.log.WarnContext(ctx, "a key in Redis was altered, or sealed with other keys", "key", key, "error", err)
		return "", false
	}
	if !s.now().Before(v.Expires) {
		return "", false
	}
	return v.Value, true
}

// set keeps a value for a time.
func (s sealedKeys) set(ctx context.Context, key, value string, ttl time.Duration) error {
	sealed, err := s.seal(key, value, ttl)
	if err != nil {
		return err
	}
	return s.keys.Set(ctx, key, sealed, ttl)
}

// claim is set unless the key has a value. It returns what Redis has when it was
// set. The life under the seal may be longer than the key's TTL, which can be
// renewed until then.
func (s sealedKeys) claim(ctx context.Context, key, value string, ttl, life time.Duration) (sealed []byte, done bool, err error) {
	if sealed, err = s.seal(key, value, life); err != nil {
		return nil, false, err
	}
	if done, err = s.keys.SetNX(ctx, key, sealed, ttl); done || err != nil {
		return sealed, done, err
	}
	stored, there, err := s.keys.Get(ctx, key)
	if err != nil || !there { // it has just ended: the caller may try again
		return nil, false, err
	}
	if _, valid := s.open(ctx, key, stored); valid {
		return nil, false, nil
	}
	done, err = s.keys.Swap(ctx, key, stored, sealed, ttl)
	return sealed, done, err
}

// get returns the value of a key. ok is false when it has none.
func (s sealedKeys) get(ctx context.Context, key string) (value string, ok bool, err error) {
	stored, ok, err := s.keys.Get(ctx, key)
	if err != nil || !ok {
		return "", false, err
	}
	value, ok = s.open(ctx, key, stored)
	return value, ok, nil
}

// take is get, and deletes the value. Of several callers one gets it.
func (s sealedKeys) take(ctx context.Context, key string) (value string, ok bool, err error) {
	stored, ok, err := s.keys.Get(ctx, key)
	if err != nil || !ok {
		return "", false, err
	}
	if value, ok = s.open(ctx, key, stored); !ok {
		return "", false, nil
	}
	ok, err = s.remove(ctx, key, stored)
	return value, ok, err
}

// remove deletes a key while it has that value.
func (s sealedKeys) remove(ctx context.Context, key string, sealed []byte) (done bool, err error) {
	return s.keys.Swap(ctx, key, sealed, nil, 0)
}
