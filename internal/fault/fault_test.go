package fault_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"countersign.dev/internal/fault"
)

func TestUnknownErrorsShowNothingButAnID(t *testing.T) {
	cause := errors.New(`pq: relation "hr.employees" at 10.0.0.7:5432`)
	f := fault.From(fmt.Errorf("listing: %w", cause))
	if f.Code != fault.InternalError || f.ID == "" || f.Details["reference"] != f.ID {
		t.Fatalf("got %+v", f)
	}
	for _, shown := range []string{f.Message, f.SuggestedAction, f.Error(), fmt.Sprint(f.Details)} {
		if strings.Contains(shown, "hr.employees") || strings.Contains(shown, "10.0.0.7") {
			t.Errorf("internal text is shown: %q", shown)
		}
	}
	if !errors.Is(f, cause) {
		t.Error("the cause is lost")
	}
}

func TestFaultsSurviveWrapping(t *testing.T) {
	f := fault.InvalidInput.New("Too much.").Suggest("Take %d.", 7)
	err := fmt.Errorf("outer: %w", error(f))
	if got := fault.From(err); got != f {
		t.Errorf("got %v, want the same fault", got)
	}
	if !errors.Is(err, fault.InvalidInput.New("another text")) || errors.Is(err, fault.Busy.New("")) {
		t.Error("faults do not compare by code")
	}
	wrapped := err
	fault.Wrap(&wrapped, "approving %s", "x")
	if wrapped != err {
		t.Error("a fault was wrapped, although its message is for people")
	}
}

func TestContextsBecomeTimeouts(t *testing.T) {
	for _, err := range []error{context.DeadlineExceeded, fmt.Errorf("query: %w", context.Canceled)} {
		if got := fault.From(err); got.Code != fault.Timeout {
			t.Errorf("%v: got %s", err, got.Code.Name)
		}
	}
	if fault.From(nil) != nil {
		t.Error("no error became a fault")
	}
}

func TestSharedCodesAreComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range fault.Shared() {
		if c.Name == "" || c.Meaning == "" || c.Suggest == "" || http.StatusText(c.Status) == "" {
			t.Errorf("%+v is not complete", c)
		}
		if seen[c.Name] {
			t.Errorf("%s is declared twice", c.Name)
		}
		seen[c.Name] = true
	}
}
