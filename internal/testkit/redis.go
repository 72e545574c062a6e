package testkit

import (
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// RedisServer is a redis-server child on a socket of its own. It ends with the
// test.
type RedisServer struct {
	t      testing.TB
	binary string
	folder string
	child  *exec.Cmd
	alive  io.Closer
}

// StartRedis starts a redis-server that keeps nothing on disk. A machine without
// one is reported by [Missing].
func StartRedis(t testing.TB) *RedisServer {
	t.Helper()
	binary, err := exec.LookPath("redis-server")
	if err != nil {
		Missing(t, "redis-server: this part of the suite runs on the real server only")
	}
	Ran("redis-server")
	folder, err := os.MkdirTemp("", "redis") // t.TempDir's names are too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	s := &RedisServer{t: t, binary: binary, folder: folder}
	s.Start()
	t.Cleanup(s.Stop)
	return s
}

// URL is the address of the server.
func (s *RedisServer) URL() string { return "unix://" + s.socket() }

func (s *RedisServer) socket() string { return filepath.Join(s.folder, "redis.sock") }

// Start runs the server under a shell that ends it when our end of the pipe
// closes, as it does in every way in which this process can end.
func (s *RedisServer) Start() {
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
func (s *RedisServer) await() {
	for until := time.Now().Add(Patience); ; runtime.Gosched() {
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

// Stop ends the server. A second Stop does nothing.
func (s *RedisServer) Stop() {
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
