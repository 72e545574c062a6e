package embedded

import (
	"crypto/rand"
	"fmt"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// Redis is a Redis server inside this process, on a free port of loopback. It
// keeps nothing when it is closed, and asks for a password that only this process
// knows: other users of the machine reach the port, too.
type Redis struct {
	server   *miniredis.Miniredis
	password string
	stop     chan struct{}
	aging    sync.WaitGroup
}

// ageEvery is how often keys age, and so the accuracy of their expiry.
const ageEvery = 200 * time.Millisecond

// StartRedis starts one. The embedded server does not age its keys by itself,
// and its own clock scans all of them at every command (28 µs with ten keys,
// 2.4 ms with ten thousand), so a goroutine ages them periodically.
func StartRedis() (*Redis, error) {
	r := &Redis{server: miniredis.NewMiniRedis(), password: rand.Text(), stop: make(chan struct{})}
	r.server.RequireAuth(r.password)
	if err := r.server.StartAddr("127.0.0.1:0"); err != nil {
		return nil, fmt.Errorf("start the embedded redis: %w", err)
	}
	r.aging.Go(r.age)
	return r, nil
}

func (r *Redis) age() {
	tick := time.NewTicker(ageEvery)
	defer tick.Stop()
	last := time.Now()
	for {
		select {
		case <-r.stop:
			return
		case now := <-tick.C:
			r.server.FastForward(now.Sub(last))
			last = now
		}
	}
}

// Addr is host:port.
func (r *Redis) Addr() string { return r.server.Addr() }

// URL is the address in the form of the configuration, with the password.
func (r *Redis) URL() string { return "redis://:" + r.password + "@" + r.Addr() }

// Close ends every connection and frees the port.
func (r *Redis) Close() {
	close(r.stop)
	r.aging.Wait()
	r.server.Close()
}
