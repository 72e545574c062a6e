package testkit

import (
	"bytes"
	"log/slog"
	"sync"
)

// Logs keeps what a logger writes. It is safe for concurrent use.
type Logs struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Logger returns a logger whose lines of every level are kept as text.
func (l *Logs) Logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// Write keeps a line.
func (l *Logs) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

// String is what was written.
func (l *Logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
