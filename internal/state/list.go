package state

import (
	"context"
	"crypto/rand"
	"errors"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// List is a named list of entries, each on it until a time of its own.
type List struct {
	redis *Redis
	name  string
	life  time.Duration
}

// NewList returns the list of a name, whose entries are on it for a life at most.
func NewList(redis *Redis, name string, life time.Duration) *List { return &List{redis, name, life} }

// version is the key that says which version the list has. A change gives it a
// new random value, so that a list which was lost and filled again has another.
func (l *List) version() string { return l.name + ":version" }

// Enlist puts entries on the list, each until its time; an entry that is on it
// already gets that time. Entries whose time is over by now are removed.
func (l *List) Enlist(ctx context.Context, entries map[string]time.Time, now time.Time) error {
	if len(entries) == 0 {
		return nil
	}
	r := l.redis
	members := make([]redis.Z, 0, len(entries))
	for entry, until := range entries {
		members = append(members, redis.Z{Score: float64(until.UnixMilli()), Member: entry})
	}
	return r.call(ctx, "enlist", func(ctx context.Context) error {
		_, err := r.client.TxPipelined(ctx, func(p redis.Pipeliner) error {
			p.ZRemRangeByScore(ctx, r.key(l.name), "-inf", strconv.FormatInt(now.UnixMilli(), 10))
			p.ZAdd(ctx, r.key(l.name), members...)
			p.PExpire(ctx, r.key(l.name), l.life)
			p.Set(ctx, r.key(l.version()), rand.Text(), l.life)
			return nil
		})
		return err
	})
}

// Listed returns the entries with the times until which they are on
// it, and the list's version. While that is the known one it returns no entries,
// after reading nothing else. A list that was never filled, or was lost, has an
// empty version.
func (l *List) Listed(ctx context.Context, known string) (entries map[string]time.Time, version string, err error) {
	r := l.redis
	value, _, err := r.Get(ctx, l.version())
	if err != nil || string(value) == known {
		return nil, known, err
	}
	err = r.call(ctx, "listed", func(ctx context.Context) error {
		var current *redis.StringCmd
		var members *redis.ZSliceCmd
		_, err := r.client.TxPipelined(ctx, func(p redis.Pipeliner) error {
			current = p.Get(ctx, r.key(l.version()))
			members = p.ZRangeWithScores(ctx, r.key(l.name), 0, -1)
			return nil
		})
		if err != nil && !errors.Is(err, redis.Nil) {
			return err
		}
		version = current.Val()
		entries = make(map[string]time.Time, len(members.Val()))
		for _, m := range members.Val() {
			entries[m.Member.(string)] = time.UnixMilli(int64(m.Score))
		}
		return nil
	})
	return entries, version, err
}
