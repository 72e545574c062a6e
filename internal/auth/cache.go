package auth

import (
	"crypto/sha256"
	"sync"
)

// digest is a cache key that does not contain the token: a memory dump of the
// cache holds no caller's token.
type digest = [sha256.Size]byte

// digestOf hashes a token piece by piece, without a copy of it on the heap.
func digestOf(token string) (d digest) {
	var piece [512]byte
	h := sha256.New()
	for len(token) > 0 {
		n := copy(piece[:], token)
		h.Write(piece[:n])
		token = token[n:]
	}
	h.Sum(d[:0])
	return d
}

// cache keeps at most size values. It has two halves: when the young one is
// full it becomes the old one, and values not used since then are dropped.
type cache[V any] struct {
	half int

	mu         sync.Mutex
	young, old map[digest]V
}

func newCache[V any](size int) *cache[V] {
	return &cache[V]{half: max(size/2, 1), young: make(map[digest]V)}
}

func (c *cache[V]) get(key digest) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if v, ok := c.young[key]; ok {
		return v, true
	}
	v, ok := c.old[key]
	if ok {
		c.add(key, v)
	}
	return v, ok
}

func (c *cache[V]) put(key digest, v V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(key, v)
}

func (c *cache[V]) add(key digest, v V) {
	if len(c.young) >= c.half {
		c.old, c.young = c.young, make(map[digest]V, c.half)
	}
	c.young[key] = v
}
