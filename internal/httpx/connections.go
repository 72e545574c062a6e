package httpx

import (
	"crypto/tls"
	"net"
	"net/http"
	"sync"
)

// maxConnections is how many connections of a listener are open at once. WebSockets
// leave the count, because they are bounded for each person.
const maxConnections = 10_000

// connections makes room for a new connection by closing one that waits for a request,
// whichever it is: clients that keep many lose most. Only when all others are at work
// is it the new one, so that descriptors are left for stores and servers.
type connections struct {
	most int

	mu      sync.Mutex
	open    int
	waiting map[net.Conn]struct{} // for a first request, or for the next one
}

// changed is an http.Server's ConnState.
func (c *connections) changed(conn net.Conn, to http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch to {
	case http.StateNew:
		c.open++
		if c.open > c.most && !c.closeOne() {
			cut(conn)
			return
		}
		c.waiting[conn] = struct{}{}
	case http.StateIdle:
		c.waiting[conn] = struct{}{}
	case http.StateActive:
		delete(c.waiting, conn)
	case http.StateClosed, http.StateHijacked:
		delete(c.waiting, conn)
		c.open--
	}
}

// closeOne closes a connection that waits. It is counted until its goroutine has seen it.
func (c *connections) closeOne() bool {
	for conn := range c.waiting { // in no order
		delete(c.waiting, conn)
		cut(conn)
		return true
	}
	return false
}

// cut closes a connection without the farewell of TLS, which would wait for a client
// that reads nothing.
func cut(conn net.Conn) {
	if secured, ok := conn.(*tls.Conn); ok {
		conn = secured.NetConn()
	}
	_ = conn.Close() // that it was closed already is what is wanted
}
