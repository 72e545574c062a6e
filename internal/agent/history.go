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

// fit cuts a conversation to a budget of tokens (0: no limit). It keeps the
// newest turns, whole or in their words alone, and of the running turn the
// question, every call and the newest results: results of older steps are
// shortened, the oldest first. It does not change what it is given.
func fit(history, running []Message, tokens int) []Message {
	if tokens <= 0 {
		return slices.Concat(history, running)
	}
	budget := tokens * bytesPerToken
	running = fitSteps(running, budget)
	return slices.Concat(fitTurns(turnsOf(history), budget-size(running)), running)
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

// fitSteps shortens results of the running turn until it fits. The results of
// its last step stay: the model waits for them.
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
