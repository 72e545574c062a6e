package calendar

import (
	"testing"
	"time"
)

func TestSpansAroundADay(t *testing.T) {
	sunday := time.Date(2026, 3, 1, 23, 0, 0, 0, time.UTC)
	for want, got := range map[string]Span{
		"2026-02-28 2026-02-28 Q1": Day(sunday, -1),
		"2026-02-23 2026-03-01 Q1": Week(sunday, 0),
		"2026-03-02 2026-03-08 Q1": Week(sunday, 1),
		"2026-02-01 2026-02-28 Q1": Period(sunday, 1, -1),
		"2025-10-01 2025-12-31 Q4": Period(sunday, 3, -1),
		"2026-04-01 2026-06-30 Q2": Period(sunday, 3, 1),
		"2027-01-01 2027-12-31 Q1": Period(sunday, 12, 1),
	} {
		if g := got.From.Format(time.DateOnly) + " " + got.Last().Format(time.DateOnly) + " " + got.Quarter(); g != want {
			t.Errorf("got %s, want %s", g, want)
		}
	}
}
