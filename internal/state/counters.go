package state

import (
	"context"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// Counters are sums that replicas add to.
type Counters struct{ redis *Redis }

// NewCounters keeps counters in r.
func NewCounters(r *Redis) Counters { return Counters{r} }

// Count adds to the fields of a counter, which lives for ttl after it.
func (c Counters) Count(ctx context.Context, key string, add map[string]int64, ttl time.Duration) error {
	return c.redis.call(ctx, "count", func(ctx context.Context) error {
		_, err := c.redis.client.TxPipelined(ctx, func(p redis.Pipeliner) error {
			for field, n := range add {
				p.HIncrBy(ctx, c.redis.key(key), field, n)
			}
			p.PExpire(ctx, c.redis.key(key), ttl)
			return nil
		})
		return err
	})
}

// Counts returns the fields of counters, in the order of the keys. What is no
// number counts as none.
func (c Counters) Counts(ctx context.Context, keys ...string) (counts []map[string]int64, err error) {
	err = c.redis.call(ctx, "counts", func(ctx context.Context) error {
		counts = nil
		answers := make([]*redis.MapStringStringCmd, len(keys))
		_, err := c.redis.client.Pipelined(ctx, func(p redis.Pipeliner) error {
			for i, key := range keys {
				answers[i] = p.HGetAll(ctx, c.redis.key(key))
			}
			return nil
		})
		for _, a := range answers {
			fields := make(map[string]int64, len(a.Val()))
			for field, text := range a.Val() {
				if n, err := strconv.ParseInt(text, 10, 64); err == nil {
					fields[field] = n
				}
			}
			counts = append(counts, fields)
		}
		return err
	})
	return counts, err
}
