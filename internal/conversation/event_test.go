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
