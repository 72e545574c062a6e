package upstream

import (
	"context"
	"slices"
	"testing"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/mcpfile"
	"countersign.dev/internal/result"
)

// greeter is a server with one text.
type greeter struct{ fixedTools }

func (greeter) Prompts(context.Context) ([]result.Prompt, error) { return nil, nil }
func (greeter) Prompt(_ context.Context, name string, args map[string]string) (string, error) {
	if name != "greet" {
		return "", fault.BadRequest.New("There is no such text.")
	}
	return "Hello " + args["who"], nil
}

// TestTextsAreRecorded: what a person gave for one went to another company's server. Without
// a record it is withheld where that is asked for.
func TestTextsAreRecorded(t *testing.T) {
	kept := &memorySink{}
	u := New([]Server{{Name: "notes", Timeout: time.Second, Foreign: func(func()) Adapter { return greeter{} }, Rules: mcpfile.Rules{Roles: []string{"employee"}}}},
		Options{Audit: kept, FailClosed: true})
	defer u.Close()
	ask := func(server, name string) (string, error) {
		return Texts{u}.Prompt(caller(access.SurfaceAPI), server, name, map[string]string{"who": "Nina"})
	}
	if text, err := ask("notes", "greet"); text != "Hello Nina" || err != nil {
		t.Fatalf("got %q, %v", text, err)
	}
	_, _ = ask("notes", "nothing")
	_, _ = ask("others", "greet")
	if got, want := outcomes(kept.events), []string{"prompts/get greet success", "prompts/get nothing BAD_REQUEST", "prompts/get greet SERVER_NOT_FOUND"}; !slices.Equal(got, want) {
		t.Errorf("recorded %q, want %q", got, want)
	}
	if e := kept.events[0]; e.Server != "notes" || len(e.Digest) != 64 || kept.events[2].Server != "" {
		t.Errorf("recorded %+v", kept.events)
	}
	kept.full = true
	if text, err := ask("notes", "greet"); text != "" || !fault.Is(err, fault.ServiceDown) {
		t.Errorf("without a record: got %q, %v", text, err)
	}
}
