package testkit

import (
	"io"
	"net"
	"sync"
	"testing"
)

// Wire stands between a store and its server on loopback, and can be cut.
type Wire struct {
	t      testing.TB
	target string

	mu       sync.Mutex
	address  string
	listener net.Listener
	open     map[net.Conn]bool
}

// NewWire lays a wire to target, a host and port. It is cut when the test ends.
func NewWire(t testing.TB, target string) *Wire {
	t.Helper()
	w := &Wire{t: t, target: target, address: "127.0.0.1:0", open: map[net.Conn]bool{}}
	w.Mend()
	w.address = w.listener.Addr().String()
	t.Cleanup(w.Cut)
	return w
}

// Address is the host and port of the near end. It stays through Cut and Mend.
func (w *Wire) Address() string { return w.address }

// Mend lets new connections through again.
func (w *Wire) Mend() {
	listener, err := net.Listen("tcp", w.address)
	if err != nil {
		w.t.Fatal(err)
	}
	w.mu.Lock()
	w.listener = listener
	w.mu.Unlock()
	go func() { // ends when the listener is closed
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go w.carry(c)
		}
	}()
}

// carry ends when either side closes.
func (w *Wire) carry(c net.Conn) {
	server, err := net.Dial("tcp", w.target)
	if err != nil {
		_ = c.Close()
		return
	}
	w.mu.Lock()
	w.open[c], w.open[server] = true, true
	w.mu.Unlock()
	go func() {
		_, _ = io.Copy(server, c)
		_ = server.Close()
	}()
	_, _ = io.Copy(c, server)
	_ = c.Close()
}

// Cut ends every connection and refuses new ones.
func (w *Wire) Cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	_ = w.listener.Close()
	for c := range w.open {
		_ = c.Close()
	}
	w.open = map[net.Conn]bool{}
}
