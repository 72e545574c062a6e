package agent

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// streams is a model's answer of these pieces.
func streams(pieces ...Delta) func(context.Context, func(Delta, error) bool) {
	return func(_ context.Context, yield func(Delta, error) bool) {
		for _, d := range pieces {
			if !yield(d, nil) {
				return
			}
		}
	}
}

func TestWholeAnswersEndWithTheirReason(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var got []string
	for d, err := range Whole(ctx, "Look:", []Call{{ID: "1"}, {ID: "2"}}) {
		id := ""
		if d.Call != nil {
			id = d.Call.ID
		}
		got = append(got, d.Text+id+string(d.Stop))
		if id == "2" {
			cancel()
		}
		if (err != nil) != (d.Stop != "") {
			t.Errorf("%v: %v", d, err)
		}
	}
	if diff := cmp.Diff([]string{"Look:", "1", "2", string(StopCalls)}, got); diff != "" {
		t.Error(diff)
	}
	for d := range Whole(t.Context(), "", nil) {
		if d.Stop == StopCalls {
			t.Error("without calls it stops for them")
		}
	}
}

func TestPartsKeepTheirOrderAndOpaqueOnesGoBackUnchanged(t *testing.T) {
	thought := Opaque{Provider: "acme", Model: "acme-1", Data: json.RawMessage(`{"signature":"s=="}`)}
	m := scripted(
		streams(Delta{Opaque: &thought}, Delta{Text: "One "}, Delta{Text: "moment."}, Delta{Call: &Call{ID: "1", Tool: "list_animals"}}, Delta{Stop: StopCalls}),
		says("Leo."))
	events, _ := collect(t, t.Context(), turn(m, boxOf(tools{"list_animals": answers(`["Leo"]`)})))
	want := Message{Role: Assistant, Parts: []Part{thought, Text("One moment."), Call{ID: "1", Tool: "list_animals", Args: json.RawMessage(`{}`)}}}
	if d := cmp.Diff(want, m.asked[1].Messages[1]); d != "" {
		t.Errorf("second request (-want +got):\n%s", d)
	}
	if d := cmp.Diff(want, events[len(events)-1].(Done).Messages[1]); d != "" {
		t.Errorf("history (-want +got):\n%s", d)
	}
}

func TestStopReasonDecidesHowATurnEnds(t *testing.T) {
	call := Delta{Call: &Call{Tool: "open"}}
	for name, row := range map[string]struct {
		pieces  []Delta
		names   string
		gateway string
	}{
		"complete":           {[]Delta{{Text: "Lions."}, {Stop: StopEnd}}, "Started TextDelta Done", ""},
		"too long":           {[]Delta{{Text: "Lions, "}, {Stop: StopLength}}, "Started TextDelta TextDelta Done", "\n\n" + tooLong},
		"too long in a call": {[]Delta{call, {Stop: StopLength}}, "Started TextDelta Done", tooLong},
		"refused":            {[]Delta{{Stop: StopRefusal}}, "Started TextDelta Done", declined},
		"broken off":         {[]Delta{{Text: "Lions, "}}, "Started TextDelta Failed Done", ""},
	} {
		b := box{Toolset: Toolset{Open: []Tool{{}}}} // no function: a call would panic
		events, names := collect(t, t.Context(), turn(scripted(streams(row.pieces...)), b))
		want(t, name+": "+names, name+": "+row.names)
		want(t, name+": "+textOf(events, "gateway"), name+": "+row.gateway)
		for _, m := range events[len(events)-1].(Done).Messages {
			if len(m.Calls()) > 0 {
				t.Errorf("%s: the history keeps a call without its result", name)
			}
		}
	}
}

// Anthropic rejects a conversation in which two calls have one id, or one has an id
// of other characters; OpenAI one that is longer. Another model may have made the
// calls before, and some servers count anew in each answer.
func TestCallsOfAConversationHaveIDsThatEveryProviderTakes(t *testing.T) {
	call := func(id string) Delta { return Delta{Call: &Call{ID: id, Tool: "list_animals"}} }
	const long = "chatcmpl-tool-0123456789abcdef0123456789abcdef"
	m := scripted(streams(call(""), call("call_0"), call("call_0"), call("functions.list:0"), call(long), call("toolu_01A"), Delta{Stop: StopCalls}), says("Leo."))
	q := turn(m, boxOf(tools{"list_animals": answers(`["Leo"]`)}))
	q.History = []Message{
		TextMessage(User, "Before"), {Role: Assistant, Parts: []Part{Call{ID: "call_0", Tool: "list_animals", Args: json.RawMessage(`{}`)}, Call{ID: "call_3", Tool: "list_animals", Args: json.RawMessage(`{}`)}}},
		{Role: ToolRole, Parts: []Part{CallResult{ID: "call_0", Tool: "list_animals"}, CallResult{ID: "call_3", Tool: "list_animals"}}}, TextMessage(Assistant, "Leo."),
	}
	collect(t, t.Context(), q)
	known := map[string]bool{}
	for _, message := range m.asked[1].Messages {
		for _, c := range message.Calls() {
			if known[c.ID] || !plainCallID.MatchString(c.ID) {
				t.Errorf("a call has the id %q", c.ID)
			}
			known[c.ID] = true
		}
		for _, r := range message.Results() {
			if !known[r.ID] {
				t.Errorf("a result has the id %q", r.ID)
			}
		}
	}
	if len(known) != 8 || !known["toolu_01A"] {
		t.Errorf("the calls have the ids %v", known)
	}
}
