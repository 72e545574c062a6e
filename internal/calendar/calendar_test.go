package calendar

import (
	"strconv"
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

func TestSpansAreRead(t *testing.T) {
	today := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"1 March 2026, and":     "2026-03-01 2026-03-01 12",
		"March 5th's":           "2026-03-05 2026-03-05 9",
		"march":                 "2026-03-01 2026-03-31 5",
		"Sept 2024 (":           "2024-09-01 2024-09-30 9",
		"2026-02-28.":           "2026-02-28 2026-02-28 10",
		"last fiscal quarter?":  "2025-10-01 2025-12-31 19",
		"next week":             "2026-03-02 2026-03-08 9",
		"yesterday":             "2026-02-28 2026-02-28 9",
		"2025-q4":               "2025-10-01 2025-12-31 7",
		"third quarter of 2024": "2024-07-01 2024-09-30 21",
		"2019?":                 "2019-01-01 2019-12-31 4",
		"FY2025,":               "2025-01-01 2025-12-31 6",
		"Q2":                    "2026-04-01 2026-06-30 2",
		"last 30 days?":         "2026-01-31 2026-03-01 12",
		"next seven days":       "2026-03-01 2026-03-08 15",
		"past two weeks":        "2026-02-16 2026-03-01 14",
		"last 3 months":         "2025-12-02 2026-03-01 13",
		"past year":             "2025-03-02 2026-03-01 9",
		"end of the quarter?":   "2026-03-31 2026-03-31 18",
		"the end of year":       "2026-12-31 2026-12-31 15",
		"end of this week":      "2026-03-01 2026-03-01 16",
		"Monday?":               "2026-02-23 2026-02-23 6",
		"sunday":                "2026-03-01 2026-03-01 6",
		"last Sunday":           "2026-02-22 2026-02-22 11",
		"this friday":           "2026-02-27 2026-02-27 11",
		"next Monday":           "2026-03-02 2026-03-02 11",
	} {
		s, n := Read(text, today)
		if g := s.From.Format(time.DateOnly) + " " + s.Last().Format(time.DateOnly) + " " + strconv.Itoa(n); g != want {
			t.Errorf("%q: got %s, want %s", text, g, want)
		}
	}
	for text, want := range map[string]string{"Friday": "2026-03-06", "Sunday": "2026-03-01", "last Friday": "2026-02-27", "Q2": "2026-04-01"} {
		if s, _ := Read(text, today); s.Next(today).From.Format(time.DateOnly) != want {
			t.Errorf("the next %q is %v, want %s", text, s.Next(today), want)
		}
	}
	for text, want := range map[string]string{"2025-03": "2025-03-01", "1999": "1999-01-01", "2025-03-04": "2025-03-04"} {
		if got := First(text); got != want {
			t.Errorf("%s begins on %s", text, got)
		}
	}
	for _, text := range []string{"31 April", "2026-13-01", "maybe", "Q5", "12", "1066", "", "quarter", "2026-03-01x", "last 0 days", "last -2 days", "past quarter"} {
		if s, n := Read(text, today); n != 0 {
			t.Errorf("%q: got %v", text, s)
		}
	}
}
