package state

import (
	"context"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// standInLine gives the member ARGV[1] the last place of a line of at most ARGV[2]
// members, or renews the place that it has, after the members that were not
// renewed in time have left. It returns the place, 0 for the first, or -1: the
// line is full, or with a limit of 0 the member is not in it.
var standInLine = redis.NewScript(`
local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000000 + tonumber(clock[2])
for _, gone in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now)) do
	redis.call('ZREM', KEYS[1], gone)
	redis.call('ZREM', KEYS[2], gone)
end
if not redis.call('ZSCORE', KEYS[1], ARGV[1]) then
	if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then
		return -1
	end
	redis.call('ZADD', KEYS[1], now, ARGV[1])
end
redis.call('ZADD', KEYS[2], now + tonumber(ARGV[3]) * 1000, ARGV[1])
for _, key in ipairs(KEYS) do
	if redis.call('PTTL', key) < tonumber(ARGV[3]) then
		redis.call('PEXPIRE', key, ARGV[3])
	end
end
return redis.call('ZRANK', KEYS[1], ARGV[1])`)

// Lines are lines in which members of all replicas wait: first come, first
// served, by the clock of Redis.
type Lines struct{ redis *Redis }

// NewLines keeps lines in r.
func NewLines(r *Redis) Lines { return Lines{r} }

func (l Lines) keys(line string) []string {
	return []string{l.redis.key(line), l.redis.key(line + ":renewed")}
}

// Enter gives a member the last place of a line, 0 being the first, or renews its
// place. ok is false when the line has limit members already. A member that is not
// renewed within ttl has left.
func (l Lines) Enter(ctx context.Context, line, member string, limit int, ttl time.Duration) (position int, ok bool, err error) {
	if ttl, err = ttlOf(ttl); err != nil {
		return 0, false, err
	}
	err = l.redis.call(ctx, "enter a line", func(ctx context.Context) error {
		position, err = standInLine.Run(ctx, l.redis.client, l.keys(line), member, strconv.Itoa(limit), ttl.Milliseconds()).Int()
		return err
	})
	return max(position, 0), position >= 0, err
}

// Place renews the place of a member and returns it. ok is false when the member
// is no longer in the line.
func (l Lines) Position(ctx context.Context, line, member string, ttl time.Duration) (position int, ok bool, err error) {
	return l.Enter(ctx, line, member, 0, ttl)
}

// Quit removes a member from a line. A missing one is no error.
func (l Lines) Quit(ctx context.Context, line, member string) error {
	return l.redis.call(ctx, "leave a line", func(ctx context.Context) error {
		_, err := l.redis.client.Pipelined(ctx, func(p redis.Pipeliner) error {
			for _, key := range l.keys(line) {
				p.ZRem(ctx, key, member)
			}
			return nil
		})
		return err
	})
}

// Clear removes all members of a line and returns how many there were.
func (l Lines) Clear(ctx context.Context, line string) (waited int, err error) {
	keys := l.keys(line)
	err = l.redis.call(ctx, "clear a line", func(ctx context.Context) error {
		counted := l.redis.client.TxPipeline()
		size := counted.ZCard(ctx, keys[0])
		counted.Del(ctx, keys...)
		_, err := counted.Exec(ctx)
		waited = int(size.Val())
		return err
	})
	return waited, err
}
