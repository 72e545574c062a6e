package state

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
)

var errNoTTL = errors.New("a key in Redis needs a TTL")

// ttlOf rounds a TTL up to the milliseconds that Redis counts.
func ttlOf(d time.Duration) (time.Duration, error) {
	if d <= 0 {
		return 0, errNoTTL
	}
	return max(d, time.Millisecond), nil
}

// Set keeps a value until its TTL ends.
func (r *Redis) Set(ctx context.Context, key string, value []byte, ttl time.Duration) error {
	ttl, err := ttlOf(ttl)
	if err != nil {
		return err
	}
	return r.call(ctx, "set", func(ctx context.Context) error {
		return r.client.Set(ctx, r.key(key), value, ttl).Err()
	})
}

// SetNX is Set unless the key has a value; done says whether it was set.
func (r *Redis) SetNX(ctx context.Context, key string, value []byte, ttl time.Duration) (done bool, err error) {
	if ttl, err = ttlOf(ttl); err != nil {
		return false, err
	}
	err = r.call(ctx, "set nx", func(ctx context.Context) error {
		done, err = r.client.SetNX(ctx, r.key(key), value, ttl).Result()
		return err
	})
	return done, err
}

// Get returns a key's value. ok is false when it has none. The value of a key that
// someone gave another type is empty, which no caller writes here.
func (r *Redis) Get(ctx context.Context, key string) (value []byte, ok bool, err error) {
	return r.value(ctx, "get", func(ctx context.Context) *redis.StringCmd { return r.client.Get(ctx, r.key(key)) })
}

// Take returns a key's value and deletes it. Of concurrent callers one gets it.
func (r *Redis) Take(ctx context.Context, key string) (value []byte, ok bool, err error) {
	return r.value(ctx, "getdel", func(ctx context.Context) *redis.StringCmd { return r.client.GetDel(ctx, r.key(key)) })
}

func (r *Redis) value(ctx context.Context, what string, ask func(context.Context) *redis.StringCmd) (value []byte, ok bool, err error) {
	err = r.call(ctx, what, func(ctx context.Context) error {
		value, err = ask(ctx).Bytes()
		ok = !errors.Is(err, redis.Nil)
		if !ok || redis.HasErrorPrefix(err, wrongType) {
			return nil
		}
		return err
	})
	return value, ok && err == nil, err
}

// swap reads like Get.
var swap = redis.NewScript(`
local current = redis.pcall('GET', KEYS[1])
if type(current) == 'table' then
	current = ''
end
if current ~= ARGV[1] then
	return 0
end
if tonumber(ARGV[3]) > 0 then
	redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
else
	redis.call('DEL', KEYS[1])
end
return 1`)

// Swap replaces a value by its successor, unless it is no longer the one named
// before; done says whether it did. A TTL of zero or less deletes the key.
func (r *Redis) Swap(ctx context.Context, key string, before, after []byte, ttl time.Duration) (done bool, err error) {
	err = r.call(ctx, "swap", func(ctx context.Context) error {
		done, err = swap.Run(ctx, r.client, []string{r.key(key)}, before, after, ttl.Milliseconds()).Bool()
		return err
	})
	return done, err
}

// renew makes one command and renews the TTL of its key, in one step.
func (r *Redis) renew(ctx context.Context, name, key string, ttl time.Duration, command func(redis.Pipeliner)) error {
	ttl, err := ttlOf(ttl)
	if err != nil {
		return err
	}
	return r.call(ctx, name, func(ctx context.Context) error {
		_, err := r.client.TxPipelined(ctx, func(p redis.Pipeliner) error {
			command(p)
			p.PExpire(ctx, r.key(key), ttl)
			return nil
		})
		return err
	})
}

// Delete removes a key or a set. A missing one is no error.
func (r *Redis) Delete(ctx context.Context, key string) error {
	return r.call(ctx, "del", func(ctx context.Context) error { return r.client.Del(ctx, r.key(key)).Err() })
}

// Join adds a member to a set and renews the TTL of the whole set.
func (r *Redis) Join(ctx context.Context, set, member string, ttl time.Duration) error {
	return r.renew(ctx, "sadd", set, ttl, func(p redis.Pipeliner) { p.SAdd(ctx, r.key(set), member) })
}

// Leave removes a member from a set. A missing member is no error.
func (r *Redis) Leave(ctx context.Context, set, member string) error {
	return r.call(ctx, "srem", func(ctx context.Context) error { return r.client.SRem(ctx, r.key(set), member).Err() })
}

// Members lists a set, sorted.
func (r *Redis) Members(ctx context.Context, set string) (members []string, err error) {
	err = r.call(ctx, "smembers", func(ctx context.Context) error {
		members, err = r.client.SMembers(ctx, r.key(set)).Result()
		return err
	})
	slices.Sort(members)
	return members, err
}
