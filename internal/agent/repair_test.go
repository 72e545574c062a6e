package agent

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
)

// between accepts arguments with a number below ten.
type between struct{}

func (between) Wrong(args json.RawMessage) ([]string, error) {
	var a struct{ N *int }
	if err := json.Unmarshal(args, &a); err != nil || a.N == nil || *a.N >= 10 {
		return []string{"n"}, fault.ValidationError.New("Invalid input parameters").Suggest("n: must be below 10")
	}
	return nil, nil
}

func checkedBox(called *int) box {
	b := boxOf(tools{"count_lions": func(context.Context, json.RawMessage) result.Outcome {
		*called++
		return result.Success(json.RawMessage(`{"lions":3}`), nil, "")
	}})
	b.Open[0].InputSchema, b.Open[0].Arguments = json.RawMessage(`{"properties":{"n":{"type":"integer","maximum":9},"sort":{"enum":["name"]}}}`), between{}
	return b
}

// answerOf is what the model read of the first call of a step.
func answerOf(s *script, step int) string {
	messages := s.asked[step].Messages
	return string(messages[len(messages)-1].Results()[0].Answer)
}

// A wrong call goes back with what is expected, once; the second one is final,
// and neither reaches the tool.
func TestWrongArgumentsGoBackOnce(t *testing.T) {
	called := 0
	model := scripted(callsWith("count_lions", `{"n":10}`), callsWith("count_lions", `{"n":11}`), callsWith("count_lions", `{"n":1}`), says("Three."))
	collect(t, t.Context(), turn(model, checkedBox(&called)))
	if called != 1 {
		t.Errorf("the tool was called %d times, want once", called)
	}
	for i, want := range []string{
		`"n: must be below 10"`, `"expected":{"n":{"maximum":9,"type":"integer"}}`, repairOnce,
	} {
		if got := answerOf(model, 1); !strings.Contains(got, want) {
			t.Errorf("%d: the model read %s, want %s", i, got, want)
		}
	}
	if got := answerOf(model, 2); !strings.Contains(got, repairOver) {
		t.Errorf("the second time the model read %s", got)
	}
	if got := answerOf(model, 3); !strings.Contains(got, `lions`) {
		t.Errorf("a right call: the model read %s", got)
	}
}

func TestWrongCallsOfOneStepAreOneMistake(t *testing.T) {
	called := 0
	two := calls("count_lions", "count_lions")
	model := scripted(two, says("I cannot."))
	collect(t, t.Context(), turn(model, checkedBox(&called)))
	last := model.asked[1].Messages[len(model.asked[1].Messages)-1]
	for _, r := range last.Results() {
		if !strings.Contains(string(r.Answer), repairOnce) {
			t.Errorf("the model read %s", r.Answer)
		}
	}
}

func TestInventedToolsAreAnsweredWithRealOnes(t *testing.T) {
	called := 0
	model := scripted(calls("getLionCount"), calls("getLionCount"), says("I cannot."))
	collect(t, t.Context(), turn(model, checkedBox(&called)))
	if got := answerOf(model, 1); !strings.Contains(got, "Call one of: count_lions.") || !strings.Contains(got, repairOnce) {
		t.Errorf("the model read %s", got)
	}
	if got := answerOf(model, 2); !strings.Contains(got, repairOver) {
		t.Errorf("the second time the model read %s", got)
	}
}

func TestClosestNames(t *testing.T) {
	var all []Tool
	for _, name := range []string{"list_employees", "get_employee", "delete_employee", "list_invoices", "files.read_file"} {
		all = append(all, Tool{ToolInfo: result.ToolInfo{Name: name}})
	}
	for name, want := range map[string][]string{
		"getEmployee":    {"get_employee", "delete_employee", "list_employees"},
		"list_employee":  {"list_employees", "get_employee", "delete_employee", "list_invoices"},
		"files_readFile": {"files.read_file"},
		"weather":        nil,
	} {
		if got := closest(name, all); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}
