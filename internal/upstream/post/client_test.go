package post

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// serve answers each request on each connection, and hands the connections out.
func serve(t testing.TB, answer func(c net.Conn)) (base string, connections chan net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	connections = make(chan net.Conn, 100)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			connections <- c
			go func() {
				for in := bufio.NewReader(c); ; answer(c) {
					r, err := http.ReadRequest(in)
					if err != nil {
						return
					}
					_, _ = io.Copy(io.Discard, r.Body)
				}
			}()
		}
	}()
	t.Cleanup(func() { _ = l.Close() })
	return "http://" + l.Addr().String(), connections
}

const ok = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"

func open(t testing.TB, base string, o Options) *Client {
	t.Helper()
	o.MaxAnswer = 1 << 20
	c, err := NewClient(base, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func send(t testing.TB, c *Client) {
	t.Helper()
	if a, err := c.Send(t.Context(), Request{Path: "/mcp"}); err != nil || string(a.Body) != "{}" {
		t.Fatalf("got %q (%v)", a.Body, err)
	}
}

// TestDeadConnectionIsFoundBeforeItsUse: one that its server has ended, or on which
// it said something unasked, is not used for the next request. So that request
// neither fails nor gets an answer that is not its own.
func TestDeadConnectionIsFoundBeforeItsUse(t *testing.T) {
	for name, spoil := range map[string]func(c net.Conn) error{
		"ended":             func(c net.Conn) error { return c.Close() },
		"half ended":        func(c net.Conn) error { return c.(*net.TCPConn).CloseWrite() },
		"reset":             func(c net.Conn) error { return errors.Join(c.(*net.TCPConn).SetLinger(0), c.Close()) },
		"an answer unasked": func(c net.Conn) error { _, err := io.WriteString(c, strings.Replace(ok, "{}", "[]", 1)); return err },
	} {
		base, connections := serve(t, func(c net.Conn) { _, _ = io.WriteString(c, ok) })
		c := open(t, base, Options{})
		send(t, c)
		if err := spoil(<-connections); err != nil {
			t.Fatal(err)
		}
		awaitNoise(t, c.idle[0])
		send(t, c)
		if len(connections) != 1 {
			t.Errorf("%s: the connection was used again", name)
		}
	}
}

// TestLargeRequestEndsWithItsContext: a server that does not read it does not hold it.
func TestLargeRequestEndsWithItsContext(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		if c, err := l.Accept(); err == nil {
			_, _ = c.Read(make([]byte, 1)) // its writing has begun
			cancel()
			<-t.Context().Done()
			_ = c.Close()
		}
	}()
	c := open(t, "http://"+l.Addr().String(), Options{Timeout: time.Hour})
	ended := make(chan error, 1)
	go func() {
		_, err := c.Send(ctx, Request{Path: "/mcp", Body: make([]byte, 32<<20)})
		ended <- err
	}()
	select {
	case err := <-ended:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want %v", err, context.Canceled)
		}
	case <-time.After(10 * time.Second):
		t.Error("it has not ended")
	}
}

// awaitNoise waits until the kernel has what a server sent on an idle connection.
func awaitNoise(t *testing.T, k *conn) {
	t.Helper()
	if err := k.raw.Read(func(fd uintptr) bool {
		n, _, err := syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK)
		return n >= 0 || err != syscall.EAGAIN
	}); err != nil {
		t.Fatal(err)
	}
}

// TestAnswerAfterTheAnswerIsDropped: what follows an answer on its connection is
// the answer to no request.
func TestAnswerAfterTheAnswerIsDropped(t *testing.T) {
	base, connections := serve(t, func(c net.Conn) { _, _ = io.WriteString(c, ok+strings.Replace(ok, "{}", "[]", 1)) })
	c := open(t, base, Options{})
	for range 3 {
		send(t, c)
	}
	if len(connections) != 3 {
		t.Errorf("got %d connections, want 3", len(connections))
	}
}

func TestIdleConnectionsAreBounded(t *testing.T) {
	now := time.Now()
	release := make(chan struct{})
	base, connections := serve(t, func(c net.Conn) { <-release; _, _ = io.WriteString(c, ok) })
	c := open(t, base, Options{MaxIdle: 2, Idle: time.Hour, Now: func() time.Time { return now }})
	done := make(chan error)
	for range 5 {
		go func() {
			_, err := c.Send(t.Context(), Request{Path: "/mcp"})
			done <- err
		}()
	}
	for len(connections) < 5 {
		connections <- <-connections // until all five are open
	}
	close(release)
	for range 5 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if len(c.idle) != 2 {
		t.Errorf("%d are kept, want 2", len(c.idle))
	}
	now = now.Add(59 * time.Minute)
	if c.closeIdle(); len(c.idle) != 2 || c.sweep == nil {
		t.Errorf("%d are kept before their time", len(c.idle))
	}
	send(t, c) // renews one
	now = now.Add(2 * time.Minute)
	if c.closeIdle(); len(c.idle) != 1 {
		t.Errorf("%d are kept, want the one that was used", len(c.idle))
	}
	c.Close()
	if send(t, c); len(c.idle) != 0 {
		t.Error("a closed client keeps a connection")
	}
}

func TestOldConnectionIsNotUsedAgain(t *testing.T) {
	now := time.Now()
	base, connections := serve(t, func(c net.Conn) { _, _ = io.WriteString(c, ok) })
	c := open(t, base, Options{Idle: time.Minute, Now: func() time.Time { return now }})
	send(t, c)
	now = now.Add(time.Minute)
	send(t, c)
	if len(connections) != 2 {
		t.Errorf("got %d connections, want 2", len(connections))
	}
}

// TestConnectionOutlivesItsRequest: the deadline of a request that has been answered says
// nothing of the connection.
func TestConnectionOutlivesItsRequest(t *testing.T) {
	base, connections := serve(t, func(c net.Conn) { _, _ = io.WriteString(c, ok) })
	c := open(t, base, Options{})
	brief, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := c.Send(brief, Request{Path: "/mcp"}); err != nil {
		t.Fatal(err)
	}
	<-brief.Done()
	if send(t, c); len(connections) != 1 {
		t.Errorf("got %d connections, want 1", len(connections))
	}
}

// TestAnswersThatOthersCouldReadDifferently are refused, each for its reason alone:
// the same answer without it is read.
func TestAnswersThatOthersCouldReadDifferently(t *testing.T) {
	read := func(text string) (Answer, bool, error) {
		return readAnswer(bufio.NewReaderSize(strings.NewReader(text), maxLine), 100)
	}
	if a, keep, err := read(ok); err != nil || !keep || a.Type != "application/json" || string(a.Body) != "{}" {
		t.Fatalf("got %+v (%v)", a, err)
	}
	length, chunked := "Content-Length: 2\r\n", "Transfer-Encoding: chunked\r\n"
	chunks := strings.Replace(strings.Replace(ok, length, chunked, 1), "{}", "2\r\n{}\r\n0\r\n\r\n", 1)
	if a, keep, err := read(chunks); err != nil || !keep || string(a.Body) != "{}" {
		t.Fatalf("got %+v (%v)", a, err)
	}
	for name, text := range map[string]string{
		"an old version":         strings.Replace(ok, "HTTP/1.1", "HTTP/1.0", 1),
		"a version in letters":   strings.Replace(ok, "HTTP/1.1", "http/1.1", 1),
		"continue":               strings.Replace(ok, "200 OK", "100 Continue", 1),
		"other protocols":        strings.Replace(ok, "200 OK", "101 Switching Protocols", 1),
		"four digits":            strings.Replace(ok, "200 OK", "2000 OK", 1),
		"a sign":                 strings.Replace(ok, "200 OK", "+20 OK", 1),
		"a line of LF alone":     strings.Replace(ok, length, "Content-Length: 2\n", 1),
		"a continued line":       strings.Replace(ok, length, "Content-Length:\r\n 2\r\n", 1),
		"a line without a colon": strings.Replace(ok, length, length+"X\r\n", 1),
		"a name with a space":    strings.Replace(ok, length, "Content-Length : 2\r\n", 1),
		"a zero in a value":      strings.Replace(ok, length, length+"X: \x00\r\n", 1),
		"a CR in a value":        strings.Replace(ok, length, length+"X: a\rb\r\n", 1),
		"the length twice":       strings.Replace(ok, length, length+length, 1),
		"a signed length":        strings.Replace(ok, length, "Content-Length: +2\r\n", 1),
		"a length in hex":        strings.Replace(ok, length, "Content-Length: 0x2\r\n", 1),
		"a huge length":          strings.Replace(ok, length, "Content-Length: 9223372036854775808\r\n", 1),
		"no length":              strings.Replace(ok, length, "", 1),
		"a length and chunks":    strings.Replace(chunks, chunked, length+chunked, 1),
		"chunks and a length":    strings.Replace(chunks, chunked, chunked+length, 1),
		"chunks twice":           strings.Replace(chunks, chunked, chunked+chunked, 1),
		"identity":               strings.Replace(ok, length, length+"Transfer-Encoding: identity\r\n", 1),
		"compressed":             strings.Replace(ok, length, length+"Content-Encoding: gzip\r\n", 1),
		"two types":              strings.Replace(ok, length, length+"Content-Type: text/html\r\n", 1),
		"an extended chunk":      strings.Replace(chunks, "2\r\n{}", "2;x=y\r\n{}", 1),
		"a chunk in signs":       strings.Replace(chunks, "2\r\n{}", "+2\r\n{}", 1),
		"a chunk with a space":   strings.Replace(chunks, "2\r\n{}", "2 \r\n{}", 1),
		"a trailer":              strings.Replace(chunks, "0\r\n\r\n", "0\r\nX: y\r\n\r\n", 1),
		"a trailer announced":    strings.Replace(chunks, chunked, chunked+"Trailer: X\r\n", 1),
		"no content, and some":   strings.Replace(ok, "200 OK", "204 No Content", 1),
		"too large":              strings.Replace(ok, length, "Content-Length: 101\r\n", 1),
		"too large in chunks":    strings.Replace(chunks, "2\r\n{}", "65\r\n{}", 1),
		"many fields":            strings.Replace(ok, length, length+strings.Repeat("X: y\r\n", maxFields), 1),
	} {
		if a, _, err := read(text); err == nil {
			t.Errorf("%s: got %d %q, want an error", name, a.Status, a.Body)
		}
	}
}

// FuzzReadAnswer: an answer that is read is the one that net/http reads, and the
// next one begins at the same byte.
func FuzzReadAnswer(f *testing.F) {
	f.Add([]byte(ok))
	f.Add([]byte(ok + ok))
	f.Add([]byte("HTTP/1.1 404 Not Found\r\ncontent-TYPE:  text/plain \r\nTransfer-Encoding: Chunked\r\nConnection: close\r\n\r\n1\r\na\r\nA\r\n0123456789\r\n000\r\n\r\nrest"))
	f.Add([]byte("HTTP/1.1 204 \r\nX: y\r\n\r\nHTTP/1.1"))
	f.Add([]byte("HTTP/1.1 304 \r\nContent-Length: 0\r\n\r\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		ours := bufio.NewReaderSize(bytes.NewReader(text), maxLine)
		got, keep, err := readAnswer(ours, 1<<20)
		if err != nil {
			return
		}
		theirs := bufio.NewReaderSize(bytes.NewReader(text), maxLine)
		resp, err := http.ReadResponse(theirs, &http.Request{Method: http.MethodPost})
		if err != nil {
			t.Fatalf("%q is read as %d %q, and net/http refuses it: %v", text, got.Status, got.Body, err)
		}
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatalf("%q is read as %d %q, and net/http refuses its body: %v", text, got.Status, got.Body, err)
		}
		if got.Status != resp.StatusCode || got.Type != resp.Header.Get("Content-Type") || !bytes.Equal(got.Body, body) || keep && resp.Close {
			t.Errorf("%q: got %d %s %q keep %t, want %d %s %q close %t", text, got.Status, got.Type, got.Body, keep, resp.StatusCode, resp.Header.Get("Content-Type"), body, resp.Close)
		}
		rest, _ := io.ReadAll(ours)
		if want, _ := io.ReadAll(theirs); keep && !bytes.Equal(rest, want) {
			t.Errorf("%q: the next answer begins with %q, want %q", text, rest, want)
		}
	})
}

// TestServerAnswersACancelledRequestStill: it sees the end of what it is sent, and has
// the time after a cancellation to say how the request ended. The connection is not used again.
func TestServerAnswersACancelledRequestStill(t *testing.T) {
	for name, c := range map[string]struct {
		afterCancel time.Duration
		answers     bool
	}{"in time": {time.Minute, true}, "never": {10 * time.Millisecond, false}, "not awaited": {0, true}} {
		var cancel context.CancelFunc
		over := make(chan struct{})
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			cancel()
			<-r.Context().Done()
			if c.answers {
				_, _ = io.WriteString(w, "over before")
				return
			}
			<-over
		}))
		client := open(t, server.URL, Options{AfterCancel: c.afterCancel})
		for _, body := range [][]byte{[]byte("{}"), bytes.Repeat([]byte(" "), 2*atOnce)} {
			var ctx context.Context
			ctx, cancel = context.WithCancel(t.Context())
			began := time.Now()
			a, err := client.Send(ctx, Request{Path: "/mcp", Body: body})
			cancel()
			if took := time.Since(began); took > time.Minute/2 {
				t.Errorf("%s: it took %s", name, took)
			}
			if got := err == nil && string(a.Body) == "over before"; got != (c.answers && c.afterCancel > 0) || !got && !errors.Is(err, context.Canceled) {
				t.Errorf("%s: got %q, %v", name, a.Body, err)
			}
			if len(client.idle) != 0 {
				t.Errorf("%s: the connection is kept", name)
			}
		}
		close(over)
		server.Close()
	}
}

// lateConn returns from a write when the write is over and the context has ended and aborted it.
type lateConn struct {
	*net.TCPConn
	cancel  context.CancelFunc
	aborted chan struct{}
	once    sync.Once
}

func (c *lateConn) Write(b []byte) (int, error) {
	n, err := c.TCPConn.Write(b)
	c.cancel()
	<-c.aborted
	return n, err
}

func (c *lateConn) SetDeadline(until time.Time) error {
	err := c.TCPConn.SetDeadline(until)
	if until.Before(time.Now()) {
		c.once.Do(func() { close(c.aborted) })
	}
	return err
}

// TestServerAnswersARequestThatIsAllWritten: a cancellation between the end of writing a
// large request and the wait for its answer is one of a request that the server has.
func TestServerAnswersARequestThatIsAllWritten(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
		_, _ = io.WriteString(w, "over before")
	}))
	defer server.Close()
	ctx, cancel := context.WithCancel(t.Context())
	client := open(t, server.URL, Options{AfterCancel: time.Minute, Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
		plain, err := new(net.Dialer).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &lateConn{TCPConn: plain.(*net.TCPConn), cancel: cancel, aborted: make(chan struct{})}, nil
	}})
	a, err := client.Send(ctx, Request{Path: "/mcp", Body: bytes.Repeat([]byte(" "), 2*atOnce)})
	if err != nil || string(a.Body) != "over before" || len(client.idle) != 0 {
		t.Errorf("got %q, %v, and %d idle connections", a.Body, err, len(client.idle))
	}
}
