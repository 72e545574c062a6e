package fault_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

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

func TestEndedContextsAreTimeoutsOrCancelled(t *testing.T) {
	for err, want := range map[error]*fault.Code{context.DeadlineExceeded: fault.Timeout, fmt.Errorf("query: %w", context.Canceled): fault.Cancelled} {
		if got := fault.From(err); got.Code != want {
			t.Errorf("%v: got %s, want %s", err, got.Code.Name, want.Name)
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

func TestTextsOfAFaultAreBounded(t *testing.T) {
	long := strings.Repeat("ä", 5000)
	names := make([]string, 14_500)
	for i := range names {
		names[i] = fmt.Sprintf("name_%d", i)
	}
	f := fault.UnknownTool.New("There is no tool named %q on %s.", long, "hr").
		Suggest("Use one of: %s.", fault.List(names, ", ")).With("tool", long)
	if want := "on hr."; !strings.HasSuffix(f.Message, want) {
		t.Errorf("got %q, want the sentence whole, with its argument clipped", f.Message)
	}
	if want := "name_0, name_1, name_2, name_3, name_4 and 14,495 more."; !strings.HasSuffix(f.SuggestedAction, want) {
		t.Errorf("got %q, want it to end in %q", f.SuggestedAction, want)
	}
	for _, text := range []string{f.Message, f.SuggestedAction, f.Details["tool"].(string), fault.BadRequest.New("%s", long).Message, fault.BadRequest.New(long).Message} {
		if len(text) > fault.MaxMessage || !utf8.ValidString(text) {
			t.Errorf("got %d bytes, valid %v", len(text), utf8.ValidString(text))
		}
	}
}

func TestFewNamesAreListedWhole(t *testing.T) {
	for want, names := range map[string][]string{
		"": nil, "a": {"a"}, "a; b": {"a", "b"}, "a; b; c; d; e and 1 more": {"a", "b", "c", "d", "e", "f"},
	} {
		if got := fault.List(names, "; "); got != want {
			t.Errorf("%q: got %q, want %q", names, got, want)
		}
	}
}

func TestAdviceForPeopleNamesNoToolAndNoInput(t *testing.T) {
	for suggested, want := range map[string]string{
		"Use list_employees tool to find valid employee IDs, or verify the ID format is correct (UUID expected).": "",
		"employee_id: is not a valid uuid. Use list_employees tool":                                               "",
		"limit: must be at most 50":              "",
		"Call again with loss_reason.":           "",
		"Ask another HR administrator to do it.": "Ask another HR administrator to do it.",
		"Assign the 9 direct reports to another manager first. Use list_employees with manager_id 7 to see them.": "Assign the 9 direct reports to another manager first.",
		"Delete conversations that you no longer need, and ask again.":                                            "Delete conversations that you no longer need, and ask again.",
		"End a session with DELETE, or wait.":                                                                     "",
		"Use one of them, or ask the person to start a new conversation.":                                         "",
		"": "",
	} {
		if got := fault.Advice(suggested); got != want {
			t.Errorf("%q: got %q, want %q", suggested, got, want)
		}
	}
}
