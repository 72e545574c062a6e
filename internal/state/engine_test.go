package state

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

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
	binary, err := exec.LookPath("redis-server")
	if err != nil {
		testkit.Missing(t, "redis-server: this half of the suite runs on the real server only")
	}
	testkit.Ran("redis-server")
	folder, err := os.MkdirTemp("", "redis") // t.TempDir's names are too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	s := &server{t: t, binary: binary, folder: folder}
	s.start()
	t.Cleanup(s.stop)
	return engine{url: "unix://" + s.socket(), stop: s.stop, start: s.start}
}

// server is a redis-server child on a socket of its own.
type server struct {
	t      testing.TB
	binary string
	folder string
	child  *exec.Cmd
	alive  io.Closer
}

func (s *server) socket() string { return filepath.Join(s.folder, "redis.sock") }

// start runs the server under a shell that ends it when our end of the pipe
// closes, as it does in every way in which this process can end.
func (s *server) start() {
	const watch = `"$0" --port 0 --unixsocket redis.sock --save "" --appendonly no >redis.log 2>&1 & child=$!; cat >/dev/null; kill $child; wait $child`
	s.child = exec.Command("/bin/sh", "-c", watch, s.binary)
	s.child.Dir = s.folder
	pipe, err := s.child.StdinPipe()
	if err == nil {
		err = s.child.Start()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.alive = pipe
	s.await()
}

// await dials the socket itself: a client that failed often waits a second
// before it dials again.
func (s *server) await() {
	for until := time.Now().Add(10 * time.Second); ; runtime.Gosched() {
		if c, err := net.Dial("unix", s.socket()); err == nil {
			_ = c.Close()
			return
		}
		if time.Now().After(until) {
			log, _ := os.ReadFile(filepath.Join(s.folder, "redis.log"))
			s.t.Fatalf("redis-server did not answer:\n%s", log)
		}
	}
}

func (s *server) stop() {
	if s.child == nil {
		return
	}
	_ = s.alive.Close()
	var exit *exec.ExitError
	if err := s.child.Wait(); err != nil && !errors.As(err, &exit) {
		s.t.Error(err)
	}
	s.child = nil
}

func connect(t testing.TB, e engine, o *Options) *Redis {
	t.Helper()
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
