package post

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// Options of a client. MaxAnswer is required.
type Options struct {
	MaxAnswer   int64         // bytes of a body
	Timeout     time.Duration // of a request whose context has no deadline; 0: a minute
	Idle        time.Duration // after which a connection is not used again; 0: 90 s, less than our servers wait
	MaxIdle     int           // connections that are kept; 0: 64
	AfterCancel time.Duration // how long the answer to a request is awaited that its caller cancelled; 0: not at all
	TLS         *tls.Config   // nil: the system's authorities
	Dial        func(ctx context.Context, network, address string) (net.Conn, error)
	Now         func() time.Time
}

// handshakeTimeout bounds the beginning of a TLS connection, as http.Transport does.
const handshakeTimeout = 10 * time.Second

// Client sends requests to one server. Close ends it.
type Client struct {
	o  Options
	to target

	life context.Context // ended by Abort
	stop context.CancelFunc

	mu     sync.Mutex
	idle   []*conn // the one that was used last is last
	busy   map[*conn]struct{}
	closed bool
	sweep  *time.Timer // closes idle connections; nil: none are kept
}

// conn is a connection. One request at a time uses it.
type conn struct {
	net.Conn
	raw   syscall.RawConn // nil: it cannot be probed, and is not used again
	in    *bufio.Reader
	out   []byte
	since time.Time // idle since
	peek  func(fd uintptr) bool
	alive bool // what peek saw
	abort func()

	secured bool         // by TLS
	until   time.Time    // of its request
	half    func() error // ends what is sent, so that its server sees the end, and can still answer; nil: it cannot
}

// NewClient makes a client of the server at a base address.
func NewClient(base string, o Options) (*Client, error) {
	to, err := targetOf(base)
	if err != nil {
		return nil, err
	}
	o.Timeout, o.Idle, o.MaxIdle = cmp.Or(o.Timeout, time.Minute), cmp.Or(o.Idle, 90*time.Second), cmp.Or(o.MaxIdle, 64)
	if o.Dial == nil {
		o.Dial = (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.TLS = o.TLS.Clone()
	if o.TLS == nil {
		o.TLS = &tls.Config{}
	}
	o.TLS.ServerName, o.TLS.NextProtos = cmp.Or(o.TLS.ServerName, to.name), []string{"http/1.1"}
	c := &Client{o: o, to: to, busy: make(map[*conn]struct{})}
	c.life, c.stop = context.WithCancel(context.Background())
	return c, nil
}

// Send implements [Sender]. The deadline is kept by the connection, which costs a
// call less than a timer of its context.
func (c *Client) Send(ctx context.Context, r Request) (Answer, error) {
	if err := errors.Join(ctx.Err(), r.check()); err != nil {
		return Answer{}, unsent{err}
	}
	until, bounded := r.deadline(ctx)
	if !bounded {
		until = c.o.Now().Add(c.o.Timeout)
	}
	k, err := c.acquire(ctx, until)
	if err != nil {
		return Answer{}, unsent{r.ended(ctx, err)}
	}
	if c.life.Err() != nil { // after the deadline is set: Abort sets another one
		c.discard(k)
		return Answer{}, unsent{c.life.Err()}
	}
	k.until = until
	answer, keep, err := c.exchange(ctx, k, r)
	if err != nil || !keep {
		c.discard(k)
	} else {
		c.release(k)
	}
	switch {
	case err == nil:
		return answer, nil
	case !bounded && c.life.Err() == nil && errors.Is(err, os.ErrDeadlineExceeded):
		err = errors.Join(context.DeadlineExceeded, err)
	}
	return Answer{}, r.ended(ctx, err)
}

// exchange writes a request and reads its answer. keep says that the connection is
// where another answer would begin, and that the end of ctx did not abort it.
func (c *Client) exchange(ctx context.Context, k *conn, r Request) (a Answer, keep bool, err error) {
	if err := c.write(ctx, k, r); err != nil {
		return Answer{}, false, err
	}
	unwatched := context.AfterFunc(ctx, func() { c.leave(ctx, k) }) // while the server works
	a, keep, err = readAnswer(k.in, c.o.MaxAnswer)
	return a, unwatched() && keep && k.raw != nil && k.in.Buffered() == 0, err
}

// write writes a request. The end of ctx aborts one that the connection may not take at
// once, unless all of it is written by then: the server may answer that one still.
func (c *Client) write(ctx context.Context, k *conn, r Request) error {
	if len(r.Body) <= atOnce {
		return k.write(c.to.host, r)
	}
	aborted := make(chan struct{})
	unwatched := context.AfterFunc(ctx, func() { k.abort(); close(aborted) })
	err := k.write(c.to.host, r)
	if !unwatched() {
		<-aborted
		c.await(k, k.until)
	}
	return err
}

// leave follows the end of a request's context. A server learns of a cancellation by the end
// of what it is sent. Its answer is awaited still: only the server knows whether the request
// was over before, and has recorded that.
func (c *Client) leave(ctx context.Context, k *conn) {
	until := time.Now().Add(c.o.AfterCancel)
	if !errors.Is(ctx.Err(), context.Canceled) || c.o.AfterCancel == 0 || k.half == nil || k.half() != nil {
		k.abort()
		return
	}
	if k.until.Before(until) {
		until = k.until
	}
	c.await(k, until)
}

// await sets a connection's deadline, unless Abort has set another one.
func (c *Client) await(k *conn, until time.Time) {
	if _ = k.SetDeadline(until); c.life.Err() != nil {
		k.abort()
	}
}

// atOnce is the size of a body that a connection without anything to send takes at once,
// whether its server reads or not.
const atOnce = 8 << 10

func (k *conn) write(host string, r Request) error {
	k.out = appendRequest(k.out[:0], host, r)
	written, err := k.Write(k.out)
	if cap(k.out) > maxKept {
		k.out = nil
	}
	switch {
	case err == nil:
		return nil
	case written == 0 && !k.secured:
		err = unsent{err}
	}
	return fmt.Errorf("writing the request: %w", err)
}

// maxKept bounds the buffer that a connection keeps for its next request, in bytes.
const maxKept = 16 << 10

func appendRequest(b []byte, host string, r Request) []byte {
	b = append(append(append(b, "POST "...), r.Path...), " HTTP/1.1\r\nHost: "...)
	b = append(append(b, host...), "\r\nContent-Length: "...)
	b = strconv.AppendInt(b, int64(len(r.Body)), 10)
	if r.Bearer != "" {
		b = append(append(b, "\r\nAuthorization: Bearer "...), r.Bearer...)
	}
	if r.Common != nil {
		b = append(b, r.Common.lines...)
	}
	for _, f := range r.Fields {
		b = f.appendTo(b)
	}
	return append(append(b, "\r\n\r\n"...), r.Body...)
}

// acquire returns an idle connection that its server has not ended, or a new one, with
// the deadline of the request.
func (c *Client) acquire(ctx context.Context, until time.Time) (*conn, error) {
	for {
		c.mu.Lock()
		n := len(c.idle)
		if n == 0 {
			c.mu.Unlock()
			return c.open(ctx, until)
		}
		k := c.idle[n-1]
		c.idle = c.idle[:n-1]
		c.busy[k] = struct{}{}
		c.mu.Unlock()
		if c.o.Now().Sub(k.since) < c.o.Idle && k.isAlive(until) {
			return k, nil
		}
		c.discard(k)
	}
}

// open makes a connection. Here the deadline is a context's: a name is looked up, too.
func (c *Client) open(ctx context.Context, until time.Time) (*conn, error) {
	dialing, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	defer context.AfterFunc(c.life, cancel)()
	k, err := c.dial(dialing)
	if err != nil {
		return nil, errors.Join(dialing.Err(), err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy[k] = struct{}{}
	_ = k.SetDeadline(until)
	return k, nil
}

// discard closes a connection that was in use.
func (c *Client) discard(k *conn) {
	_ = k.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.busy, k)
}

// isAlive reports whether an idle connection is open and silent: a server that has
// said anything since its last answer has closed it, or is not to be trusted. The
// deadline of the last request may have passed, and would hide what there is.
func (k *conn) isAlive(until time.Time) bool {
	_ = k.SetDeadline(until)
	k.alive = false
	if k.raw.Read(k.peek) != nil || !k.alive {
		return false
	}
	return !k.secured || k.isDrained(until)
}

// isDrained reports whether TLS, which reads ahead, has nothing more of what came with the
// last answer. The connection itself is not waited for.
func (k *conn) isDrained(until time.Time) bool {
	_ = k.SetReadDeadline(time.Unix(1, 0))
	_, err := k.in.Peek(1)
	_ = k.SetDeadline(until)
	return errors.Is(err, os.ErrDeadlineExceeded)
}

// release keeps a connection for the next request.
func (c *Client) release(k *conn) {
	k.since = c.o.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.busy, k)
	if c.closed || len(c.idle) >= c.o.MaxIdle {
		_ = k.Close()
		return
	}
	c.idle = append(c.idle, k)
	if c.sweep == nil {
		c.sweep = time.AfterFunc(c.o.Idle, c.closeIdle)
	}
}

// closeIdle closes connections that were idle for too long.
func (c *Client) closeIdle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sweep = nil
	now, kept := c.o.Now(), c.idle[:0]
	for _, k := range c.idle {
		if now.Sub(k.since) < c.o.Idle {
			kept = append(kept, k)
			continue
		}
		_ = k.Close()
	}
	clear(c.idle[len(kept):])
	if c.idle = kept; len(kept) > 0 && !c.closed {
		c.sweep = time.AfterFunc(c.o.Idle-now.Sub(kept[0].since), c.closeIdle)
	}
}

func (c *Client) dial(ctx context.Context) (*conn, error) {
	plain, err := c.o.Dial(ctx, "tcp", c.to.address)
	if err != nil {
		return nil, err
	}
	k := &conn{Conn: plain}
	k.half = halfOf(plain)
	if s, ok := plain.(syscall.Conn); ok {
		k.raw, _ = s.SyscallConn() // nil after an error
	}
	if c.to.tls {
		secured := tls.Client(plain, c.o.TLS)
		bounded, cancel := context.WithTimeout(ctx, handshakeTimeout)
		defer cancel()
		if err := secured.HandshakeContext(bounded); err != nil {
			_ = plain.Close()
			return nil, err
		}
		k.Conn, k.half, k.secured = secured, secured.CloseWrite, true
	}
	k.in = bufio.NewReaderSize(k.Conn, maxLine)
	k.peek = func(fd uintptr) bool { k.alive = silent(fd); return true }
	k.abort = func() { _ = k.SetDeadline(time.Unix(1, 0)) }
	return k, nil
}

// halfOf returns what ends the one half of a connection that sends.
func halfOf(plain net.Conn) func() error {
	if half, ok := plain.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite
	}
	return nil
}

// Abort ends requests in flight, and lets no other begin.
func (c *Client) Abort() {
	c.stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	for k := range c.busy {
		k.abort()
	}
}

// Close closes idle connections, and those in use when their requests have ended.
func (c *Client) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	if c.sweep != nil {
		c.sweep.Stop()
	}
	for _, k := range c.idle {
		_ = k.Close()
	}
	c.idle = nil
}

var _ Sender = (*Client)(nil)
