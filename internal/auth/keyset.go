package auth

import (
	"context"
	"crypto"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"
)

const (
	fetchTimeout = 5 * time.Second
	freshFor     = 10 * time.Minute // then the set is fetched again in the background
	keptFor      = 24 * time.Hour   // while the issuer cannot be reached
	betweenTries = 10 * time.Second // bounds what unknown key IDs can cause
	firstTries   = time.Second      // while there are no keys at all
)

// publicKeys is a published set of keys.
type publicKeys map[keyName]crypto.PublicKey

// keyset holds the keys of one issuer. They are fetched when they are first
// needed, so that a server may start before its issuer does, and again when
// they are old or a token names an unknown one. At most one fetch runs at a
// time and at most one starts in betweenTries, for any requests.
type keyset struct {
	fetch func(context.Context) (publicKeys, error)
	now   func() time.Time
	log   *slog.Logger
	fixed bool // given, not fetched: never old

	current atomic.Pointer[snapshot]

	mu      sync.Mutex
	tried   time.Time
	running chan struct{} // closed when the running fetch is over; nil: none runs
}

// snapshot is one fetched set. Its version grows when a key changes, so that
// what was verified with a withdrawn key is verified anew.
type snapshot struct {
	keys    publicKeys
	at      time.Time
	version uint64
}

func fixedKeys(keys publicKeys) *keyset {
	k := &keyset{now: time.Now, fixed: true}
	k.current.Store(&snapshot{keys: keys})
	return k
}

// find returns the key and the version of its set. It waits for a fetch only
// when the key is unknown. The cause is errUnchecked when none has succeeded since: the
// last one is too recent, or the issuer cannot be reached.
func (k *keyset) find(ctx context.Context, name keyName) (crypto.PublicKey, uint64, error) {
	if s := k.usable(); s != nil {
		if key, ok := s.keys[name]; ok {
			return key, s.version, nil
		}
	}
	asked := k.now()
	k.await(ctx)
	s := k.usable()
	if s == nil {
		return nil, 0, unreachable(errNoKeys)
	}
	key, ok := s.keys[name]
	switch {
	case ok:
		return key, s.version, nil
	case s.at.Before(asked) && !k.fixed:
		return nil, 0, invalid(errUnchecked)
	}
	return nil, 0, invalid(errKeyID)
}

// holds reports whether the version is still the current one.
func (k *keyset) holds(version uint64) bool {
	s := k.usable()
	return s != nil && s.version == version
}

// usable returns the current set unless it is too old, and starts a fetch in the
// background when it is ageing.
func (k *keyset) usable() *snapshot {
	s := k.current.Load()
	if s == nil || k.fixed {
		return s
	}
	age := k.now().Sub(s.at)
	if age > keptFor {
		return nil
	}
	if age > freshFor {
		k.refresh()
	}
	return s
}

// await waits for a fetch, if one runs or may start.
func (k *keyset) await(ctx context.Context) {
	if k.fixed {
		return
	}
	running := k.refresh()
	if running == nil {
		return
	}
	select {
	case <-running:
	case <-ctx.Done():
	}
}

// refresh starts a fetch unless the last one is too recent. The goroutine ends
// with the fetch, which fetchTimeout bounds. The result is nil when nothing
// runs.
func (k *keyset) refresh() <-chan struct{} {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.running != nil {
		return k.running
	}
	pause := betweenTries
	if k.current.Load() == nil {
		pause = firstTries
	}
	if now := k.now(); now.Sub(k.tried) < pause && !k.tried.IsZero() {
		return nil
	}
	k.tried = k.now()
	done := make(chan struct{})
	k.running = done
	go k.run(done)
	return done
}

func (k *keyset) run(done chan struct{}) {
	ctx, cancel := context.WithTimeout(context.Background(), fetchTimeout)
	defer cancel()
	keys, err := k.fetch(ctx)
	if err != nil {
		k.log.WarnContext(ctx, "issuer keys could not be fetched", "error", err)
	} else {
		k.store(keys)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.running = nil
	close(done)
}

func (k *keyset) store(keys publicKeys) {
	next := &snapshot{keys: keys, at: k.now()}
	if last := k.current.Load(); last != nil {
		next.version = last.version
		if !maps.EqualFunc(last.keys, keys, sameKey) {
			next.version++
		}
	}
	k.current.Store(next)
}

func sameKey(a, b crypto.PublicKey) bool {
	key, ok := a.(interface{ Equal(crypto.PublicKey) bool })
	return ok && key.Equal(b)
}
