package app

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// TestHangupsEndNothing: SIGHUP is logged where there is nothing to reload.
func TestHangupsEndNothing(t *testing.T) {
	all := make(chan os.Signal, 1)
	signal.Notify(all, syscall.SIGHUP) // so that the test's process survives what is tested
	defer signal.Stop(all)
	for reloads, want := range map[bool]string{false: "SIGHUP is ignored", true: ""} {
		log := &firstLine{said: make(chan string, 1)}
		life := newLifetime()
		life.hangups(slog.New(slog.NewTextHandler(log, nil)), reloads)
		must(t, syscall.Kill(os.Getpid(), syscall.SIGHUP))
		<-all
		if want != "" {
			if line := <-log.said; !strings.Contains(line, want) {
				t.Errorf("got %q, want %q", line, want)
			}
		}
		must(t, life.end(t.Context()))
		if want == "" && len(log.said) > 0 {
			t.Errorf("a process that reloads says %q", <-log.said)
		}
	}
}

// firstLine passes the first line of a log on.
type firstLine struct{ said chan string }

func (f *firstLine) Write(line []byte) (int, error) {
	select {
	case f.said <- string(line):
	default:
	}
	return len(line), nil
}

// TestAShutdownEndsAtItsLimit: with parts that do not end, too. The error names them.
func TestAShutdownEndsAtItsLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		life, release, closed := newLifetime(), make(chan struct{}), false
		life.onClose("the store", func() error { closed = true; return nil })
		life.onClose("the connections", func() error { <-release; return nil })
		life.run("the watch", func(context.Context) { <-release })
		life.run("the list", func(ctx context.Context) { <-ctx.Done() })
		life.serve(deaf{release}, http.NotFoundHandler(), slog.New(slog.DiscardHandler), nil)
		synctest.Wait()

		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		err := life.end(ctx)
		if took := time.Since(began); took != grace+2*lastMoment {
			t.Errorf("took %s, want what requests in progress and two parts have", took)
		}
		if err == nil || !strings.Contains(err.Error(), "the watch") || !strings.Contains(err.Error(), "closing the connections has not ended") || !strings.Contains(err.Error(), "192.0.2.1:80") {
			t.Errorf("got %v, want the parts that have not ended", err)
		}
		if err != nil && strings.Contains(err.Error(), "the list") {
			t.Errorf("got %v: the list has ended", err)
		}
		if !closed {
			t.Error("the parts before those were not closed")
		}
		close(release)
	})
}

// TestAShutdownWaitsForItsParts as long as its limit allows.
func TestAShutdownWaitsForItsParts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		life, ended := newLifetime(), false
		life.run("the last write", func(ctx context.Context) {
			<-ctx.Done()
			<-time.After(3 * time.Second)
			ended = true
		})
		ctx, cancel := context.WithTimeout(t.Context(), endTimeout)
		defer cancel()
		if err := life.end(ctx); err != nil || !ended {
			t.Errorf("got %v and ended %v, want the part to end", err, ended)
		}
	})
}

// deaf is a listener that does not end when it is closed.
type deaf struct{ release chan struct{} }

func (d deaf) Accept() (net.Conn, error) { <-d.release; return nil, net.ErrClosed }
func (deaf) Close() error                { return nil }
func (deaf) Addr() net.Addr              { return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 80} }

// TestPartThatExitsEndsTheLifetime, and one that was stopped does not.
func TestPartThatExitsEndsTheLifetime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		life, exited := newLifetime(), make(chan struct{})
		life.onClose("the database", func() error { close(exited); return nil }) // as its stop does
		life.runWhile("the database", exited)
		if err := life.end(t.Context()); err != nil || len(life.fail) > 0 {
			t.Errorf("stopped: %v, %d failures", err, len(life.fail))
		}
		life.runWhile("the database", exited)
		if err := life.wait(t.Context()); err == nil || !strings.Contains(err.Error(), "the database has ended by itself") {
			t.Errorf("exited: %v", err)
		}
		if err := life.end(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
