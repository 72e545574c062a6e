package state

import (
	"context"
	"net"
	"testing"

	"github.com/alicebob/miniredis/v2"

	"countersign.dev/internal/testkit"
)

// engine is a Redis server that can stop and start again, with all its data or
// none of it. The suite runs the same on each.
type engine struct {
	url   string
	stop  func()
	start func()
}

// onEachEngine runs a test on miniredis and on a real server.
func onEachEngine(t *testing.T, test func(t *testing.T, e engine)) {
	t.Run("miniredis", func(t *testing.T) { test(t, startMini(t)) })
	t.Run("redis-server", func(t *testing.T) { test(t, startReal(t)) })
}

func startMini(t testing.TB) engine {
	m := miniredis.NewMiniRedis()
	m.ClockTTL(true)
	if err := m.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return engine{
		url:  "redis://" + m.Addr(),
		stop: m.Close,
		start: func() {
			if err := m.Restart(); err != nil {
				t.Fatal(err)
			}
		},
	}
}

func startReal(t testing.TB) engine {
	s := testkit.StartRedis(t)
	return engine{url: s.URL(), stop: s.Stop, start: s.Start}
}

// connect has patience where no options say otherwise: a busy machine must not
// look like an outage.
func connect(t testing.TB, e engine, o *Options) *Redis {
	t.Helper()
	if o == nil {
		o = &Options{Timeout: testkit.Patience}
	}
	r, err := Open(t.Context(), e.url, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// inProcess connects without sockets, for tests with a fake clock.
func inProcess(t testing.TB) *Redis {
	m := miniredis.NewMiniRedis()
	m.ClockTTL(true)
	t.Cleanup(m.Close)
	dial := func(context.Context, string, string) (net.Conn, error) { return m.Dial() }
	return connect(t, engine{url: "redis://in-process"}, &Options{Dial: dial})
}
