package httpx

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"testing"
	"time"
)

// asking is a connection of a client that sends one request and keeps it open.
type asking struct {
	net.Conn
	t *testing.T
}

func (a asking) send(path string) {
	a.t.Helper()
	if _, err := io.WriteString(a, "GET "+path+" HTTP/1.1\r\nHost: h\r\n\r\n"); err != nil {
		a.t.Fatal(err)
	}
}

// answered reports whether an answer arrives; the connection was closed otherwise.
func (a asking) answered() bool {
	resp, err := http.ReadResponse(bufio.NewReader(a), nil)
	if err != nil {
		return false
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	return resp.Body.Close() == nil && resp.StatusCode == http.StatusOK
}

// closed waits until a connection without an answer to come is closed.
func (a asking) closed() bool {
	_, err := a.Read(make([]byte, 1))
	return err != nil && !errors.Is(err, os.ErrDeadlineExceeded)
}

// states are those that connections of a server have come to: a client has its answer
// before its connection is idle.
type states chan http.ConnState

// await waits until so many more connections have come to a state.
func (s states) await(n int, state http.ConnState) {
	for n > 0 {
		if <-s == state {
			n--
		}
	}
}

// bounded serves at most so many connections, and returns how a client opens one, and the
// states of all. A request for /held says so on the channel, and has no answer before it ends.
func bounded(t *testing.T, secure bool, most int) (dial func() asking, come states, entered chan struct{}, end func()) {
	t.Helper()
	held, entered, come := make(chan struct{}), make(chan struct{}), make(states, 64)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/held" {
			entered <- struct{}{}
			<-held
		}
	}))
	bound := &connections{most: most, waiting: make(map[net.Conn]struct{})}
	s.Config.ConnState = func(conn net.Conn, to http.ConnState) {
		bound.changed(conn, to)
		come <- to
	}
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)
	known := x509.NewCertPool()
	if secure {
		s.StartTLS()
		known.AddCert(s.Certificate())
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	dial = func() asking {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		_ = c.SetDeadline(time.Now().Add(10 * time.Second)) // a test that fails ends
		if secure {
			c = tls.Client(c, &tls.Config{RootCAs: known, ServerName: "example.com"})
		}
		return asking{c, t}
	}
	end = sync.OnceFunc(func() { close(held) })
	t.Cleanup(end) // before the server waits for its requests
	return dial, come, entered, end
}

func TestIdleConnectionsMakeRoom(t *testing.T) {
	for name, secure := range map[string]bool{"plain": false, "TLS": true} {
		t.Run(name, func(t *testing.T) {
			dial, come, _, _ := bounded(t, secure, 3)
			closed := make(chan bool, 3)
			for range 3 {
				c := dial()
				c.send("/")
				if !c.answered() {
					t.Fatal("got no answer below the bound")
				}
				go func() { closed <- c.closed() }()
			}
			come.await(3, http.StateIdle)
			more := dial()
			more.send("/")
			if !more.answered() {
				t.Error("a new connection got no answer, want it in an idle one's place")
			}
			if !<-closed {
				t.Error("no idle connection was closed")
			}
		})
	}
}

func TestConnectionOverTheBoundIsClosed(t *testing.T) {
	dial, come, entered, end := bounded(t, false, 3)
	var busy []asking
	for range 3 {
		c := dial()
		c.send("/held")
		<-entered
		busy = append(busy, c)
	}
	more := dial()
	if !more.closed() {
		t.Fatal("got one connection more than the bound")
	}
	come.await(1, http.StateClosed)
	end()
	for _, c := range busy {
		if !c.answered() {
			t.Error("a request at work lost its connection")
		}
	}
	come.await(3, http.StateIdle)
	more = dial()
	more.send("/")
	if !more.answered() {
		t.Error("got no answer after the others had ended")
	}
}

// watched says how many connections were closed.
type watched struct {
	net.Conn
	closed *int
}

func (w *watched) Close() error {
	*w.closed++
	return nil
}

func TestConnectionsOfAServerAreBounded(t *testing.T) {
	s, closed := NewServer(http.NotFoundHandler(), slog.New(slog.DiscardHandler)), 0
	for range maxConnections {
		s.ConnState(&watched{closed: &closed}, http.StateNew)
	}
	if closed != 0 {
		t.Errorf("got %d closed below the bound, want 0", closed)
	}
	for range 10 {
		s.ConnState(&watched{closed: &closed}, http.StateNew)
	}
	if closed != 10 {
		t.Errorf("got %d closed of 10 over the bound", closed)
	}
}

func TestWebSocketsLeaveTheCountOfConnections(t *testing.T) {
	closed := 0
	c := &connections{most: 1, waiting: make(map[net.Conn]struct{})}
	for range 3 {
		ws := &watched{closed: &closed}
		c.changed(ws, http.StateNew)
		c.changed(ws, http.StateActive)
		c.changed(ws, http.StateHijacked)
	}
	if closed != 0 {
		t.Errorf("got %d closed, want 0", closed)
	}
}
