package state

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/testkit"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestKeysHaveATTL(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e engine) {
		r, ctx := connect(t, e, nil), t.Context()
		value := []byte("\x00\xff{}")
		must(t, r.Set(ctx, "k", value, time.Hour))
		got, ok, err := r.Get(ctx, "k")
		if err != nil || !ok || string(got) != string(value) {
			t.Errorf("Get: got %q, %v, %v", got, ok, err)
		}
		if ttl := r.client.PTTL(ctx, "k").Val(); ttl <= 59*time.Minute || ttl > time.Hour {
			t.Errorf("TTL: got %v, want an hour", ttl)
		}
		must(t, r.Delete(ctx, "k"))
		must(t, r.Delete(ctx, "k"))
		if got, ok, err := r.Get(ctx, "k"); ok || err != nil {
			t.Errorf("Get of nothing: got %q, %v, %v", got, ok, err)
		}
		if err := r.Set(ctx, "k", value, 0); !errors.Is(err, errNoTTL) {
			t.Errorf("Set without a TTL: got %v, want it rejected", err)
		}
	})
}

func TestFirstSetNXWins(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e engine) {
		r, ctx := connect(t, e, nil), t.Context()
		for i, want := range []bool{true, false} {
			if done, err := r.SetNX(ctx, "once", fmt.Append(nil, i), time.Minute); err != nil || done != want {
				t.Errorf("SetNX %d: got %v, %v, want %v", i, done, err, want)
			}
		}
		if got, _, _ := r.Get(ctx, "once"); string(got) != "0" {
			t.Errorf("value: got %q, want the first", got)
		}
	})
}

func TestOneOfConcurrentTakesGetsTheValue(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e engine) {
		r, ctx := connect(t, e, nil), t.Context()
		for range 20 {
			must(t, r.Set(ctx, "ticket", []byte("x"), time.Minute))
			var got atomic.Int32
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() {
					if _, ok, err := r.Take(ctx, "ticket"); err != nil {
						t.Error(err)
					} else if ok {
						got.Add(1)
					}
				})
			}
			if all.Wait(); got.Load() != 1 {
				t.Fatalf("takers: got %d, want 1", got.Load())
			}
		}
	})
}

func TestSets(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e engine) {
		r, ctx := connect(t, e, nil), t.Context()
		for _, m := range []string{"b", "a", "b"} {
			must(t, r.Join(ctx, "s", m, time.Hour))
		}
		members, err := r.Members(ctx, "s")
		if diff := cmp.Diff([]string{"a", "b"}, members); diff != "" || err != nil {
			t.Errorf("members: %v\n%s", err, diff)
		}
		if ttl := r.client.PTTL(ctx, "s").Val(); ttl <= 59*time.Minute {
			t.Errorf("TTL: got %v, want an hour", ttl)
		}
		must(t, r.Leave(ctx, "s", "a"))
		must(t, r.Leave(ctx, "s", "a"))
		if members, _ := r.Members(ctx, "s"); !slices.Equal(members, []string{"b"}) {
			t.Errorf("members: got %v, want b", members)
		}
	})
}

func TestPrefixesShareAServer(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e engine) {
		one, two := connect(t, e, &Options{Prefix: "one:"}), connect(t, e, &Options{Prefix: "two:"})
		must(t, one.Set(t.Context(), "k", []byte("1"), time.Minute))
		if _, ok, err := two.Get(t.Context(), "k"); ok || err != nil {
			t.Errorf("the other prefix sees it: %v, %v", ok, err)
		}
	})
}

func data(entries []Entry) (texts []string) {
	for _, e := range entries {
		texts = append(texts, string(e.Data))
	}
	return texts
}

func TestLogIsReadAfterAnID(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e engine) {
		r, ctx := connect(t, e, &Options{Entries: 5}), t.Context()
		if id, err := r.LastID(ctx, "log"); id != "" || err != nil {
			t.Errorf("LastID of nothing: got %q, %v", id, err)
		}
		var ids []string
		for i := range 8 {
			id, err := r.Append(ctx, "log", fmt.Append(nil, i, "\x00"), time.Hour)
			must(t, err)
			ids = append(ids, id)
		}
		if id, err := r.LastID(ctx, "log"); id != ids[7] || err != nil {
			t.Errorf("LastID: got %q, %v, want %q", id, err, ids[7])
		}
		for _, c := range []struct {
			after string
			max   int
			want  []string
			err   error
		}{
			{"", 100, []string{"3\x00", "4\x00", "5\x00", "6\x00", "7\x00"}, nil},
			{"", 2, []string{"3\x00", "4\x00"}, nil},
			{ids[4], 2, []string{"5\x00", "6\x00"}, nil},
			{ids[7], 2, nil, nil},
			{ids[2], 2, nil, ErrGap}, // trimmed
			{"5-5", 2, nil, ErrGap},
			{"junk", 2, nil, ErrGap},
		} {
			got, err := r.ReadAfter(ctx, "log", c.after, c.max)
			if diff := cmp.Diff(c.want, data(got)); diff != "" || !errors.Is(err, c.err) {
				t.Errorf("ReadAfter %q: got error %v, want %v\n%s", c.after, err, c.err, diff)
			}
		}
		if ttl := r.client.PTTL(ctx, "log").Val(); ttl <= 59*time.Minute {
			t.Errorf("TTL: got %v, want an hour", ttl)
		}
	})
}

func TestIdsOfALogAreNotReused(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e engine) {
		r, ctx := connect(t, e, &Options{Entries: 2}), t.Context()
		add := func(want string) {
			t.Helper()
			if id, err := r.Append(ctx, "log", []byte("x"), time.Hour); id != want || err != nil {
				t.Errorf("got %q, %v, want %s", id, err, want)
			}
		}
		for _, want := range []string{"1-0", "2-0", "3-0"} {
			add(want)
		}
		must(t, r.Delete(ctx, "log")) // as when it has expired
		add("4-0")
		if _, err := r.ReadAfter(ctx, "log", "3-0", 10); !errors.Is(err, ErrGap) {
			t.Errorf("after what expired: got %v, want a gap", err)
		}
		must(t, r.Drop(ctx, "log"))
		if keys := r.client.Keys(ctx, "*").Val(); len(keys) != 0 {
			t.Errorf("left behind: %v", keys)
		}
		add("1-0")
	})
}

func TestSwapNeedsTheValueBefore(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e engine) {
		r, ctx := connect(t, e, nil), t.Context()
		must(t, r.Set(ctx, "k", []byte("a"), time.Minute))
		for _, c := range []struct {
			before, after string
			ttl           time.Duration
			want          bool
		}{{"b", "c", time.Minute, false}, {"a", "b", time.Hour, true}, {"a", "", 0, false}, {"b", "", 0, true}, {"b", "c", time.Hour, false}} {
			if done, err := r.Swap(ctx, "k", []byte(c.before), []byte(c.after), c.ttl); done != c.want || err != nil {
				t.Errorf("%s to %q: got %v, %v, want %v", c.before, c.after, done, err, c.want)
			}
		}
		if _, ok, _ := r.Get(ctx, "k"); ok {
			t.Error("a TTL of zero did not delete")
		}
	})
}

// TestFollowersReadEveryEntry lets many readers in two processes follow one log
// while it is written.
func TestFollowersReadEveryEntry(t *testing.T) {
	const followers, entries = 40, 50
	onEachEngine(t, func(t *testing.T, e engine) {
		ctx, cancel := context.WithTimeout(t.Context(), testkit.Patience)
		defer cancel()
		connections := []*Redis{connect(t, e, nil), connect(t, e, nil)}
		var all sync.WaitGroup
		for i := range followers {
			all.Go(func() {
				if got := follow(ctx, connections[i%2], entries); len(got) != entries || !slices.IsSorted(got) {
					t.Errorf("follower %d: got %d entries, sorted %v", i, len(got), slices.IsSorted(got))
				}
			})
		}
		for i := range entries {
			_, err := connections[0].Append(ctx, "log", fmt.Appendf(nil, "%03d", i), time.Hour)
			must(t, err)
		}
		all.Wait()
	})
}

func follow(ctx context.Context, r *Redis, n int) (got []string) {
	grown, leave := watch(r)
	defer leave()
	after := ""
	for len(got) < n {
		entries, err := r.ReadAfter(ctx, "log", after, 7)
		if err != nil {
			return got
		}
		for _, e := range entries {
			got, after = append(got, string(e.Data)), e.ID
		}
		if len(entries) > 0 {
			continue
		}
		select {
		case <-grown:
		case <-ctx.Done():
			return got
		}
	}
	return got
}

// watch returns a channel with a value when the log may have grown.
func watch(r *Redis) (grown <-chan struct{}, leave func()) {
	woken := make(chan struct{}, 1)
	return woken, r.Watch("log", func(string) {
		select {
		case woken <- struct{}{}:
		default:
		}
	})
}

// TestReadersLookAgainAfterALostSubscription: what was named meanwhile was missed, and a
// deleted log has no entry to name. An id would say that the reader has read as far.
func TestReadersLookAgainAfterALostSubscription(t *testing.T) {
	r := connect(t, startReal(t), nil)
	ids := make(chan string, 16)
	defer r.Watch("log", func(id string) { ids <- id })()
	woken := func(when string) {
		t.Helper()
		select {
		case id := <-ids:
			if id != "" {
				t.Errorf("the reader is woken with the id %q %s, want none", id, when)
			}
		case <-time.After(testkit.Patience):
			t.Fatalf("the reader is not woken %s", when)
		}
	}
	woken("when the subscription begins")
	must(t, r.client.ClientKillByFilter(t.Context(), "TYPE", "pubsub").Err())
	woken("when it begins again")
	must(t, r.Drop(t.Context(), "log"))
	woken("when its log is deleted")
}

func TestTTLEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, ctx := inProcess(t), t.Context()
		must(t, r.Set(ctx, "k", []byte("v"), 24*time.Hour))
		time.Sleep(24*time.Hour - time.Second)
		if _, ok, err := r.Get(ctx, "k"); !ok || err != nil {
			t.Errorf("a second before its end: got %v, %v", ok, err)
		}
		time.Sleep(time.Second)
		if _, ok, err := r.Get(ctx, "k"); ok || err != nil {
			t.Errorf("at its end: got %v, %v", ok, err)
		}
		must(t, r.Close())
	})
}

func TestCallsWorkAgainWhenTheServerIsBack(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, e engine) {
		r, ctx := connect(t, e, nil), t.Context()
		must(t, r.Set(ctx, "k", []byte("v"), time.Minute))
		e.stop()
		for range 40 { // more than the pool holds
			err := r.Set(ctx, "k", []byte("v"), time.Minute)
			if !fault.Is(err, fault.ServiceDown) || errors.Unwrap(err) == nil {
				t.Fatalf("Set without a server: got %v, want SERVICE_UNAVAILABLE with its cause", err)
			}
		}
		if _, err := Open(ctx, e.url, nil); !fault.Is(err, fault.ServiceDown) {
			t.Errorf("Open without a server: got %v, want SERVICE_UNAVAILABLE", err)
		}
		e.start()
		recovered, cancel := context.WithTimeout(ctx, testkit.Patience)
		defer cancel()
		for r.Set(ctx, "k", []byte("v"), time.Minute) != nil {
			if recovered.Err() != nil {
				t.Fatal("still failing after the server came back")
			}
		}
	})
}

func TestSilentServerCostsOneDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := inProcess(t)
		must(t, r.Ping(t.Context()))
		begun := time.Now()
		err := r.call(t.Context(), "wait", func(ctx context.Context) error {
			return r.client.BLPop(ctx, time.Hour, "nothing").Err()
		})
		if !fault.Is(err, fault.ServiceDown) || time.Since(begun) > 2*time.Second {
			t.Errorf("got %v after %v, want SERVICE_UNAVAILABLE after 2 s", err, time.Since(begun))
		}
		must(t, r.Close())
	})
}

func TestCallersCancellationIsNoOutage(t *testing.T) {
	r := connect(t, startMini(t), nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.Ping(ctx); !errors.Is(err, context.Canceled) || fault.Is(err, fault.ServiceDown) {
		t.Errorf("got %v, want the caller's cancellation", err)
	}
}

func TestRefusalIsNoOutage(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e engine) {
		r, ctx := connect(t, e, nil), t.Context()
		err := r.call(ctx, "set", func(ctx context.Context) error { return r.client.Do(ctx, "SET", "k").Err() })
		if err == nil || fault.Is(err, fault.ServiceDown) {
			t.Errorf("half a command: got %v, want Redis' own error", err)
		}
	})
}

// TestServerWithoutWritesIsAnOutage: a server that is full, or follows another, still
// answers reads.
func TestServerWithoutWritesIsAnOutage(t *testing.T) {
	for name, c := range map[string]struct{ end, begin []any }{
		"full":    {[]any{"CONFIG", "SET", "maxmemory", "1"}, []any{"CONFIG", "SET", "maxmemory", "0"}},
		"replica": {[]any{"REPLICAOF", "127.0.0.1", "1"}, []any{"REPLICAOF", "NO", "ONE"}},
	} {
		t.Run(name, func(t *testing.T) {
			e := startReal(t)
			r, ctx := connect(t, e, nil), t.Context()
			must(t, r.Ping(ctx))
			must(t, r.client.Do(ctx, "CONFIG", "SET", "replica-serve-stale-data", "yes").Err())
			must(t, r.client.Do(ctx, c.end...).Err())
			_, _, scripted := r.AppendNumbered(ctx, "numbered", 1, []byte("x"), time.Hour)
			_, appended := r.Append(ctx, "log", []byte("x"), time.Hour)
			_, opened := Open(ctx, e.url, &Options{Timeout: testkit.Patience})
			for call, err := range map[string]error{
				"ping": r.Ping(ctx), "set": r.Set(ctx, "k", []byte("v"), time.Hour), "join": r.Join(ctx, "s", "m", time.Hour),
				"append": appended, "script": scripted, "open": opened,
			} {
				if !fault.Is(err, fault.ServiceDown) || !strings.Contains(err.Error(), "accepts no writes") {
					t.Errorf("%s: got %v, want SERVICE_UNAVAILABLE", call, err)
				}
			}
			if _, _, err := r.Get(ctx, "k"); err != nil {
				t.Errorf("a read: %v", err)
			}
			must(t, r.client.Do(ctx, c.begin...).Err())
			must(t, r.Ping(ctx))
		})
	}
}

func TestBadAddressIsNotRepeated(t *testing.T) {
	_, err := Open(t.Context(), "redis://user:s3cret@host:port/zero", nil)
	if err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("got %v, want an error without the password", err)
	}
}

// TestRedisPasswordRotates does what docs/operations.md says: a user of Redis has
// the old and the new password for a while, and open connections stay.
func TestRedisPasswordRotates(t *testing.T) {
	e := startReal(t)
	admin := connect(t, e, nil)
	acl := func(rules ...any) {
		t.Helper()
		if err := admin.client.Do(t.Context(), append([]any{"ACL", "SETUSER", "countersign"}, rules...)...).Err(); err != nil {
			t.Fatal(err)
		}
	}
	with := func(password string) engine {
		return engine{url: strings.Replace(e.url, "unix://", "unix://countersign:"+password+"@", 1)}
	}
	acl("on", ">before", "allkeys", "allchannels", "+@all")
	old := connect(t, with("before"), nil)
	if err := old.Set(t.Context(), "kept", []byte("x"), time.Minute); err != nil {
		t.Fatal(err)
	}
	acl(">after")
	renewed := connect(t, with("after"), nil)
	acl("<before")
	for name, r := range map[string]*Redis{"an open connection": old, "the new password": renewed} {
		if value, ok, err := r.Get(t.Context(), "kept"); err != nil || !ok || string(value) != "x" {
			t.Errorf("%s: got %s, %v, %v", name, value, ok, err)
		}
	}
	if r, err := Open(t.Context(), with("before").url, nil); err == nil {
		_ = r.Close()
		t.Error("the removed password still opens")
	} else if strings.Contains(err.Error(), "before") {
		t.Errorf("the error has the password: %v", err)
	}
}

// TestNumberedAppendTakesItsNumberOnly: an entry that was made for a number that
// is taken, or that is not the next, is not added.
func TestNumberedAppendTakesItsNumberOnly(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e engine) {
		r := connect(t, e, nil)
		add := func(seq int64, entry string) (int64, bool) {
			t.Helper()
			next, done, err := r.AppendNumbered(t.Context(), "log", seq, []byte(entry), time.Hour)
			must(t, err)
			return next, done
		}
		for _, c := range []struct {
			seq, next int64
			done      bool
		}{{1, 2, true}, {1, 2, false}, {3, 2, false}, {0, 2, false}, {2, 3, true}} {
			if next, done := add(c.seq, "x"); next != c.next || done != c.done {
				t.Errorf("number %d: got %d, %v, want %d, %v", c.seq, next, done, c.next, c.done)
			}
		}
		if id, err := r.Append(t.Context(), "log", []byte("y"), time.Hour); id != "3-0" || err != nil {
			t.Errorf("an entry without a number: got %s, %v, want 3-0", id, err)
		}
		if next, done := add(4, "z"); next != 5 || !done {
			t.Errorf("after it: got %d, %v", next, done)
		}
		entries, err := r.ReadAfter(t.Context(), "log", "", 10)
		if err != nil || len(entries) != 4 || entries[3].ID != "4-0" || string(entries[3].Data) != "z" {
			t.Errorf("got %+v, %v, want four entries", entries, err)
		}
		if _, _, err := r.AppendNumbered(t.Context(), "log", 5, nil, 0); err == nil {
			t.Error("an entry without a TTL was added")
		}
	})
}

// TestSizesAreOfTheEntriesThatAreKept: what was trimmed, dropped or lost does not
// count.
func TestSizesAreOfTheEntriesThatAreKept(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e engine) {
		r := connect(t, e, &Options{Entries: 3})
		add := func(log string, sizes ...int) {
			t.Helper()
			for _, n := range sizes {
				_, err := r.Append(t.Context(), log, make([]byte, n), time.Hour)
				must(t, err)
			}
		}
		want := func(what string, want int64, logs ...string) {
			t.Helper()
			if got, err := r.Sizes(t.Context(), logs...); got != want || err != nil {
				t.Errorf("%s: got %d bytes, %v, want %d", what, got, err, want)
			}
		}
		want("no log", 0)
		want("a missing one", 0, "a")
		add("a", 1, 20, 300)
		want("three entries", 321, "a")
		add("b", 7)
		want("two logs", 328, "a", "b")
		add("a", 4000)
		want("the oldest is trimmed", 4320, "a")
		if _, done, err := r.AppendNumbered(t.Context(), "a", 5, make([]byte, 50_000), time.Hour); !done || err != nil {
			t.Fatal(done, err)
		}
		want("and the next", 54_300, "a")
		if _, done, err := r.AppendNumbered(t.Context(), "a", 5, make([]byte, 9), time.Hour); done || err != nil {
			t.Fatal(done, err)
		}
		want("an entry that was not added", 54_300, "a")
		must(t, r.client.Del(t.Context(), r.key("a")).Err())
		add("a", 5)
		want("after a loss", 5, "a")
		must(t, r.Drop(t.Context(), "a"))
		want("dropped", 7, "a", "b")
		r.entries = 1
		add("b", 8)
		add("b", 9)
		want("a lower limit", 9, "b")
	})
}
