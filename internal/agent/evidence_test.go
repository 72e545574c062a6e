package agent

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
)

// TestLyingModelIsCorrected: each sort of lie has its line, in the gateway's name,
// in the stream and in the history; the model's own words stay as they are.
func TestLyingModelIsCorrected(t *testing.T) {
	refused := func(context.Context, json.RawMessage) result.Outcome {
		return result.Failed(fault.Insufficient.New("You may not feed animals."))
	}
	unfit := func(context.Context, json.RawMessage) result.Outcome {
		return result.Failed(fault.WrongInputs(fault.Input{Field: "daily_ration", Wrong: "must be at most 20"}).Tell("The daily ration must be at most 20."))
	}
	b := boxOf(tools{
		"weigh_animal": unfit,
		"list_animals": answers(`[{"name":"Leo","weight":190},{"name":"Nala","weight":126}]`),
		"feed_animal":  refused, "free_lion": pending("c1"),
	})
	for i := range b.Open {
		if b.Open[i].Name != "list_animals" {
			b.Open[i].Kind = result.Write
		}
	}
	for name, row := range map[string]struct {
		m    *script
		want string
	}{
		"true":            {scripted(calls("list_animals"), says("Leo weighs 190 kg and Nala 126 kg, 316 kg together.")), ""},
		"invented":        {scripted(calls("list_animals"), says("Leo weighs 212 kg and Simba 145 kg.")), "Not from the data: 212, 145, Simba are the model's own."},
		"refused":         {scripted(calls("feed_animal"), says("The lion is happy.")), "I encountered an error when using the feed_animal tool: You may not feed animals."},
		"unfit":           {scripted(calls("weigh_animal"), says("The lion is happy.")), "I encountered an error when using the weigh_animal tool: The daily ration must be at most 20."},
		"reported":        {scripted(says("I've updated the record of the lion.")), "Nothing was changed: the change that this answer speaks of has not been made."},
		"waiting":         {scripted(both("The lion has been set free. ", "free_lion")), "Nothing has been changed yet: “free_lion” waits for your approval."},
		"waiting, silent": {scripted(calls("free_lion")), ""},
	} {
		events, _ := collect(t, t.Context(), turn(row.m, b))
		want(t, name+": "+strings.TrimSpace(textOf(events, "gateway")), name+": "+row.want)
		kept := events[len(events)-1].(Done).Messages
		last := kept[len(kept)-1]
		if row.want != "" && (len(last.Notes) != 1 || last.Notes[0].Text != row.want || strings.Contains(last.Text(), row.want)) {
			t.Errorf("%s: the history has %q, notes %+v", name, last.Text(), last.Notes)
		}
		if row.want == "" && len(last.Notes) > 0 {
			t.Errorf("%s: notes %+v", name, last.Notes)
		}
	}
}

// TestNotesAreNoWordsOfTheModel: in the next turn the model reads what was added to its
// answer as the gateway's words, and an answer of notes alone is none of its own.
func TestNotesAreNoWordsOfTheModel(t *testing.T) {
	answer := TextMessage(Assistant, "I've freed the lion.")
	answer.Notes = []Note{{Kind: "unproven", Text: "Nothing was changed."}}
	m := scripted(says("It is in its cage."))
	next := turn(m, boxOf(nil))
	next.Language = true
	next.History = []Message{TextMessage(User, "free the lion"), answer, TextMessage(User, "thanks"), {Role: Assistant, Notes: []Note{{Kind: "added", Text: "I have no answer."}}}}
	collect(t, t.Context(), next)
	var read []string
	for _, said := range m.asked[0].Messages {
		read = append(read, string(said.Role)+": "+said.Text())
	}
	want(t, strings.Join(read, "|"), "user: free the lion|assistant: I've freed the lion.|system: "+notePrefix+"Nothing was changed.|user: thanks|system: "+notePrefix+"I have no answer.|user: "+next.Question)
}

// TestNoteNamesThePlacesInTheAnswer: a correction is an event of its own, which says
// where in the model's own text the words are that it is about.
func TestNoteNamesThePlacesInTheAnswer(t *testing.T) {
	b := boxOf(tools{"list_animals": answers(`[{"name":"Leo","weight":190}]`)})
	events, _ := collect(t, t.Context(), turn(scripted(calls("list_animals"), says("Léo weighs ", "212 kg and Simba 145 kg.")), b))
	notes := find[Note](events)
	if len(notes) != 1 || notes[0].Kind != "invented" || !strings.HasPrefix(notes[0].Text, "Not from the data: ") {
		t.Fatalf("notes: got %+v", notes)
	}
	answer := []rune(textOf(events, ""))
	var words []string
	for _, s := range notes[0].Ranges {
		words = append(words, string(answer[s.Start:s.End]))
	}
	want(t, strings.Join(words, " "), "212 145 Simba")
	events, _ = collect(t, t.Context(), turn(scripted(says("Hm. I've updated the record of the lion.")), b))
	notes = find[Note](events)
	if len(notes) != 1 || notes[0].Kind != "unproven" || len(notes[0].Ranges) != 1 || notes[0].Ranges[0] != (TextRange{4, 40}) {
		t.Errorf("a report: got %+v", notes)
	}
}

// TestEvidenceLastsForTheConversation: figures of an earlier turn's results and of
// the person's own words are no inventions, and neither is an outcome that the
// gateway wrote. What was corrected once stays an invention.
func TestEvidenceLastsForTheConversation(t *testing.T) {
	kept := CallResult{Tool: "list_animals", Answer: json.RawMessage(`{"status":"success","data":[{"name":"Leo","weight":190}]}`)}
	asked := turn(scripted(says("Leo weighs 190 kg, more than your 150. Zazu has been deleted.")), boxOf(nil))
	asked.History = []Message{
		TextMessage(User, "Which animals weigh more than 150 kg? Delete Zazu."),
		{Role: ToolRole, Parts: []Part{kept}}, TextMessage(System, "Zazu has been deleted."),
	}
	events, _ := collect(t, t.Context(), asked)
	want(t, textOf(events, "gateway"), "")

	asked.Model = scripted(says("Timon weighs 12,345 kg."))
	asked.History = []Message{TextMessage(Assistant, "Timon weighs 12,345 kg.\n\nNot from the data: 12,345, Timon are the model's own.")}
	events, _ = collect(t, t.Context(), asked)
	want(t, strings.TrimSpace(textOf(events, "gateway")), "Not from the data: 12,345 is the model's own.")
}

// both writes a text and then calls a tool.
func both(text, tool string) func(context.Context, func(Delta, error) bool) {
	return streams(Delta{Text: text}, Delta{Call: &Call{ID: "1", Tool: tool, Args: json.RawMessage(`{}`)}}, Delta{Stop: StopCalls})
}
