package agent

import (
	"encoding/json"
	"slices"

	"countersign.dev/internal/result"
)

// largeResult is the tokens above which an older result is shortened when a
// conversation no longer fits. A call and its result stay together, so
// the result keeps some of its rows, and later none.
const largeResult = 200

// The rows that stay of a shortened result.
const (
	firstRows = 3
	lastRows  = 2
)

// clipper writes the result of a call of the running turn's last step again, in
// about that many bytes.
type clipper func(call, bytes int) json.RawMessage

// fitter cuts conversations to a budget of tokens. It does not change its arguments.
type fitter struct {
	measure
	retain int // messages of the history that are kept, the newest, in whole turns
	clip   clipper
}

// fit returns the conversation within the budget, and how many of its oldest turns
// are left out. The question, the calls and results of the running turn, and the
// newest turns stay, with fewer and fewer rows of their results; if those alone are
// too large, the result exceeds the budget.
func (f fitter) fit(history, running []Message, budget int) (kept []Message, dropped int) {
	if bytesOf(history)+bytesOf(running) <= budget { // no text has more tokens than bytes
		return slices.Concat(history, running), 0
	}
	turns := f.formsOf(turnsOf(history))
	least := 0
	for _, t := range turns {
		least += t.least()
	}
	running = f.clipLast(f.fitSteps(running, budget-least), budget-least)
	kept, dropped = fitTurns(turns, least, budget-f.size(running))
	return append(kept, running...), dropped
}

// turnForms are the forms of a turn, from whole to the smallest.
type turnForms struct {
	forms    []turnForm
	retained bool // a turn that is not left out
}

type turnForm struct {
	messages []Message
	size     int
}

// least is the size of the turn's smallest form.
func (t turnForms) least() int {
	if !t.retained {
		return 0
	}
	return t.forms[len(t.forms)-1].size
}

// formsOf prepares turns: whole, with large results shortened, and without their
// rows. One that need not be retained has its words alone at the end.
func (f fitter) formsOf(turns [][]Message) []turnForms {
	all := make([]turnForms, len(turns))
	oldest := len(turns) - retainedOf(turns, f.retain)
	for i, t := range turns {
		retained := i >= oldest
		forms := [][]Message{t, f.short(t), f.bare(t)}
		if !retained {
			forms[2] = wordsOf(t)
		}
		all[i].retained = retained
		for _, m := range forms {
			all[i].forms = append(all[i].forms, turnForm{m, f.size(m)})
		}
	}
	return all
}

// retainedOf counts the newest turns that hold at least so many messages.
func retainedOf(turns [][]Message, messages int) (retained int) {
	for _, t := range slices.Backward(turns) {
		if messages <= 0 {
			break
		}
		messages -= len(t)
		retained++
	}
	return retained
}

// fitTurns keeps the newest turns that fit, each in its largest form that does.
// least is what those take that are kept in any case.
func fitTurns(turns []turnForms, least, budget int) (kept []Message, dropped int) {
	budget -= least
	var found [][]Message
	for i, t := range slices.Backward(turns) {
		budget += t.least()
		n := slices.IndexFunc(t.forms, func(form turnForm) bool { return form.size <= budget })
		if n < 0 && !t.retained {
			dropped = i + 1
			break
		}
		if n < 0 {
			n = len(t.forms) - 1
		}
		found = append(found, t.forms[n].messages)
		budget -= t.forms[n].size
	}
	slices.Reverse(found)
	return slices.Concat(found...), dropped
}

// fitSteps shortens results of older steps of the running turn until it fits, the
// oldest first: all of them a little before any of them whole.
func (f fitter) fitSteps(running []Message, budget int) []Message {
	over := f.size(running) - budget
	if over <= 0 {
		return running
	}
	cut := slices.Clone(running)
	for _, less := range []func([]Message) []Message{f.short, f.bare} {
		for i := range cut[:max(0, len(cut)-1)] {
			if over <= 0 {
				return cut
			}
			before := f.size(cut[i : i+1])
			cut[i] = less(running[i : i+1])[0]
			over -= before - f.size(cut[i:i+1])
		}
	}
	return cut
}

// clipLast clips the results of the last step until the running turn fits. Each
// gets an equal share; what the smaller ones leave is shared by the rest.
func (f fitter) clipLast(running []Message, budget int) []Message {
	last := len(running) - 1
	if last < 0 || running[last].Role != ToolRole || f.size(running) <= budget {
		return running
	}
	parts := slices.Clone(running[last].Parts)
	space := budget - f.size(running[:last]) - f.size([]Message{{Role: ToolRole}})
	for n, i := range f.smallestFirst(parts) {
		r := parts[i].(CallResult)
		if share := max(0, space) / (len(parts) - n); f.part(r) > share {
			r = f.clipTo(r, i, share)
			parts[i] = r
		}
		space -= f.part(r)
	}
	cut := slices.Clone(running)
	cut[last] = Message{Role: ToolRole, Parts: parts}
	return cut
}

// clipTo writes a result in about that many tokens. Bytes per token depend on the data,
// so a first estimate is corrected.
func (f fitter) clipTo(r CallResult, call, share int) CallResult {
	share = max(1, share-perPart)
	for bytes := share * 8; ; {
		r = f.read(withAnswer(r, f.clip(call, bytes)))
		n := f.part(r) - perPart
		if n <= share || bytes < share || bytes == 0 {
			return r
		}
		bytes = min(bytes*share/n, bytes*9/10)
	}
}

// smallestFirst orders the results of a step by their size.
func (f fitter) smallestFirst(results []Part) []int {
	order := make([]int, len(results))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int { return f.part(results[x]) - f.part(results[y]) })
	return order
}

// short shortens the large results of messages to their first and last rows.
func (f fitter) short(messages []Message) []Message {
	return f.shortened(messages, func(r CallResult) json.RawMessage { return result.Shorten(r.Answer, firstRows, lastRows) })
}

// bare leaves no row of the large results.
func (f fitter) bare(messages []Message) []Message {
	return f.shortened(messages, func(r CallResult) json.RawMessage { return result.Shorten(r.Answer, 0, 0) })
}

func (f fitter) shortened(messages []Message, shorten func(CallResult) json.RawMessage) []Message {
	cut := slices.Clone(messages)
	for i, m := range cut {
		if m.Role != ToolRole {
			continue
		}
		cut[i].Parts = slices.Clone(m.Parts)
		for j, p := range m.Parts {
			if r, ok := p.(CallResult); ok && f.part(r) > largeResult {
				cut[i].Parts[j] = f.smaller(r, shorten(r))
			}
		}
	}
	return cut
}

// smaller returns the result with another answer, if that is smaller.
func (f fitter) smaller(r CallResult, answer json.RawMessage) CallResult {
	if s := f.read(withAnswer(r, answer)); f.part(s) < f.part(r) {
		return s
	}
	return r
}

func withAnswer(r CallResult, answer json.RawMessage) CallResult {
	r.Answer, r.Table = answer, ""
	return r
}

// turnsOf splits a conversation where a question begins.
func turnsOf(messages []Message) [][]Message {
	var turns [][]Message
	for _, m := range messages {
		if m.Role == User || len(turns) == 0 {
			turns = append(turns, nil)
		}
		last := len(turns) - 1
		turns[last] = append(turns[last], m)
	}
	return turns
}

func wordsOf(turn []Message) []Message {
	var words []Message
	for _, m := range turn {
		if text := m.Text(); text != "" {
			words = append(words, TextMessage(m.Role, text))
		}
	}
	return words
}
