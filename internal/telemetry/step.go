package telemetry

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"strings"
)

// LevelTrace is below debug: what a connection does without being asked.
const LevelTrace = slog.LevelDebug - 4

// ParseLevel reads trace, debug, info, warn or error, in any case.
func ParseLevel(text string) (level slog.Level, err error) {
	if strings.EqualFold(text, "trace") {
		return LevelTrace, nil
	}
	if err = level.UnmarshalText([]byte(text)); err != nil {
		return level, fmt.Errorf("log level %q is none of trace, debug, info, warn, error", text)
	}
	return level, nil
}

// NameLevels is the ReplaceAttr of a handler: trace is written by its name.
func NameLevels(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.LevelKey { // asked first: a text becomes an allocation as any
		if level, ok := a.Value.Any().(slog.Level); ok && level == LevelTrace {
			return slog.String(slog.LevelKey, "TRACE")
		}
	}
	return a
}

// The values of Step.Recovery: what follows a failed attempt.
const (
	Retry    = "retry"    // the same is tried again
	Fallback = "fallback" // something else is tried
	Abort    = "abort"    // nothing is tried any more
)

// Step is what the program is doing for a request.
type Step struct {
	Component string // the room: "conversation", "llm", "upstream"
	Action    string // "turn", "answer", "call"
	Attempt   int    // from 1, which is also what zero means
	Recovery  string // of a failed attempt: Retry, Fallback or Abort; else empty
}

type stepKey struct{}

// WithStep puts the step that is being taken into the context.
func WithStep(ctx context.Context, s Step) context.Context {
	return context.WithValue(ctx, stepKey{}, s)
}

func stepOf(ctx context.Context) Step {
	s, _ := ctx.Value(stepKey{}).(Step)
	return s
}

// attrs of a step; none without a component.
func (s Step) attrs() []slog.Attr {
	if s.Component == "" {
		return nil
	}
	attrs := []slog.Attr{slog.String("component", s.Component), slog.String("action", s.Action), slog.Int("attempt", cmp.Or(s.Attempt, 1))}
	if s.Recovery != "" {
		attrs = append(attrs, slog.String("recovery", s.Recovery))
	}
	return attrs
}

// Digest is what a line has of a text that no log may hold: the beginning of its SHA-256, in
// hex.
func Digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:8])
}
