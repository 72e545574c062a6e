package result_test

import (
	"encoding/json"
	"errors"
	"testing"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
)

// TestOutcomeIsExactlyOne: each constructor sets one alternative and no other.
func TestOutcomeIsExactlyOne(t *testing.T) {
	for name, c := range map[string]struct {
		outcome result.Outcome
		want    string // which alternative
		code    string
		rows    int
	}{
		"one thing":  {result.Success(json.RawMessage(`{}`), nil, "Done."), "data", "success", 1},
		"a list":     {result.Success(json.RawMessage(`[1,2]`), &result.Page{Returned: 2}, ""), "data", "success", 2},
		"waiting":    {result.Waiting(result.Pending{ID: "i", Message: "Delete?"}), "pending", "pending_confirmation", 0},
		"denied":     {result.Cancelled("No."), "denied", "cancelled", 0},
		"a fault":    {result.Failed(fault.InvalidInput.New("No.")), "fault", "INVALID_INPUT", 0},
		"an error":   {result.Failed(errors.New("disk full")), "fault", "INTERNAL_ERROR", 0},
		"no error":   {result.Failed(nil), "fault", "INTERNAL_ERROR", 0},
		"zero value": {result.Outcome{}, "fault", "INTERNAL_ERROR", 0},
	} {
		o := c.outcome
		for alternative, set := range map[string]bool{
			"data": o.Data() != nil, "pending": o.Pending() != nil, "denied": o.Denied() != nil, "fault": o.Fault() != nil,
		} {
			if set != (alternative == c.want) {
				t.Errorf("%s: %s set: %t", name, alternative, set)
			}
		}
		if o.Code() != c.code || o.Rows() != c.rows {
			t.Errorf("%s: got %s with %d rows, want %s with %d", name, o.Code(), o.Rows(), c.code, c.rows)
		}
		if (o.Page() != nil || o.Message() != "" && o.Denied() == nil) && o.Data() == nil {
			t.Errorf("%s: a page or a message without data", name)
		}
	}
}

// TestPageHasItsHint: every incomplete list has a hint.
func TestPageHasItsHint(t *testing.T) {
	for raw, want := range map[string]string{
		`{"hasMore":true,"returnedCount":2,"hint":"H."}`:    "H.",
		`{"hasMore":true,"returnedCount":2,"warning":"W."}`: "W.",
		`{"hasMore":true,"returnedCount":2}`:                "Showing 2 results. Results are incomplete.",
		`{"hasMore":false,"returnedCount":2,"hint":"H."}`:   "",
	} {
		o, err := result.DecodeEnvelope(json.RawMessage(`{"status":"success","data":[1,2],"metadata":` + raw + `}`))
		if err != nil || o.Page().Hint != want {
			t.Errorf("%s: got %q, %v, want %q", raw, o.Page().Hint, err, want)
		}
	}
}
