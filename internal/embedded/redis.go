package embedded

import (
	"fmt"

	"github.com/alicebob/miniredis/v2"
)

// Redis is a Redis server inside this process, on a free port of loopback. It
// forgets everything when it is closed.
type Redis struct{ server *miniredis.Miniredis }

// StartRedis starts one. Keys end by the wall clock, as on a real server.
func StartRedis() (*Redis, error) {
	server := miniredis.NewMiniRedis()
	server.ClockTTL(true) // without it no key ever ends
	if err := server.StartAddr("127.0.0.1:0"); err != nil {
		return nil, fmt.Errorf("start the embedded redis: %w", err)
	}
	return &Redis{server}, nil
}

// Addr is host:port.
func (r *Redis) Addr() string { return r.server.Addr() }

// URL is the address as the configuration spells it.
func (r *Redis) URL() string { return "redis://" + r.Addr() }

// Close ends every connection and frees the port.
func (r *Redis) Close() { r.server.Close() }
