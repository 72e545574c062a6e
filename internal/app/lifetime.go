package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"countersign.dev/internal/httpx"
)

// Limits of a shutdown: for requests in progress, for all of it, and for each part that is stopped
// when that is over.
const (
	grace      = 3 * time.Second
	endTimeout = 8 * time.Second
	lastMoment = 200 * time.Millisecond
)

// lifetime owns everything that a command started, and ends it in reverse
// order, because later parts use earlier ones.
type lifetime struct {
	mu   sync.Mutex
	ends []func(context.Context) error
	fail chan error // the first server that stopped by itself
}

func newLifetime() *lifetime { return &lifetime{fail: make(chan error, 1)} }

// onEnd registers a function for the end.
func (l *lifetime) onEnd(end func(context.Context) error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ends = append(l.ends, end)
}

// onClose registers one that takes no context and closes a part. One that hangs does not keep the
// others from their end.
func (l *lifetime) onClose(part string, end func() error) {
	l.onEnd(func(ctx context.Context) error {
		done := make(chan error, 1)
		go func() { done <- end() }() // ends with the process at last
		return ended(ctx, "closing "+part, done, lastMoment)
	})
}

// run runs a function in the background until the lifetime ends.
func (l *lifetime) run(part string, do func(context.Context)) {
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error)
	go func() {
		defer close(done)
		do(ctx)
	}()
	l.onEnd(func(ctx context.Context) error {
		stop()
		return ended(ctx, part, done, lastMoment)
	})
}

// runWhile ends the lifetime with an error when a part that was not stopped has exited.
func (l *lifetime) runWhile(part string, exited <-chan struct{}) {
	l.run(part, func(ctx context.Context) {
		select {
		case <-ctx.Done():
		case <-exited:
			select {
			case l.fail <- fmt.Errorf("%s has ended by itself: start this again", part):
			default: // something else failed before
			}
		}
	})
}

// ended waits for a part that was stopped, and returns its error. One that goes on after the limit,
// or longer than last when that is over already, does not keep the others from their end.
func ended(ctx context.Context, part string, done <-chan error, last time.Duration) error {
	least := time.NewTimer(last)
	defer least.Stop()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		return err
	case <-least.C:
		return fmt.Errorf("%s has not ended: %w", part, ctx.Err())
	}
}

// end runs the registered functions, last first, and joins their errors.
func (l *lifetime) end(ctx context.Context) error {
	l.mu.Lock()
	ends := l.ends
	l.ends = nil
	l.mu.Unlock()
	var failed []error
	for i := len(ends) - 1; i >= 0; i-- {
		failed = append(failed, ends[i](ctx))
	}
	return errors.Join(failed...)
}

// serve serves a handler on a listener until the lifetime ends. atShutdown, if
// not nil, ends long streams.
func (l *lifetime) serve(listener net.Listener, h http.Handler, log *slog.Logger, atShutdown func()) {
	ctx, stop := context.WithCancel(context.Background())
	server := httpx.NewServer(h, log)
	if atShutdown != nil {
		server.RegisterOnShutdown(atShutdown)
	}
	done := make(chan error, 1)
	go func() {
		err := httpx.Serve(ctx, server, listener, grace)
		if err != nil && ctx.Err() == nil {
			select {
			case l.fail <- err:
			default:
			}
		}
		done <- err
	}()
	l.onEnd(func(ctx context.Context) error {
		stop()
		return ended(ctx, "serving "+listener.Addr().String(), done, grace)
	})
}

// task runs what the process is for: with it the process ends.
func (l *lifetime) task(do func(context.Context) error) {
	l.run("the command", func(ctx context.Context) {
		err := do(ctx)
		select {
		case l.fail <- err:
		default:
		}
	})
}

// hangups keeps SIGHUP, which asks a program to read its files again, from ending the
// process at once and without a last event in its audit log. Only the watch of connected
// servers has a file to read.
func (l *lifetime) hangups(log *slog.Logger, reloads bool) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGHUP)
	l.run("the watch of SIGHUP", func(ctx context.Context) {
		defer signal.Stop(signals)
		for {
			select {
			case <-ctx.Done():
				return
			case <-signals:
				if !reloads {
					log.Warn("SIGHUP is ignored: without mcp_file there is nothing to reload. Restart the process for a changed configuration")
				}
			}
		}
	})
}

// wait returns when the context ends (nil), a server stops by itself, or the task
// has ended.
func (l *lifetime) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case err := <-l.fail:
		return err
	}
}
