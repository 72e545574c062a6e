package state

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
)

var errNoLife = errors.New("nothing is kept in Redis without a life")

// lifeOf rounds a life up to what Redis can count.
func lifeOf(d time.Duration) (time.Duration, error) {
	if d <= 0 {
		return 0, errNoLife
	}
	return max(d, time.Millisecond), nil
}

// Set keeps a value for life.
func (r *Redis) Set(ctx context.Context, key string, value []byte, life time.Duration) error {
	life, err := lifeOf(life)
	if err != nil {
		return err
	}
	return r.call(ctx, "set", func(ctx context.Context) error {
		return r.client.Set(ctx, r.key(key), value, life).Err()
	})
}

// SetNX keeps a value for life unless the key has one; done says whether it did.
func (r *Redis) SetNX(ctx context.Context, key string, value []byte, life time.Duration) (done bool, err error) {
	if life, err = lifeOf(life); err != nil {
		return false, err
	}
	err = r.call(ctx, "set nx", func(ctx context.Context) error {
		done, err = r.client.SetNX(ctx, r.key(key), value, life).Result()
		return err
	})
	return done, err
}

// Get returns a key's value. ok is false when it has none.
func (r *Redis) Get(ctx context.Context, key string) (value []byte, ok bool, err error) {
	return r.value(ctx, "get", func(ctx context.Context) *redis.StringCmd { return r.client.Get(ctx, r.key(key)) })
}

// Take returns a key's value and deletes it. Of any number of takers one gets it.
func (r *Redis) Take(ctx context.Context, key string) (value []byte, ok bool, err error) {
	return r.value(ctx, "getdel", func(ctx context.Context) *redis.StringCmd { return r.client.GetDel(ctx, r.key(key)) })
}

func (r *Redis) value(ctx context.Context, what string, ask func(context.Context) *redis.StringCmd) (value []byte, ok bool, err error) {
	err = r.call(ctx, what, func(ctx context.Context) error {
		value, err = ask(ctx).Bytes()
		ok = err == nil
		if errors.Is(err, redis.Nil) {
			return nil
		}
		return err
	})
	return value, ok, err
}

// Swap replaces a value by its successor, unless it is no longer the one named
// before; done says whether it did. A life that is over deletes the key.
func (r *Redis) Swap(ctx context.Context, key string, before, after []byte, life time.Duration) (done bool, err error) {
	err = r.call(ctx, "swap", func(ctx context.Context) error {
		done, err = swap.Run(ctx, r.client, []string{r.key(key)}, before, after, life.Milliseconds()).Bool()
		return err
	})
	return done, err
}

// Delete removes a key or a set. That there was none is no error.
func (r *Redis) Delete(ctx context.Context, key string) error {
	return r.call(ctx, "del", func(ctx context.Context) error { return r.client.Del(ctx, r.key(key)).Err() })
}

// Join puts a member into a set and gives the whole set a new life.
func (r *Redis) Join(ctx context.Context, set, member string, life time.Duration) error {
	life, err := lifeOf(life)
	if err != nil {
		return err
	}
	return r.call(ctx, "sadd", func(ctx context.Context) error {
		_, err := r.client.TxPipelined(ctx, func(p redis.Pipeliner) error {
			p.SAdd(ctx, r.key(set), member)
			p.PExpire(ctx, r.key(set), life)
			return nil
		})
		return err
	})
}

// Leave takes a member out of a set. That it was not in is no error.
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
