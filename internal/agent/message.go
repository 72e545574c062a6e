package agent

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"
)

// Role is the author of a message.
type Role string

// The roles of messages.
const (
	User      Role = "user"
	Assistant Role = "assistant"
	ToolRole  Role = "tool"
	System    Role = "system" // outcomes that the gateway writes into the conversation
)

// Message is one step of a conversation as the model sees it. The order of its
// parts is the order in which they were given.
type Message struct {
	Role  Role
	Parts []Part
	Notes []Note // what the gateway added to an answer, for people; never a model's own words
}

// Part is a piece of a message. The set is closed: Text, Call and Opaque are
// parts of an assistant's message, CallResult in a tool message (one for each call),
// and every other message is Text.
type Part interface{ part() }

// Text is what people read.
type Text string

// Call is a model's request to run a tool.
type Call struct {
	ID   string
	Tool string
	Args json.RawMessage
}

// CallResult is the outcome of a call, as the model reads it.
type CallResult struct {
	ID        string
	Tool      string
	Answer    json.RawMessage // the envelope
	Table     string          // its rows as a language model reads them; empty: it reads the envelope. Never stored
	Failed    bool
	Untrusted bool // holds untrusted text, in marked blocks
}

// Note is a correction of the answer in the gateway's name. Ranges are the parts of
// the model's words that it is about; none: the answer as a whole.
type Note struct {
	Kind   string // failed, waiting, unproven or invented; kept ones are incomplete or added, too, which were texts in the stream, unavailable or broken, which were a warning and an error there, or stopped, which its end said
	Text   string
	Ranges []TextRange
	Code   string // of what is broken
}

// Nanos are billionths of a currency's unit: sums of them are exact.
type Nanos int64

// TextRange is a part in the model's own text of a turn: from the character Start to
// the one before End, counted from 0 in code points.
type TextRange struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// Read is what the model reads of the result.
func (r CallResult) Read() string {
	if r.Table != "" {
		return r.Table
	}
	return string(r.Answer)
}

// Opaque is a part of a provider that must go back to it unchanged, and to no
// other: a thinking block, a thought signature.
type Opaque struct {
	Provider string
	Model    string
	Data     json.RawMessage
}

func (Text) part()       {}
func (Call) part()       {}
func (CallResult) part() {}
func (Opaque) part()     {}

// TextMessage is a message of text alone.
func TextMessage(r Role, text string) Message { return Message{Role: r, Parts: []Part{Text(text)}} }

// Text returns the message's text, its pieces joined.
func (m Message) Text() string {
	var b strings.Builder
	for _, t := range partsOf[Text](m) {
		b.WriteString(string(t))
	}
	return b.String()
}

// LastOf is the index of a role's last message; -1 when it has none.
func LastOf(r Role, messages []Message) int {
	i := len(messages) - 1
	for i >= 0 && messages[i].Role != r {
		i--
	}
	return i
}

// Calls returns the calls of an assistant's message, in order.
func (m Message) Calls() []Call { return partsOf[Call](m) }

// CallOf returns the call that a result answers, of the message before it; an empty one
// when that has none.
func CallOf(before Message, result CallResult) Call {
	for _, c := range before.Calls() {
		if c.ID == result.ID {
			return c
		}
	}
	return Call{}
}

// Results returns the results of a tool message, in the order of the calls.
func (m Message) Results() []CallResult { return partsOf[CallResult](m) }

func partsOf[P Part](m Message) (found []P) {
	for _, p := range m.Parts {
		if p, ok := p.(P); ok {
			found = append(found, p)
		}
	}
	return found
}

// addText continues the last text of the message, or begins one.
func (m *Message) addText(text string) {
	if last := len(m.Parts) - 1; last >= 0 {
		if before, ok := m.Parts[last].(Text); ok {
			m.Parts[last] = before + Text(text)
			return
		}
	}
	m.Parts = append(m.Parts, Text(text))
}

// dropCalls removes the calls of the message.
func (m *Message) dropCalls() {
	m.Parts = slices.DeleteFunc(m.Parts, func(p Part) bool { _, call := p.(Call); return call })
}

// StopReason is why a model's answer ended.
type StopReason string

// The stop reasons of every provider.
const (
	StopEnd     StopReason = "end"     // the answer is complete
	StopCalls   StopReason = "calls"   // the model waits for the results of its calls
	StopLength  StopReason = "length"  // the answer was cut at the model's limit
	StopRefusal StopReason = "refusal" // the model declined to answer
)

// Delta is a piece of a model's answer: some text, one whole call, an opaque
// part, tokens to add to the usage, or the stop reason, which comes last.
type Delta struct {
	Text   string
	Call   *Call
	Opaque *Opaque
	Usage  *Usage
	Note   string // of the gateway, for the person: shown before the answer, and no part of it
	Model  string // that answers instead of the one that was asked
	Stop   StopReason
}

// Whole yields an answer that is there at once: its text, its calls, and why it stops. Its
// only error is the context's.
func Whole(ctx context.Context, text string, calls []Call) iter.Seq2[Delta, error] {
	deltas, stop := []Delta{{Text: text}}, StopEnd
	for i := range calls {
		deltas, stop = append(deltas, Delta{Call: &calls[i]}), StopCalls
	}
	return func(yield func(Delta, error) bool) {
		for _, d := range append(deltas, Delta{Stop: stop}) {
			if err := ctx.Err(); !yield(d, err) || err != nil {
				return
			}
		}
	}
}

// Usage counts tokens.
type Usage struct {
	InputTokens  int `json:"input_tokens"`
	OutputTokens int `json:"output_tokens"`
	CachedTokens int `json:"cached_tokens,omitempty"` // of the input, read from the provider's cache

	Cost     Nanos  `json:"cost,omitempty"`     // billionths of the currency's unit
	Currency string `json:"currency,omitempty"` // empty: the price is not known
	Model    string `json:"model,omitempty"`    // that answered instead of the one that was asked

	Estimated bool `json:"estimated,omitempty"` // of an answer that was cut off: its provider had not said what it used
}

// Add adds what another answer used; nil is nothing.
func (u *Usage) Add(more *Usage) {
	if more == nil {
		return
	}
	u.InputTokens += more.InputTokens
	u.OutputTokens += more.OutputTokens
	u.CachedTokens += more.CachedTokens
	u.Cost += more.Cost
	u.Currency = cmp.Or(more.Currency, u.Currency)
	u.Model = cmp.Or(more.Model, u.Model)
	u.Estimated = u.Estimated || more.Estimated
}

// callIDs are the ids of the calls of a conversation.
type callIDs map[string]bool

// complete adds what a model may leave out of a call: the arguments of a tool that
// needs none, and an id that no other call of the conversation has. Some servers
// count anew in each answer, and another model may go on with the conversation.
func (known callIDs) complete(c Call) Call {
	for n := len(known) + 1; !plainCallID.MatchString(c.ID) || known[c.ID]; n++ {
		c.ID = fmt.Sprintf("call_%d", n)
	}
	known[c.ID] = true
	if len(bytes.TrimSpace(c.Args)) == 0 {
		c.Args = json.RawMessage("{}")
	}
	return c
}

func idsOf(history []Message) callIDs {
	ids := callIDs{}
	for _, m := range history {
		for _, c := range m.Calls() {
			ids[c.ID] = true
		}
	}
	return ids
}

// plainCallID is an id that every provider takes back: Anthropic in these characters,
// OpenAI in this length.
var plainCallID = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,40}$`)
