package connected

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"countersign.dev/internal/testkit"
)

// TestWhatAServerSaysHasALimit: sixty lines a minute, and then how many were left out.
func TestWhatAServerSaysHasALimit(t *testing.T) {
	now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	logs := &testkit.Logs{}
	c := newChildLog(slog.New(slog.NewTextHandler(logs, nil)), "notes", func() time.Time { return now })
	for range 1000 {
		c.line("words")
	}
	if got := strings.Count(logs.String(), "line=words"); got != logLines {
		t.Errorf("%d of 1000 lines of a minute are in the log, want %d", got, logLines)
	}
	now = now.Add(logPeriod)
	c.line("later \xff")
	if got := logs.String(); !strings.Contains(got, "lines=940") || !strings.Contains(got, `line="later �"`) {
		t.Errorf("in the next minute: %s", got[strings.LastIndex(got, "words"):])
	}
}
