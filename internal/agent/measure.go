package agent

import (
	"cmp"
	"slices"

	"countersign.dev/internal/result"
	"countersign.dev/internal/tokens"
)

// What a request needs besides texts, in tokens: vendors frame each message, call,
// result and tool in ways of their own.
const (
	perMessage = 4
	perPart    = 8
	perTool    = 8
)

// measure counts the tokens of messages as the model reads them.
type measure struct {
	count  *tokens.Counter
	tables bool // rows are read as tables
}

// prepare measures what is in every request, and reads the history.
func (r *run) prepare() {
	r.fitter.measure = measure{cmp.Or(r.turn.Tokens, &tokens.Counter{}), r.turn.Language}
	r.fitter.retain, r.fitter.clip = r.turn.Retain, r.clip
	r.fixed = r.fitter.count.Count(r.system) + r.fitter.toolSize(r.tools.Open)
	r.history = r.fitter.readAll(r.turn.History)
}

// messages is the conversation, cut to what the instructions and the tools leave
// of the budget.
func (r *run) messages() []Message {
	if r.turn.Budget <= 0 {
		return slices.Concat(r.history, r.added)
	}
	kept, dropped := r.fitter.fit(r.history, r.added, r.turn.Budget-r.fixed-noteSize)
	if dropped > 0 {
		kept = slices.Insert(kept, 0, TextMessage(System, leftOut))
	}
	return kept
}

// leftOut is what a model reads in the place of turns that it does not get.
const leftOut = "The beginning of this conversation is left out here to save space. If it is asked about, say that you no longer have it."

// noteSize is at least the tokens of leftOut as a message.
const noteSize = 40

// read adds what the model reads of a result, if that is not the envelope.
func (s measure) read(r CallResult) CallResult {
	if s.tables && r.Table == "" {
		r.Table = result.Table(r.Answer)
	}
	return r
}

// readAll is read for the results of a conversation.
func (s measure) readAll(messages []Message) []Message {
	if !s.tables {
		return messages
	}
	all := make([]Message, len(messages))
	for i, m := range messages {
		all[i] = Message{Role: m.Role, Parts: make([]Part, len(m.Parts))}
		for j, p := range m.Parts {
			if r, ok := p.(CallResult); ok {
				p = s.read(r)
			}
			all[i].Parts[j] = p
		}
	}
	return all
}

func (s measure) size(messages []Message) (tokens int) {
	for _, m := range messages {
		tokens += perMessage
		for _, p := range m.Parts {
			tokens += s.part(p)
		}
	}
	return tokens
}

func (s measure) part(p Part) int {
	switch p := p.(type) {
	case Text:
		return s.count.Count(string(p))
	case Call:
		return perPart + s.count.Count(p.Tool) + s.count.Count(string(p.Args))
	case CallResult:
		return perPart + s.count.Count(p.Read())
	case Opaque:
		return s.count.Count(string(p.Data))
	}
	return 0
}

// toolSize is the tokens of tools.
func (s measure) toolSize(tools []Tool) (tokens int) {
	for _, t := range tools {
		tokens += perTool + s.count.Count(t.Name) + s.count.Count(t.Description) + s.count.Count(string(t.InputSchema))
	}
	return tokens
}

// bytesOf is at least the tokens of messages.
func bytesOf(messages []Message) (bytes int) {
	for _, m := range messages {
		bytes += perMessage
		for _, p := range m.Parts {
			switch p := p.(type) {
			case Text:
				bytes += len(p)
			case Call:
				bytes += perPart + len(p.Tool) + len(p.Args)
			case CallResult:
				bytes += perPart + len(p.Read())
			case Opaque:
				bytes += len(p.Data)
			}
		}
	}
	return bytes
}
