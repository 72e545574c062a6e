package post

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"countersign.dev/internal/testkit/certtest"
)

// secured serves TLS by a function of each connection, and returns the server's address
// and the configuration of a client that trusts it.
func secured(t *testing.T, serve func(c *tls.Conn)) (base string, config *tls.Config) {
	t.Helper()
	cert, key := certtest.Pair(t, "server")
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(cert)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go serve(tls.Server(c, &tls.Config{Certificates: []tls.Certificate{pair}, DynamicRecordSizingDisabled: true}))
		}
	}()
	return "https://" + l.Addr().String(), &tls.Config{RootCAs: roots}
}

// TestAnswerInTheSameRecordIsDropped: TLS hands on what follows an answer in its record
// without reading the connection again, so that the connection itself is silent.
func TestAnswerInTheSameRecordIsDropped(t *testing.T) {
	long := strings.Repeat("x", 2*maxLine) // read past the buffer
	answer := strings.Replace(strings.Replace(ok, "Length: 2", "Length: 8192", 1), "{}", long, 1)
	other := strings.Replace(ok, "{}", "[]", 1)
	base, config := secured(t, func(c *tls.Conn) {
		for in := bufio.NewReader(c); ; {
			r, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, r.Body)
			_, _ = io.WriteString(c, answer+other)
		}
	})
	c := open(t, base, Options{TLS: config})
	for i := range 3 {
		if a, err := c.Send(t.Context(), Request{Path: "/mcp"}); err != nil || string(a.Body) != long {
			t.Fatalf("call %d: got %.10q (%v), want its own answer", i, a.Body, err)
		}
	}
}

// TestSecuredConnectionIsUsedAgain: what TLS itself sends between two requests does not
// end a connection, and the end that a server announces does.
func TestSecuredConnectionIsUsedAgain(t *testing.T) {
	handshakes := make(chan *tls.Conn, 10)
	base, config := secured(t, func(c *tls.Conn) {
		handshakes <- c
		for in, answers := bufio.NewReader(c), 1; ; answers++ {
			r, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, r.Body)
			_, _ = io.WriteString(c, ok)
			if answers == 4 {
				_ = c.CloseWrite()
			}
		}
	})
	c := open(t, base, Options{TLS: config})
	for range 3 {
		send(t, c)
	}
	if len(handshakes) != 1 {
		t.Errorf("got %d connections for 3 requests, want 1", len(handshakes))
	}
	send(t, c)
	if _, err := c.idle[0].in.Peek(1); !errors.Is(err, io.EOF) { // it has come
		t.Fatal(err)
	}
	if send(t, c); len(handshakes) != 2 {
		t.Errorf("got %d connections after the end of the first, want 2", len(handshakes))
	}
}

// TestHandshakeEndsWithItsRequest: a server that says nothing while TLS begins holds
// a request until its deadline, its cancellation, an abort, or for ten seconds. It has
// received none of it, and the connection is closed.
func TestHandshakeEndsWithItsRequest(t *testing.T) {
	for name, want := range map[string]struct {
		until time.Duration // its deadline
		end   func(c *Client, cancel func())
		takes time.Duration
		err   error
	}{
		"its deadline":   {until: 3 * time.Second, takes: 3 * time.Second, err: context.DeadlineExceeded},
		"cancelled":      {until: time.Minute, end: func(_ *Client, cancel func()) { cancel() }, err: context.Canceled},
		"aborted":        {until: time.Minute, end: func(c *Client, _ func()) { c.Abort() }, err: context.Canceled},
		"a long request": {until: time.Minute, takes: handshakeTimeout, err: ErrNotSent},
	} {
		synctest.Test(t, func(t *testing.T) {
			server, near := net.Pipe()
			c := open(t, "https://localhost", Options{Dial: func(context.Context, string, string) (net.Conn, error) { return near, nil }})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			start, failed := time.Now(), make(chan error, 1)
			go func() {
				_, err := c.Send(ctx, Request{Path: "/mcp", Until: start.Add(want.until)})
				failed <- err
			}()
			hello := make([]byte, 5)
			if _, err := io.ReadFull(server, hello); err != nil || hello[0] != 22 { // the handshake has begun
				t.Fatalf("got %x (%v)", hello, err)
			}
			if want.end != nil {
				want.end(c, cancel)
			}
			err := <-failed
			if !errors.Is(err, want.err) || !errors.Is(err, ErrNotSent) || time.Since(start) != want.takes {
				t.Errorf("%s: got %v after %s", name, err, time.Since(start))
			}
			if _, err := io.Copy(io.Discard, server); err != nil {
				t.Errorf("%s: the connection stays open: %v", name, err)
			}
		})
	}
}
