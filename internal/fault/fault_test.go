package fault_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
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
		if c.Name == "" || c.Meaning == "" || c.Suggestion() == "" || http.StatusText(c.Status) == "" {
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

// What a failure says to people is data of its own: nothing is read out of what it says
// to programs.
func TestPeopleReadTheirOwnWords(t *testing.T) {
	both := &fault.Code{Name: "A", Suggest: "Ask again."}
	programs := &fault.Code{Name: "B", Instruct: "Use list_things.", Tell: "It does not fit."}
	split := &fault.Code{Name: "C", Suggest: "Sign in.", Instruct: "Send a token."}
	for name, c := range map[string]struct {
		f                           *fault.Error
		message, advice, suggestion string
	}{
		"the same":                  {both.New("No."), "No.", "Ask again.", "Ask again."},
		"another suggestion":        {both.New("No.").Suggest("Wait."), "No.", "Wait.", "Wait."},
		"for programs":              {both.New("No.").Instruct("Call x."), "No.", "Ask again.", "Call x."},
		"one and the other":         {both.New("No.").Suggest("Wait.").Instruct("Call x."), "No.", "Wait.", "Call x."},
		"of tools":                  {programs.New("No x_y."), "It does not fit.", "", "Use list_things."},
		"of tools, with a sentence": {programs.New("No x_y.").Tell("I find none.").Suggest("Wait."), "I find none.", "Wait.", "Wait."},
		"split":                     {split.New("No."), "No.", "Sign in.", "Send a token."},
	} {
		message, advice := c.f.ForPeople()
		if message != c.message || advice != c.advice || c.f.SuggestedAction != c.suggestion {
			t.Errorf("%s: got %q, %q, %q", name, message, advice, c.f.SuggestedAction)
		}
	}
}

// TestOperatorsReadTheCause: what callers must not read, and advice that helps who runs the
// program, but none to ask someone else.
func TestOperatorsReadTheCause(t *testing.T) {
	down := fault.ServiceDown.New("The store cannot be reached.").Because(errors.New("dial tcp: refused"))
	for want, err := range map[string]error{
		"The store cannot be reached: dial tcp: refused":     down,
		"hr: The store cannot be reached: dial tcp: refused": fmt.Errorf("hr: %w", down),
		"The store is empty. Run seed":                       fault.ServiceDown.New("The store is empty.").Suggest("Run seed."),
		"the file is not there":                              errors.New("the file is not there"),
	} {
		if got := fault.Operator(err); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestWrongInputsAreDataAndARemarkEach(t *testing.T) {
	f := fault.WrongInputs(fault.Input{Field: "id", Wrong: "is not an id", Detail: "is not a valid uuid", Advice: "Use list_things."}, fault.Input{Field: "limit", Wrong: "must be at most 50"})
	if f.SuggestedAction != "id: is not a valid uuid. Use list_things.; limit: must be at most 50" || f.People.Message != fault.Unfit || f.People.Inputs[0].Wrong != "is not an id" {
		t.Errorf("got %q, %+v", f.SuggestedAction, f.People)
	}
}

// TestAdviceIsReplacedByItsTool: advice knows which tool it sends to; what it says is
// not read.
func TestAdviceIsReplacedByItsTool(t *testing.T) {
	code := &fault.Code{Name: "A", Suggest: "Only drafts can go.", Instruct: "Only drafts can go. Use list_things.", Via: "list_things"}
	closed := func(tool string) string {
		if tool == "list_things" {
			return "Ask somebody."
		}
		return ""
	}
	for want, f := range map[string]*fault.Error{
		"Only drafts can go. Ask somebody.":  code.New("No."),
		"Use list_things.":                   code.New("No.").Instruct("Use list_things."),
		"Wait.":                              code.New("No.").Suggest("Wait."),
		"Ask somebody.":                      fault.InvalidInput.New("No.").Instruct("Call it.").Through("list_things"),
		"id: is no id. Ask somebody.; n: no": fault.WrongInputs(fault.Input{Field: "id", Wrong: "is no id", Advice: "Use list_things.", Via: "list_things"}, fault.Input{Field: "n", Wrong: "no"}),
	} {
		before, advised := f.ForPeople()
		if f.Readvise(closed); f.SuggestedAction != want {
			t.Errorf("got %q, want %q", f.SuggestedAction, want)
		}
		if message, advice := f.ForPeople(); message != before || advice != advised {
			t.Errorf("people read %q, %q, and before %q, %q", message, advice, before, advised)
		}
	}
}

// TestLogsNameTheCodeOnce: a line has the code beside the error, so the error is the
// cause, or the message alone.
func TestLogsNameTheCodeOnce(t *testing.T) {
	for want, f := range map[string]*fault.Error{
		"The store is away.": fault.ServiceDown.New("The store is away."),
		"connection refused": fault.ServiceDown.New("The store is away.").Because(errors.New("connection refused")),
		"It is away.":        fault.ServiceDown.New("The store is away.").Because(fmt.Errorf("asking it: %w", fault.ServiceDown.New("It is away."))),
	} {
		if got := f.Logged(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestWaitIsSaid: who has no header reads how long to wait, where nothing else is advised.
func TestWaitIsSaid(t *testing.T) {
	for _, c := range []struct {
		e    *fault.Error
		want string
	}{
		{fault.TooManyRequests.New("Too many.").After(2500 * time.Millisecond), "Wait 3 s and try again."},
		{fault.TooManyRequests.New("Too many.").Suggest("Close a tab.").After(time.Second), "Close a tab."},
		{fault.TooManyRequests.New("Too many."), "Wait a moment and try again."},
		{fault.ServiceDown.New("Down.").After(time.Second), fault.ServiceDown.Suggestion()},
	} {
		if c.e.SuggestedAction != c.want {
			t.Errorf("got %q, want %q", c.e.SuggestedAction, c.want)
		}
	}
}
