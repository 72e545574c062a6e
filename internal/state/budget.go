package state

import (
	"context"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// takeTokens refills a bucket by the server's own clock, which all replicas
// share, and takes up to ARGV[1] whole tokens. When there is none it returns the
// microseconds until that many are there. A bucket that would be full by then is
// not kept, and one that this script cannot have written counts as full: it would
// keep its person out, or everyone in a process that takes its error for an outage.
var takeTokens = redis.NewScript(`
local want, perSecond, burst = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000000 + tonumber(clock[2])
local kept = redis.pcall('HMGET', KEYS[1], 'tokens', 'at')
if kept.err then
	redis.call('DEL', KEYS[1])
end
local tokens, at = tonumber(kept[1]) or burst, tonumber(kept[2]) or now
if not (tokens >= 0 and at <= now) then
	tokens, at = burst, now
end
tokens = math.min(burst, tokens + math.max(0, now - at) * perSecond / 1000000)
local taken = math.min(want, math.floor(tokens))
if taken < 1 then
	return {0, math.ceil((math.min(want, burst) - tokens) * 1000000 / perSecond)}
end
redis.call('HSET', KEYS[1], 'tokens', string.format('%.6f', tokens - taken), 'at', string.format('%.0f', now))
redis.call('PEXPIRE', KEYS[1], math.ceil(burst * 1000 / perSecond) + 1000)
return {taken, 0}`)

// Budgets shares what people may use among replicas: buckets of tokens, and slots
// that expire.
type Budgets struct{ redis *Redis }

// NewBudgets keeps budgets in r.
func NewBudgets(r *Redis) Budgets { return Budgets{r} }

// TakeTokens takes up to want tokens from the bucket of a key, which holds at
// most burst tokens and gains perSecond of them a second. When it has none, wait
// is the time until it has want again.
func (b Budgets) TakeTokens(ctx context.Context, key string, want, perSecond, burst int) (taken int, wait time.Duration, err error) {
	err = b.redis.call(ctx, "take tokens", func(ctx context.Context) error {
		answer, err := takeTokens.Run(ctx, b.redis.client, []string{b.redis.key(key)}, want, perSecond, burst).Int64Slice()
		if err == nil {
			taken, wait = int(answer[0]), time.Duration(answer[1])*time.Microsecond
		}
		return err
	})
	return taken, wait, err
}

// hold adds or renews the holder ARGV[1] of a set of at most ARGV[2], after the
// holders whose time is over have left it. What is no such set counts as empty.
var hold = redis.NewScript(`
local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000 + math.floor(tonumber(clock[2]) / 1000)
if type(redis.pcall('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)) == 'table' then
	redis.call('DEL', KEYS[1])
end
if not redis.call('ZSCORE', KEYS[1], ARGV[1]) and redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[2]) then
	return 0
end
redis.call('ZADD', KEYS[1], now + tonumber(ARGV[3]), ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1`)

// Hold makes holder one of at most limit holders of a key, or renews its slot;
// held is false when the slots are taken. A holder that does not renew its
// slot within ttl loses it.
func (b Budgets) Hold(ctx context.Context, key, holder string, limit int, ttl time.Duration) (held bool, err error) {
	if ttl, err = ttlOf(ttl); err != nil {
		return false, err
	}
	err = b.redis.call(ctx, "hold", func(ctx context.Context) error {
		held, err = hold.Run(ctx, b.redis.client, []string{b.redis.key(key)}, holder, strconv.Itoa(limit), ttl.Milliseconds()).Bool()
		return err
	})
	return held, err
}

// Unhold gives a holder's slot back. A missing holder is no error.
func (b Budgets) Unhold(ctx context.Context, key, holder string) error {
	return b.redis.call(ctx, "unhold", func(ctx context.Context) error { return b.redis.client.ZRem(ctx, b.redis.key(key), holder).Err() })
}
