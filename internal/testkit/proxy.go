package testkit

import (
	"net"
	"sync"
	"testing"
)

// Proxy forwards TCP connections to a server on loopback, and can be cut.
type Proxy struct {
	listener net.Listener

	mu     sync.Mutex
	target string
	filter func(toServer bool, data []byte) bool
	cut    bool
	open   map[net.Conn]bool
}

// NewProxy starts a proxy to target, a host and port. It ends with the test.
func NewProxy(t testing.TB, target string) *Proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{target: target, listener: listener, open: map[net.Conn]bool{}}
	go p.accept()
	t.Cleanup(func() {
		_ = listener.Close()
		p.Cut()
	})
	return p
}

// Address is the host and port that clients connect to. It stays the same, and
// the proxy's own, through Cut and Restore.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// Cut closes every connection, and every new one at once.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = true
	for c := range p.open {
		_ = c.Close()
	}
	p.open = map[net.Conn]bool{}
}

// Restore forwards new connections again.
func (p *Proxy) Restore() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = false
}

// LeadTo forwards new connections to another server.
func (p *Proxy) LeadTo(target string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.target = target
}

// Filter asks about every piece of data before it is forwarded, in either
// direction; false closes its connection instead.
func (p *Proxy) Filter(filter func(toServer bool, data []byte) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.filter = filter
}

// accept ends when the listener is closed.
func (p *Proxy) accept() {
	for {
		c, err := p.listener.Accept()
		if err != nil {
			return
		}
		go p.forward(c)
	}
}

// forward ends when either side closes, or the proxy is cut.
func (p *Proxy) forward(c net.Conn) {
	defer func() { _ = c.Close() }()
	p.mu.Lock()
	target := p.target
	p.mu.Unlock()
	server, err := net.Dial("tcp", target)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	if !p.register(c, server) {
		return
	}
	go func() {
		p.copy(server, c, true)
		_ = server.Close()
	}()
	p.copy(c, server, false)
}

// copy ends when either side closes, or the filter refuses a piece.
func (p *Proxy) copy(to, from net.Conn, toServer bool) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		p.mu.Lock()
		filter := p.filter
		p.mu.Unlock()
		if filter != nil && !filter(toServer, buffer[:n]) {
			return
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// register returns false when the proxy is cut.
func (p *Proxy) register(pair ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cut {
		return false
	}
	for _, c := range pair {
		p.open[c] = true
	}
	return true
}
