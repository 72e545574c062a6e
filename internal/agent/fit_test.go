package agent

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"countersign.dev/internal/result"
	"countersign.dev/internal/testkit"
)

// randomConversation makes conversations whose every text and call has a name of its own.
type randomConversation struct {
	*rand.Rand
	names    int
	outcomes []result.Outcome // of the newest step
}

func (r *randomConversation) name(kind string) string {
	r.names++
	return fmt.Sprintf("%s-%d", kind, r.names)
}

func (r *randomConversation) outcome() result.Outcome {
	switch r.IntN(4) {
	case 0:
		return result.Failed(fmt.Errorf("boom"))
	case 1:
		return result.Success(json.RawMessage(`{"text":"`+strings.Repeat("word ", r.IntN(400))+`"}`), nil, "")
	}
	o, err := result.DecodeEnvelope(json.RawMessage(list(r.IntN(300))))
	if err != nil {
		panic(err)
	}
	return o
}

// step is calls and their results.
func (r *randomConversation) step() []Message {
	asks, answers := Message{Role: Assistant}, Message{Role: ToolRole}
	if r.IntN(3) == 0 {
		asks.Parts = append(asks.Parts, Opaque{Provider: "acme", Model: "m", Data: json.RawMessage(`"` + r.name("opaque") + `"`)})
	}
	r.outcomes = nil
	for range 1 + r.IntN(4) {
		o := r.outcome()
		r.outcomes = append(r.outcomes, o)
		c := Call{ID: r.name("call"), Tool: "list_notes", Args: json.RawMessage(`{}`)}
		answer, marked := result.EncodeForModel(o, []string{"text"}[:r.IntN(2)])
		asks.Parts = append(asks.Parts, c)
		answers.Parts = append(answers.Parts, CallResult{ID: c.ID, Tool: c.Tool, Answer: answer, Untrusted: marked})
	}
	return []Message{asks, answers}
}

func (r *randomConversation) turn() []Message {
	t := []Message{TextMessage(User, r.name("question"))}
	for range r.IntN(4) {
		t = append(t, r.step()...)
	}
	t = append(t, TextMessage(Assistant, r.name("answer")))
	if r.IntN(6) == 0 {
		t = append(t, TextMessage(System, r.name("outcome")))
	}
	return t
}

// namesIn lists the texts, calls and opaque parts of messages, in order.
func namesIn(messages []Message) (names []string) {
	for _, m := range messages {
		for _, p := range m.Parts {
			switch p := p.(type) {
			case Text:
				names = append(names, string(p))
			case Call:
				names = append(names, p.ID)
			case Opaque:
				names = append(names, string(p.Data))
			}
		}
	}
	return names
}

// unpaired describes a call that is not followed by its result, or a result
// without its call.
func unpaired(messages []Message) string {
	for i, m := range messages {
		var calls, results []string
		for _, c := range m.Calls() {
			calls = append(calls, c.ID)
		}
		if i+1 < len(messages) {
			for _, r := range messages[i+1].Results() {
				results = append(results, r.ID)
			}
		}
		if !slices.Equal(calls, results) {
			return fmt.Sprintf("message %d calls %v, and the next has the results of %v", i, calls, results)
		}
	}
	if len(messages[0].Results()) > 0 {
		return "the first message is a result"
	}
	return ""
}

func isSubsequence(part, all []string) bool {
	for _, name := range part {
		at := slices.Index(all, name)
		if at < 0 {
			return false
		}
		all = all[at+1:]
	}
	return true
}

func TestAnyConversationFitsAnyBudget(t *testing.T) {
	testkit.Alone(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	shortened := 0
	for round := range 120 {
		r := &randomConversation{Rand: rand.New(rand.NewPCG(seed, uint64(round)))}
		var history []Message
		for range r.IntN(12) {
			history = append(history, r.turn()...)
		}
		running := []Message{TextMessage(User, r.name("question"))}
		for range r.IntN(5) {
			running = append(running, r.step()...)
		}
		last := r.outcomes
		f := fitterOf(r.IntN(15), 0)
		f.tables = r.IntN(2) == 0
		f.clip = func(call, size int) json.RawMessage { return result.ClipForModel(last[call], nil, 1000, size) }
		history, running = f.readAll(history), f.readAll(running)
		before := fmt.Sprint(history, running)
		budget := r.IntN(6000)
		kept, dropped := f.fit(history, running, budget)
		if fmt.Sprint(history, running) != before {
			t.Fatalf("round %d: what was given has changed", round)
		}
		checkFit(t, f, round, history, running, kept, dropped, budget)
		if dropped > 0 {
			shortened++
		}
	}
	if shortened < 8 { // about 33 of 120, give or take 5
		t.Errorf("turns were left out in %d rounds only: the budgets are too large", shortened)
	}
}

func checkFit(t *testing.T, f fitter, round int, history, running, kept []Message, dropped, budget int) {
	t.Helper()
	names := namesIn(kept)
	if !isSubsequence(names, namesIn(slices.Concat(history, running))) {
		t.Errorf("round %d: the order changed: %v", round, names)
	}
	if fault := unpaired(kept); fault != "" {
		t.Errorf("round %d: %s", round, fault)
	}
	turns := turnsOf(history)
	newest, count := [][]Message(nil), 0
	for i := len(turns) - 1; i >= 0 && count < f.retain; i-- {
		newest, count = append([][]Message{turns[i]}, newest...), count+len(turns[i])
	}
	must := append(namesIn(slices.Concat(newest...)), namesIn(running)...)
	if !isSubsequence(must, names) {
		t.Errorf("round %d: kept %v, want at least %v", round, names, must)
	}
	if dropped != len(turns)-len(turnsOf(kept))+1 {
		t.Errorf("round %d: %d turns are said to be left out, of %d are %d there", round, dropped, len(turns), len(turnsOf(kept))-1)
	}
	if f.size(kept) <= budget {
		return
	}
	if len(turnsOf(kept)) != len(newest)+1 {
		t.Errorf("round %d: %d tokens for %d, and more than the newest turns is kept", round, f.size(kept), budget)
	}
	for i, m := range kept[:len(kept)-1] {
		if least := f.bare(kept[i : i+1]); f.size(least) < f.size([]Message{m}) {
			t.Errorf("round %d: %d tokens for %d, and the results of message %d could be shorter", round, f.size(kept), budget, i)
		}
	}
	for i, r := range kept[len(kept)-1].Results() {
		least := f.read(withAnswer(r, f.clip(i, 0)))
		if n := strings.Count(string(r.Answer), `"n":`); n > 1 && f.part(r) > f.part(least) {
			t.Errorf("round %d: %d tokens for %d, and a result of the last step has %d rows", round, f.size(kept), budget, n)
		}
	}
}
