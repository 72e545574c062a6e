package agent

import (
	"encoding/json"
	"slices"
)

// bytesPerToken turns bytes into an estimate of tokens, for any vendor's.
const bytesPerToken = 4

// shortened replaces an older result that no longer fits. A call is never
// parted from its result, so the result stays, without its rows.
var shortened = json.RawMessage(`{"status":"success","metadata":{"truncated":true,"hint":"This older result was left out to save space. Call the tool again if its rows are needed."}}`)

// clipper writes the result of a call of the running turn's last step again, in
// about that many bytes.
type clipper func(call, size int) json.RawMessage

// fit cuts a conversation to a budget of bytes. It keeps the newest turns, whole
// or in their words alone, and of the running turn the question and every call:
// results of older steps are shortened, the oldest first, and then the results
// of the last step are clipped. It does not change what it is given.
func fit(history, running []Message, budget int, clip clipper) []Message {
	turns := turnsOf(history)
	words := 0 // of the last turn, which are always kept
	if len(turns) > 0 {
		words = size(wordsOf(turns[len(turns)-1]))
	}
	running = clipLast(fitSteps(running, budget-words), budget-words, clip)
	return slices.Concat(fitTurns(turns, budget-size(running)), running)
}

// fitTurns keeps the newest turns that fit, and at least the words of the last
// one: a question often refers to it.
func fitTurns(turns [][]Message, budget int) []Message {
	var kept [][]Message
	for _, t := range slices.Backward(turns) {
		if size(t) > budget {
			t = wordsOf(t) // rows can be asked for again; what was said cannot
		}
		if budget -= size(t); budget < 0 && len(kept) > 0 {
			break
		}
		kept = append(kept, t)
	}
	slices.Reverse(kept)
	return slices.Concat(kept...)
}

// fitSteps shortens results of older steps of the running turn until it fits.
func fitSteps(running []Message, budget int) []Message {
	over := size(running) - budget
	if over <= 0 {
		return running
	}
	cut := slices.Clone(running)
	for i, m := range running[:max(0, len(running)-1)] {
		if over <= 0 {
			break
		}
		if m.Role == ToolRole {
			cut[i] = shorten(m)
			over -= size(running[i:i+1]) - size(cut[i:i+1])
		}
	}
	return cut
}

// clipLast clips the results of the last step until the running turn fits. Each
// gets an equal share of the room, and the smaller ones leave theirs to the rest.
func clipLast(running []Message, budget int, clip clipper) []Message {
	last := len(running) - 1
	if last < 0 || running[last].Role != ToolRole || size(running) <= budget {
		return running
	}
	parts := slices.Clone(running[last].Parts)
	room := budget - size(running[:last])
	for n, i := range smallestFirst(parts) {
		r := parts[i].(CallResult)
		if share := max(0, room) / (len(parts) - n); len(r.Answer) > share {
			r.Answer = clip(i, share)
			parts[i] = r
		}
		room -= len(r.Answer)
	}
	cut := slices.Clone(running)
	cut[last] = Message{Role: ToolRole, Parts: parts}
	return cut
}

// smallestFirst orders the results of a step by their size.
func smallestFirst(results []Part) []int {
	order := make([]int, len(results))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int {
		return len(results[x].(CallResult).Answer) - len(results[y].(CallResult).Answer)
	})
	return order
}

func shorten(m Message) Message {
	parts := slices.Clone(m.Parts)
	for i, p := range parts {
		if r, ok := p.(CallResult); ok && len(r.Answer) > len(shortened) {
			r.Answer, r.Untrusted = shortened, false
			parts[i] = r
		}
	}
	return Message{Role: m.Role, Parts: parts}
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

// size is the bytes of messages as a model reads them.
func size(messages []Message) (bytes int) {
	for _, m := range messages {
		for _, p := range m.Parts {
			switch p := p.(type) {
			case Text:
				bytes += len(p)
			case Call:
				bytes += len(p.Tool) + len(p.Args)
			case CallResult:
				bytes += len(p.Answer)
			case Opaque:
				bytes += len(p.Data)
			}
		}
	}
	return bytes
}

// sizeOfTools is the bytes of tools as a model reads them.
func sizeOfTools(tools []Tool) (bytes int) {
	for _, t := range tools {
		bytes += len(t.Name) + len(t.Description) + len(t.InputSchema)
	}
	return bytes
}
