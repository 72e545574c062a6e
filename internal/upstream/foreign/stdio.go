package foreign

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign.dev/internal/supervise"
	"countersign.dev/internal/upstream/mcpsession"
)

// Stdio connects to a server that is a child process, over its standard input and
// output. Each session starts a process, which ends with it.
type Stdio struct {
	Command   supervise.Command
	MaxAnswer int64         // bytes of one message; 8 MiB when zero
	Unread    time.Duration // how long a process may leave a message unread before it is ended; 10 s when zero
}

// Bounds of what the host writes to a process that may not read.
const (
	defaultUnread = 10 * time.Second
	maxUnread     = 64 // answers and notifications that wait for their turn
)

// Transport implements [Connection].
func (s Stdio) Transport() mcp.Transport { return &child{Stdio: s} }

// Traced implements [Connection]: what a process has read is not known.
func (s Stdio) Traced() bool { return false }

// child is one process.
type child struct {
	Stdio
	process *supervise.Process
	last    atomic.Pointer[string] // line of its standard error
}

// Connect implements mcp.Transport.
func (c *child) Connect(ctx context.Context) (mcp.Connection, error) {
	command := c.Command
	command.Said = func(line string) {
		if c.last.Store(&line); c.Command.Said != nil {
			c.Command.Said(line)
		}
	}
	process, err := supervise.Start(command)
	if err != nil {
		return nil, err
	}
	c.process = process
	most := cmp.Or(c.MaxAnswer, defaultMaxAnswer)
	in := input{process, cmp.Or(c.Unread, defaultUnread)}
	conn, err := (&mcp.IOTransport{
		Reader: mcpsession.LimitLines(ctx, io.NopCloser(process.Stdout), most), Writer: in,
		MaxLineLength: int(2 * most), // of a message that has more than one line
	}).Connect(ctx)
	if err != nil {
		process.End()
		return nil, err
	}
	return &written{Connection: conn, writing: make(chan struct{}, 1)}, nil
}

// explain adds to the error of a session that did not begin how its process ended, and its
// last words: a program that is missing is known to its supervisor only.
func (c *child) explain(ctx context.Context, err error) error {
	if c.process == nil || ctx.Err() != nil || !errors.Is(err, mcp.ErrConnectionClosed) { // else it was ended for what it said, or did not say
		return err
	}
	select {
	case <-c.process.Done():
	case <-ctx.Done():
		return err
	}
	ended := c.process.Err()
	switch last := c.last.Load(); {
	case ended == nil:
		return err
	case last == nil:
		return fmt.Errorf("its process ended: %w (%w)", ended, err)
	default:
		return fmt.Errorf("its process ended: %w: %s (%w)", ended, *last, err)
	}
}

// input is what a process reads. Closing it ends the process and all that it
// started.
type input struct {
	*supervise.Process
	unread time.Duration
}

// Write implements io.Writer. A process that does not read a message in time has a part of it, so
// that nothing can follow: it is ended.
func (i input) Write(p []byte) (int, error) {
	if err := i.Stdin.SetWriteDeadline(time.Now().Add(i.unread)); err != nil {
		return 0, err
	}
	n, err := i.Stdin.Write(p)
	if err != nil {
		go i.End() // which takes some graces at most
	}
	return n, err
}

// Close implements io.Closer.
func (i input) Close() error {
	i.End()
	return nil
}

// written is a connection whose writes end with their contexts. The SDK's look at theirs only
// when they begin, so that a process that does not read would hold every call.
type written struct {
	mcp.Connection
	writing chan struct{} // is held by the message that is written
	waiting atomic.Int32  // answers and notifications: they have no deadline
}

// errUnread is the error of a process that asks for more answers than it reads.
var errUnread = errors.New("the process does not read what it is sent")

// Write implements mcp.Connection.
func (w *written) Write(ctx context.Context, msg jsonrpc.Message) error {
	if call, ok := msg.(*jsonrpc.Request); !ok || !call.IsCall() {
		defer w.waiting.Add(-1)
		if w.waiting.Add(1) > maxUnread {
			return errors.Join(errUnread, w.Close())
		}
	}
	select {
	case w.writing <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	done := make(chan error, 1)
	go func() { // which ends when the process has read it, or was ended
		defer func() { <-w.writing }()
		done <- w.Connection.Write(context.WithoutCancel(ctx), msg)
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}
