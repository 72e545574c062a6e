package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"countersign.dev/internal/result"
	"github.com/google/go-cmp/cmp"
)

// crowded is a toolbox with that many tools of ours, and one of another server.
func crowded(ours int) box {
	b := box{run: tools{"zoo.free_lion": answers(`[{"name":"Leo"}]`)}}
	for i := range ours {
		b.Open = append(b.Open, Tool{ToolInfo: result.ToolInfo{Name: fmt.Sprintf("list_%03d", i), Description: "List something."}, Server: "own"})
	}
	b.Open = append(b.Open, Tool{ToolInfo: result.ToolInfo{Name: "zoo.free_lion", Description: "Release an animal of the zoo. It does not come back."}, Server: "zoo"})
	return b
}

func offered(r Request) (names []string) {
	for _, t := range r.Tools {
		names = append(names, t.Name)
	}
	return names
}

func searching(m Model, b box) Turn {
	t := turn(m, b)
	t.Language = true
	return t
}

func TestFewToolsAreAllOffered(t *testing.T) {
	m := scripted(says("Leo."))
	_, _ = collect(t, t.Context(), searching(m, crowded(maxOffered-1)))
	planner := scripted(says("Leo."))
	crowd := searching(planner, crowded(200))
	crowd.Language = false
	_, _ = collect(t, t.Context(), crowd)
	if len(m.asked[0].Tools) != maxOffered || len(planner.asked[0].Tools) != 201 || strings.Contains(m.asked[0].System, FindTools) {
		t.Errorf("offered %d, and %d to a planner", len(m.asked[0].Tools), len(planner.asked[0].Tools))
	}
}

func TestToolIsFoundOfferedAndKept(t *testing.T) {
	b := crowded(200)
	m := scripted(callsWith(FindTools, `{"query":"releasing animals"}`), calls("zoo.free_lion"), says("Leo."))
	events, names := collect(t, t.Context(), searching(m, b))
	want(t, names, "Started ToolStarted ToolFinished ToolStarted ToolFinished TextDelta Done")
	first := offered(m.asked[0])
	if len(first) != coreTools+1 || first[0] != FindTools || slices.Contains(first, "zoo.free_lion") || !strings.Contains(m.asked[0].System, "some of 201 tools") {
		t.Fatalf("offered %v", first)
	}
	if d := cmp.Diff(append(slices.Clone(first), "zoo.free_lion"), offered(m.asked[1])); d != "" {
		t.Errorf("offered after the search (-first +got):\n%s", d)
	}
	if read := m.asked[1].Messages[2].Results()[0].Read(); !strings.Contains(read, "zoo.free_lion|Release an animal of the zoo") || !strings.Contains(read, "next step") {
		t.Errorf("the search answered %s", read)
	}
	if got := memoryOf(events).Found; !slices.Equal(got, []string{"zoo.free_lion"}) {
		t.Errorf("kept %v", got)
	}

	m = scripted(says("Leo."))
	next := searching(m, b)
	next.Memory = Memory{Found: []string{"zoo.free_lion", "gone.tool"}}
	events, _ = collect(t, t.Context(), next)
	if d := cmp.Diff(append(slices.Clone(first), "zoo.free_lion"), offered(m.asked[0])); d != "" {
		t.Errorf("offered in the next turn (-want +got):\n%s", d)
	}
	if len(memoryOf(events).Found) != 2 { // its server may be back later
		t.Errorf("kept %v", memoryOf(events).Found)
	}
}

func TestToolThatWasNotOfferedIsToBeSearchedFor(t *testing.T) {
	b := crowded(200)
	b.run = nil // a call would panic
	m := scripted(calls("zoo.free_lion"), calls("no_such_tool"), callsWith(FindTools, `{}`), callsWith(FindTools, `{"query":"quantum"}`), says("Leo."))
	_, _ = collect(t, t.Context(), searching(m, b))
	for i, piece := range []string{"Call find_tools with what you want to do", "There is no tool named", "A search needs a query", "No tool has one of these words"} {
		last := m.asked[i+1].Messages[len(m.asked[i+1].Messages)-1]
		if read := last.Results()[0].Read(); !strings.Contains(read, piece) {
			t.Errorf("answer %d is %s, want %q", i+1, read, piece)
		}
	}
}

func TestConversationFindsABoundedNumberOfTools(t *testing.T) {
	b := crowded(200)
	m := scripted(callsWith(FindTools, `{"query":"list something"}`))
	full := searching(m, b)
	for i := range maxFound {
		full.Memory.Found = append(full.Memory.Found, fmt.Sprintf("list_%03d", 100+i))
	}
	before := slices.Clone(full.Memory.Found)
	_, _ = collect(t, t.Context(), full)
	last := m.asked[1].Messages
	if len(m.asked[1].Tools) != 1+coreTools+maxFound || !strings.Contains(last[len(last)-1].Results()[0].Read(), "which is the limit") {
		t.Errorf("offered %d: %s", len(m.asked[1].Tools), last[len(last)-1].Results()[0].Read())
	}
	if !slices.Equal(before, full.Memory.Found) {
		t.Error("the memory that was given has changed")
	}
}

func TestSearchRunsBesideOtherCalls(t *testing.T) {
	b := crowded(200)
	b.run["list_001"] = func(context.Context, json.RawMessage) result.Outcome {
		return result.Success(json.RawMessage(`1`), nil, "")
	}
	both := func(_ context.Context, yield func(Delta, error) bool) {
		for _, c := range []Call{{ID: "1", Tool: FindTools, Args: json.RawMessage(`{"query":"animals"}`)}, {ID: "2", Tool: "list_001"}, {ID: "3", Tool: FindTools, Args: json.RawMessage(`{"query":"zoo"}`)}} {
			if !yield(Delta{Call: &c}, nil) {
				return
			}
		}
		yield(Delta{Stop: StopCalls}, nil)
	}
	m := scripted(both, says("Leo."))
	_, _ = collect(t, t.Context(), searching(m, b))
	if got := offered(m.asked[1]); len(got) != coreTools+2 {
		t.Errorf("offered %v", got)
	}
}
