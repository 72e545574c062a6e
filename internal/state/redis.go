// Package state is the one room that knows Redis: keys with a TTL, sets, byte
// logs that many readers follow, and the store of confirmations.
//
// It does not interpret the bytes: callers encode them, and declare the small
// interface that they need. It uses only the commands that miniredis and a real
// server have in common. Start with [Open].
package state

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"countersign.dev/internal/fault"
)

// Options configure a Redis. Nil and zero fields take the defaults.
type Options struct {
	Prefix      string        // of every key, so that several may share a server
	Timeout     time.Duration // of each call, the wait for a connection included; default 2 s
	Connections int           // at once; default 32
	Entries     int           // a log keeps this many entries, the newest; default 10,000
	Dial        func(ctx context.Context, network, address string) (net.Conn, error)
}

// Redis is a connection to one server. It is safe for many goroutines. Every
// call has a short deadline of its own. A server that cannot be reached, or
// cannot serve, is SERVICE_UNAVAILABLE; calls work again when it is back.
//
// Keys, sets and logs share one space of names.
type Redis struct {
	client  *redis.Client
	prefix  string
	timeout time.Duration
	entries int64
	grown   *notifier
	close   func() error // once
}

// CheckAddress says why a text is no redis://, rediss:// or unix:// address. The error
// does not repeat it: it may hold a password.
func CheckAddress(url string) error {
	_, err := parse(url)
	return err
}

func parse(url string) (*redis.Options, error) {
	o, err := redis.ParseURL(url)
	if err != nil {
		return nil, errors.New("the Redis address is not one of the form redis://user:password@host:port/0")
	}
	return o, nil
}

// Open connects to the server at an address that [CheckAddress] accepts and proves
// that it answers and accepts writes.
func Open(ctx context.Context, url string, o *Options) (*Redis, error) {
	parsed, err := parse(url)
	if err != nil {
		return nil, err
	}
	if o == nil {
		o = &Options{}
	}
	r := &Redis{prefix: o.Prefix, timeout: cmp.Or(o.Timeout, 2*time.Second), entries: int64(cmp.Or(o.Entries, 10_000))}
	redis.SetLogger(silent{})
	r.client = redis.NewClient(settled(parsed, o, r.timeout))
	r.grown = &notifier{client: r.client, channel: r.key(grownChannel)}
	r.close = sync.OnceValue(func() error { return errors.Join(r.grown.close(), r.client.Close()) })
	if err := r.Ping(ctx); err != nil {
		return nil, errors.Join(err, r.client.Close())
	}
	return r, nil
}

// settled are the options, with those fixed that an address and the defaults must not
// decide.
func settled(p *redis.Options, o *Options, timeout time.Duration) *redis.Options {
	p.Dialer = o.Dial
	p.DialTimeout, p.ReadTimeout, p.WriteTimeout, p.PoolTimeout = timeout, timeout, timeout, timeout
	p.ContextTimeoutEnabled = true
	p.MaxRetries = -1 // an acquisition whose reply was lost must not be repeated: it would lose against itself
	p.DialerRetries = 1
	p.PoolSize = cmp.Or(o.Connections, 32)
	p.PipelinePoolSize = -1
	p.ReadBufferSize, p.WriteBufferSize = 8<<10, 8<<10
	p.DisableIdentity = true
	p.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	return p
}

// silent drops the client's own log lines: each failure is returned to a caller,
// and those lines would bypass the program's log handler.
type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

// pinged is the key that Ping writes, and how long it is kept if the rest is lost.
const (
	pinged     = "ping"
	pingedLife = 10 * time.Second
)

// Ping proves that the server answers and accepts writes: one that is full, or follows
// another, still reads. It costs one small write, and leaves nothing behind; callers bound
// how often.
func (r *Redis) Ping(ctx context.Context) error {
	return r.call(ctx, "ping", func(ctx context.Context) error {
		_, err := r.client.Pipelined(ctx, func(p redis.Pipeliner) error {
			p.Set(ctx, r.key(pinged), "", pingedLife)
			p.Del(ctx, r.key(pinged))
			return nil
		})
		return err
	})
}

// Close ends every connection. Calls fail after it.
func (r *Redis) Close() error { return r.close() }

func (r *Redis) key(name string) string { return r.prefix + name }

// call runs one exchange under its deadline and classifies its failure.
func (r *Redis) call(ctx context.Context, what string, do func(context.Context) error) error {
	short, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	err := do(short)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil: // the caller's own deadline, which says nothing about the server
		return fmt.Errorf("redis %s: %w", what, ctx.Err())
	case altered(err):
		return fault.ServiceDown.New("What the state store keeps for this was altered.").Because(fmt.Errorf("redis %s: %w", what, err))
	case says(err, readOnly):
		return fault.ServiceDown.New("The state store accepts no writes.").Because(fmt.Errorf("redis %s: %w", what, err))
	case refused(err):
		return fmt.Errorf("redis %s: %w", what, err)
	}
	return fault.ServiceDown.New("The state store cannot be reached.").Because(fmt.Errorf("redis %s: %w", what, err))
}

// altered reports whether the server rejected a command for what its key holds: we
// write nothing of another type there, and nothing but numbers where numbers are. A
// script's error has what its command said somewhere in it.
func altered(err error) bool {
	var reply redis.Error
	return errors.As(err, &reply) && slices.ContainsFunc([]string{
		wrongType, "value is not an integer", "would overflow", "ID specified in XADD", "last possible ID", "Invalid stream ID",
	}, func(about string) bool { return strings.Contains(reply.Error(), about) })
}

// What the server's errors begin with while it can serve no command at the moment, or
// none that writes. A transaction one of whose commands was rejected is EXECABORT: which
// one is not known.
var (
	unable   = []string{"LOADING", "BUSY", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "max number of clients"}
	readOnly = []string{"READONLY", "NOREPLICAS", "MISCONF", "OOM", "EXECABORT"}
)

// refused reports whether the server rejected this command, rather than being
// unable to serve any such command at the moment.
func refused(err error) bool {
	var reply redis.Error
	return errors.As(err, &reply) && !says(err, unable)
}

// says reports whether the server's error begins with one of the words, or is that of a
// script whose command failed with it.
func says(err error, words []string) bool {
	var reply redis.Error
	return errors.As(err, &reply) && slices.ContainsFunc(words, func(word string) bool {
		return redis.HasErrorPrefix(err, word) || strings.Contains(reply.Error(), ": -"+word+" ")
	})
}

// wrongType begins the error about a key that has another type.
const wrongType = "WRONGTYPE"
