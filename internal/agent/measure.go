package agent

import (
	"strings"

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

// noteSize is at least the tokens of what is said around a summary, or instead of
// one.
const noteSize = 48

// notePrefix begins what a model reads of notes.
const notePrefix = "Added to the answer above, for the person, by the gateway:\n"

// withNotes puts what the gateway added to an answer after it, as the gateway's words: the
// model reads that it was corrected, and not as its own words. An answer
// without a part of its own is left out.
func withNotes(history []Message) []Message {
	all := make([]Message, 0, len(history))
	for _, m := range history {
		if len(m.Parts) > 0 {
			all = append(all, Message{Role: m.Role, Parts: m.Parts})
		}
		if len(m.Notes) > 0 {
			var lines []string
			for _, n := range m.Notes {
				lines = append(lines, n.Text)
			}
			all = append(all, TextMessage(System, notePrefix+strings.Join(lines, "\n")))
		}
	}
	return all
}
