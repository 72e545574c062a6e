package telemetry_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"countersign.dev/internal/access"
	"countersign.dev/internal/telemetry"
)

var (
	pointRow = regexp.MustCompile("(?m)^\\| ([^|]+) \\| `([^`]+)` \\| (\\w+) \\| `([^`]+)` \\|$")
	nameRow  = regexp.MustCompile("(?m)^\\| [^|]+ \\| `(\\w+)` \\| of |^\\| [^|]+ \\| `(time)` \\|")
)

func loggingPage(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/logging.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// TestPageNamesTheLoggingPoints compares docs/logging.md with the code: each message
// is in the file that the page names, and all ten points of document 001 have one.
func TestPageNamesTheLoggingPoints(t *testing.T) {
	points := map[string]bool{}
	for _, row := range pointRow.FindAllStringSubmatch(loggingPage(t), -1) {
		points[row[1]] = true
		source, err := os.ReadFile("../../" + row[4])
		if err != nil || !bytes.Contains(source, []byte(`"`+row[2]+`"`)) {
			t.Errorf("%s has no line %q (%v)", row[4], row[2], err)
			continue
		}
		if at := strings.Index(string(source), `"`+row[2]+`"`); row[3] == "trace" && !strings.Contains(string(source)[max(0, at-60):at], "LevelTrace") {
			t.Errorf("%s: %q is not of the level trace", row[4], row[2])
		}
	}
	if len(points) != 10 {
		t.Errorf("got %d of the ten points: %v", len(points), points)
	}
}

// TestLineOfATurnHasAllNamesOfThePage: the names that docs/logging.md lists are those
// that a line has.
func TestLineOfATurnHasAllNamesOfThePage(t *testing.T) {
	var out bytes.Buffer
	ctx := telemetry.WithRequest(context.Background(), telemetry.Request{ID: "r.1", Trace: "t", Parent: "r", Conversation: "c"})
	ctx = access.With(ctx, access.NewPrincipal(access.Claims{Subject: "s", Username: "alice"}))
	ctx = telemetry.WithStep(ctx, telemetry.Step{Component: "llm", Action: "answer", Attempt: 2, Recovery: telemetry.Retry})
	slog.New(telemetry.Handler{Handler: slog.NewTextHandler(&out, nil)}).ErrorContext(ctx, "failed", "error", "x")
	listed := nameRow.FindAllStringSubmatch(loggingPage(t), -1)
	var names []string
	for _, row := range listed {
		names = append(names, row[1]+row[2])
	}
	for _, name := range names {
		if !strings.Contains(" "+out.String(), " "+name+"=") {
			t.Errorf("the line has no %s: %s", name, &out)
		}
	}
	for _, pair := range strings.Fields(out.String()) {
		if name, _, ok := strings.Cut(pair, "="); ok && name != "level" && name != "msg" && !slices.Contains(names, name) {
			t.Errorf("the page has no %s", name)
		}
	}
	if want := `error=x request_id=r.1 trace_id=t parent_request_id=r conversation=c component=llm action=answer attempt=2 recovery=retry principal=alice`; !strings.Contains(out.String(), want) {
		t.Errorf("got %s, want %s", &out, want)
	}
}

func TestLevelTraceIsBelowDebug(t *testing.T) {
	for text, want := range map[string]slog.Level{"trace": telemetry.LevelTrace, "TRACE": telemetry.LevelTrace, "debug": slog.LevelDebug, "Warn": slog.LevelWarn} {
		if got, err := telemetry.ParseLevel(text); err != nil || got != want {
			t.Errorf("%s: got %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "tracing", "all"} {
		if _, err := telemetry.ParseLevel(text); err == nil || !strings.Contains(err.Error(), "trace, debug, info, warn, error") {
			t.Errorf("%q: got %v", text, err)
		}
	}
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: telemetry.LevelTrace, ReplaceAttr: telemetry.NameLevels}))
	log.Log(context.Background(), telemetry.LevelTrace, "x")
	if !strings.Contains(out.String(), "level=TRACE") {
		t.Errorf("got %s", &out)
	}
}
