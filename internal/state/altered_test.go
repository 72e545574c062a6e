package state

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"countersign.dev/internal/access"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/fault"
)

// TestKeyOfAnotherTypeIsRefusedOrCountsAsEmpty: someone who can write to the server can give a key
// another type, or text where a number is. No command fails on it as if the fault were ours.
func TestKeyOfAnotherTypeIsRefusedOrCountsAsEmpty(t *testing.T) {
	t.Parallel()
	owner := access.Owner{Issuer: "i", Subject: "s"}
	forgeries := map[string]func(ctx context.Context, r *Redis, key string) error{
		"text": func(ctx context.Context, r *Redis, key string) error { return r.client.Set(ctx, key, "x", 0).Err() },
		"list": func(ctx context.Context, r *Redis, key string) error { return r.client.LPush(ctx, key, "x").Err() },
		"hash": func(ctx context.Context, r *Redis, key string) error {
			return r.client.HSet(ctx, key, "tokens", "nan", "at", "1e300", "n", "x").Err()
		},
		"set": func(ctx context.Context, r *Redis, key string) error { return r.client.SAdd(ctx, key, "x").Err() },
		"stream": func(ctx context.Context, r *Redis, key string) error {
			return r.client.XAdd(ctx, &redis.XAddArgs{Stream: key, ID: "18446744073709551615-18446744073709551615", Values: []string{"x", "y"}}).Err()
		},
	}
	for _, number := range []string{"-5", "1e400", "nan", "1152921504606846976", "9223372036854775807"} {
		forgeries[number] = func(ctx context.Context, r *Redis, key string) error { return r.client.Set(ctx, key, number, 0).Err() }
	}
	for name, command := range map[string]func(ctx context.Context, r *Redis) error{
		"Set":     func(ctx context.Context, r *Redis) error { return r.Set(ctx, "k", nil, time.Minute) },
		"SetNX":   func(ctx context.Context, r *Redis) error { _, err := r.SetNX(ctx, "k", nil, time.Minute); return err },
		"Get":     func(ctx context.Context, r *Redis) error { _, _, err := r.Get(ctx, "k"); return err },
		"Take":    func(ctx context.Context, r *Redis) error { _, _, err := r.Take(ctx, "k"); return err },
		"Swap":    func(ctx context.Context, r *Redis) error { _, err := r.Swap(ctx, "k", []byte("a"), nil, 0); return err },
		"Delete":  func(ctx context.Context, r *Redis) error { return r.Delete(ctx, "k") },
		"Join":    func(ctx context.Context, r *Redis) error { return r.Join(ctx, "k", "a", time.Minute) },
		"Leave":   func(ctx context.Context, r *Redis) error { return r.Leave(ctx, "k", "a") },
		"Members": func(ctx context.Context, r *Redis) error { _, err := r.Members(ctx, "k"); return err },
		"Append":  func(ctx context.Context, r *Redis) error { _, err := r.Append(ctx, "k", nil, time.Minute); return err },
		"Append, its numbers": func(ctx context.Context, r *Redis) error {
			_, err := r.Append(ctx, "log", nil, time.Minute)
			return err
		},
		"AppendNumbered": func(ctx context.Context, r *Redis) error {
			_, _, err := r.AppendNumbered(ctx, "k", 1, nil, time.Minute)
			return err
		},
		"AppendNumbered, its numbers": func(ctx context.Context, r *Redis) error {
			_, _, err := r.AppendNumbered(ctx, "log", 1, nil, time.Minute)
			return err
		},
		"ReadAfter": func(ctx context.Context, r *Redis) error { _, err := r.ReadAfter(ctx, "k", "", 1); return err },
		"LastID":    func(ctx context.Context, r *Redis) error { _, err := r.LastID(ctx, "k"); return err },
		"Sizes":     func(ctx context.Context, r *Redis) error { _, err := r.Sizes(ctx, "log"); return err },
		"Drop":      func(ctx context.Context, r *Redis) error { return r.Drop(ctx, "k") },
		"Enlist": func(ctx context.Context, r *Redis) error {
			return NewList(r, "k", time.Hour).Enlist(ctx, map[string]time.Time{"a": noon}, noon)
		},
		"Listed": func(ctx context.Context, r *Redis) error {
			_, _, err := NewList(r, "k", time.Hour).Listed(ctx, "any")
			return err
		},
		"Count": func(ctx context.Context, r *Redis) error {
			return NewCounters(r).Count(ctx, "k", map[string]int64{"n": 1}, time.Hour)
		},
		"Counts": func(ctx context.Context, r *Redis) error { _, err := NewCounters(r).Counts(ctx, "k"); return err },
		"TakeTokens": func(ctx context.Context, r *Redis) error {
			_, _, err := NewBudgets(r).TakeTokens(ctx, "k", 1, 1, 1)
			return err
		},
		"Hold": func(ctx context.Context, r *Redis) error {
			_, err := NewBudgets(r).Hold(ctx, "k", "a", 1, time.Minute)
			return err
		},
		"Unhold": func(ctx context.Context, r *Redis) error { return NewBudgets(r).Unhold(ctx, "k", "a") },
		"Enter": func(ctx context.Context, r *Redis) error {
			_, _, err := NewLines(r).Enter(ctx, "k", "a", 1, time.Minute)
			return err
		},
		"Quit":      func(ctx context.Context, r *Redis) error { return NewLines(r).Quit(ctx, "k", "a") },
		"Clear":     func(ctx context.Context, r *Redis) error { _, err := NewLines(r).Clear(ctx, "k"); return err },
		"PendingOf": func(ctx context.Context, r *Redis) error { _, err := NewEntries(r).PendingOf(ctx, owner); return err },
		"Find": func(ctx context.Context, r *Redis) error {
			_, _, err := NewEntries(r).Find(ctx, confirm.ID("a"))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			onEachEngine(t, func(t *testing.T, e engine) {
				r, ctx := connect(t, e, nil), t.Context()
				for forgery, forge := range forgeries {
					must(t, r.client.FlushAll(ctx).Err())
					for _, key := range []string{"k", "k:version", "k:renewed", "log:counter", "log:bytes", "pending:a", indexKey(owner)} {
						must(t, forge(ctx, r, key))
					}
					if err := command(ctx, r); err != nil && !fault.Is(err, fault.ServiceDown) {
						t.Errorf("%s: got %v, want a fault that says it, or none", forgery, err)
					}
				}
			})
		})
	}
}
