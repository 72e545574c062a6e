package conversation

import (
	"testing"

	"countersign.dev/internal/agent"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
)

// A person reads why an answer failed, and what to do.
func TestFailedAnswerSaysWhatToDo(t *testing.T) {
	for want, f := range map[string]*fault.Error{
		"The model's key is not accepted. Check ANTHROPIC_API_KEY.": fault.ServiceDown.New("The model's key is not accepted.").Suggest("Check ANTHROPIC_API_KEY."),
		"Please wait.": fault.TooManyRequests.New("Please wait."),
	} {
		if e, ok := (Limits{}).EventOf(agent.Failed{Outcome: result.Failed(f)}); !ok || e.Text != want || e.Code != f.Code.Name {
			t.Errorf("got %+v, want the text %q", e, want)
		}
	}
}

// TestStepsOfRefusedCalls: a person reads that a call was refused, and not the words that
// teach a model to ask better; of what is no mistake of a call they read the words for people.
func TestStepsOfRefusedCalls(t *testing.T) {
	absent := &fault.Code{Name: "TASK_NOT_FOUND", Kind: fault.NotFound}
	for f, want := range map[*fault.Error]string{
		fault.ValidationError.New("The workspace \"due\" cannot be used."):     "List tasks: refused",
		absent.New("There is no task \"due\"."):                                "List tasks: refused",
		fault.ServiceDown.New("The server tasks is away.").Tell("It is away."): "It is away.",
	} {
		e, _ := (Limits{}).EventOf(agent.ToolFinished{Call: agent.Call{ID: "1", Tool: "list_tasks"}, Outcome: result.Failed(f)})
		if e.Message != want {
			t.Errorf("got %q, want %q", e.Message, want)
		}
	}
}
