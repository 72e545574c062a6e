package telemetry_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode"

	"countersign.dev/internal/access"
	"countersign.dev/internal/telemetry"
)

// written is what a logger has written, and in how many pieces.
type written struct {
	mu     sync.Mutex
	text   bytes.Buffer
	writes int
}

func (w *written) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writes++
	return w.text.Write(p)
}

func (w *written) lines() (lines []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for line := range strings.Lines(w.text.String()) {
		_, message, _ := strings.Cut(strings.TrimSpace(line), " msg=")
		lines = append(lines, message)
	}
	return lines
}

// logger writes lines without their time through an output.
func logger(w io.Writer) (*slog.Logger, *telemetry.Output) {
	out := telemetry.NewOutput(w)
	return slog.New(telemetry.Handler{Handler: slog.NewTextHandler(out, nil), Output: out}), out
}

func TestLinesOfAMomentAreWrittenTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w written
		log, _ := logger(&w)
		ctx, end := context.WithCancel(telemetry.WithRequest(access.With(t.Context(), access.NewPrincipal(access.Claims{Subject: "s", Username: "alice"})), telemetry.Request{ID: "r-1"}))
		began := time.Now()
		log.With("server", "hr").InfoContext(ctx, "first", "status", 200)
		end() // the request is over when its line is written
		log.Info("second", "took", time.Second)
		synctest.Wait()
		if got := w.lines(); got != nil {
			t.Errorf("an answer waited for %q to be written", got)
		}
		time.Sleep(time.Second)
		if got := fmt.Sprint(w.lines()); got != "[first server=hr status=200 request_id=r-1 principal=alice second took=1s]" || w.writes != 1 {
			t.Errorf("got %s in %d pieces", got, w.writes)
		}
		if !strings.Contains(w.text.String(), began.Format("time=2006-01-02T15:04:05.000Z07:00")) {
			t.Errorf("got %s, want the time of the event, %s", &w.text, began)
		}
		log.Info("third")
		time.Sleep(time.Second)
		if got := w.lines(); len(got) != 3 {
			t.Errorf("got %q, want the line of a later moment, too", got)
		}
	})
}

func TestWarningsAreWrittenAtOnceAfterWhatCameBefore(t *testing.T) {
	var w written
	log, _ := logger(&w)
	changing := []string{"a"}
	log.Info("one")
	log.Info("two", "error", errors.New("x"), "list", changing) // what could change is not kept
	changing[0] = "b"
	log.Info("three")
	log.Warn("four")
	if got := fmt.Sprint(w.lines()); got != "[one two error=x list=[a] three four]" {
		t.Errorf("got %s", got)
	}
}

func TestFlushWritesWhatWaits(t *testing.T) {
	var w written
	log, out := logger(&w)
	log.Info("last words")
	if err := out.Flush(); err != nil || fmt.Sprint(w.lines()) != `["last words"]` {
		t.Errorf("got %q %v", w.lines(), err)
	}
	failing := errors.New("full")
	broken, _ := logger(writer(func([]byte) (int, error) { return 0, failing }))
	if err := broken.Handler().Handle(t.Context(), slog.NewRecord(time.Time{}, slog.LevelError, "x", 0)); !errors.Is(err, failing) {
		t.Errorf("got %v, want the writer's error", err)
	}
}

type writer func(p []byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

// TestUnreadLinesAreBounded: where the log is not read, its callers wait,
// as they would without an output, and memory does not grow.
func TestUnreadLinesAreBounded(t *testing.T) {
	read := make(chan struct{})
	stuck := sync.OnceFunc(func() { <-read })
	var w written
	log, out := logger(writer(func(p []byte) (int, error) { stuck(); return w.Write(p) }))
	const most = 5000
	var logged atomic.Int64
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range most {
			log.Info("request")
			logged.Add(1)
		}
	}()
	for logged.Load() < 1000 { // so many are let wait
		runtime.Gosched()
	}
	select {
	case <-done:
		t.Errorf("%d lines wait for a reader", logged.Load())
	case <-time.After(50 * time.Millisecond): // less would find a late goroutine innocent
	}
	close(read)
	<-done
	_ = out.Flush()
	if got := len(w.lines()); got != most {
		t.Errorf("got %d lines of %d", got, most)
	}
}

func TestLinesOfManyGoroutinesAreWhole(t *testing.T) {
	var w written
	log, out := logger(&w)
	var group sync.WaitGroup
	for g := range 8 {
		group.Go(func() {
			log := log.With("g", g)
			for i := range 300 {
				log.Log(t.Context(), []slog.Level{slog.LevelInfo, slog.LevelInfo, slog.LevelInfo, slog.LevelError}[i%4], "x", "i", i)
			}
		})
	}
	group.Wait()
	_ = out.Flush()
	next := map[string]int{}
	for _, line := range w.lines() {
		g, i := "", 0
		if n, err := fmt.Sscanf(line, "x g=%s i=%d", &g, &i); n != 2 || err != nil || next[g] != i {
			t.Fatalf("got %q, want line %d of %s", line, next[g], g)
		}
		next[g]++
	}
	if len(next) != 8 || w.text.Len() == 0 {
		t.Errorf("got lines of %d goroutines", len(next))
	}
}

// TestLinesHaveNoInvisibleCharacters: what a caller wrote cannot move the cursor or turn the direction of the
// terminal that shows the log, in either form of it.
func TestLinesHaveNoInvisibleCharacters(t *testing.T) {
	const hostile = "/x\u009b31mred\u202eedan\u2028\n\x1b[31m\x7f\U000e0041é"
	for name, inner := range map[string]func(io.Writer) slog.Handler{
		"json": func(w io.Writer) slog.Handler { return slog.NewJSONHandler(w, nil) },
		"text": func(w io.Writer) slog.Handler { return slog.NewTextHandler(w, nil) },
	} {
		var written bytes.Buffer
		out := telemetry.NewOutput(&written)
		slog.New(telemetry.Handler{Handler: inner(out), Output: out}).Info("request "+hostile, "path", hostile)
		_ = out.Flush()
		line := strings.TrimSuffix(written.String(), "\n")
		if i := strings.IndexFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 || !strings.Contains(line, "é") {
			t.Errorf("%s: %q", name, line)
		}
		var read struct{ Path string }
		if name == "json" && (json.Unmarshal([]byte(line), &read) != nil || read.Path != hostile) {
			t.Errorf("read again: %q", read.Path)
		}
	}
}
