package gateway

import (
	"encoding/json"
	"fmt"
	"time"

	"countersign.dev/internal/agent"
)

// entry is one message of a conversation.
type entry struct {
	At      time.Time
	Model   string            // of an answer: the model that gave it
	Servers map[string]string // of results: the server of each tool
	agent.Message
}

// The stored form of an entry, which no other package sees.
type (
	storedEntry struct {
		At      time.Time         `json:"at"`
		Model   string            `json:"model,omitempty"`
		Servers map[string]string `json:"servers,omitempty"`
		Role    agent.Role        `json:"role"`
		Parts   []storedPart      `json:"parts"`
	}
	storedPart struct { // exactly one of its fields is set
		Text   string        `json:"text,omitempty"`
		Call   *storedCall   `json:"call,omitempty"`
		Result *storedResult `json:"result,omitempty"`
		Opaque *storedOpaque `json:"opaque,omitempty"`
	}
	storedCall struct {
		ID   string `json:"id"`
		Tool string `json:"tool"`
		Args string `json:"args"` // text: it comes back byte for byte, and need not be JSON
	}
	storedResult struct {
		ID      string `json:"id"`
		Tool    string `json:"tool"`
		Answer  string `json:"answer"`
		Failed  bool   `json:"failed,omitempty"`
		Guarded bool   `json:"guarded,omitempty"`
	}
	storedOpaque struct {
		Provider string `json:"provider"`
		Model    string `json:"model"`
		Data     string `json:"data"`
	}
)

func encodeEntry(e entry) ([]byte, error) {
	s := storedEntry{At: e.At, Model: e.Model, Servers: e.Servers, Role: e.Role}
	for _, p := range e.Parts {
		s.Parts = append(s.Parts, stored(p))
	}
	return json.Marshal(s)
}

func stored(p agent.Part) storedPart {
	switch p := p.(type) {
	case agent.Call:
		return storedPart{Call: &storedCall{p.ID, p.Tool, string(p.Args)}}
	case agent.CallResult:
		return storedPart{Result: &storedResult{p.ID, p.Tool, string(p.Answer), p.Failed, p.Guarded}}
	case agent.Opaque:
		return storedPart{Opaque: &storedOpaque{p.Provider, p.Model, string(p.Data)}}
	case agent.Text:
		return storedPart{Text: string(p)}
	}
	panic(fmt.Sprintf("a part of type %T", p)) // the set is closed
}

func decodeEntry(b []byte) (entry, error) {
	var s storedEntry
	if err := json.Unmarshal(b, &s); err != nil {
		return entry{}, err
	}
	e := entry{At: s.At, Model: s.Model, Servers: s.Servers, Message: agent.Message{Role: s.Role}}
	for _, p := range s.Parts {
		e.Parts = append(e.Parts, p.part())
	}
	return e, nil
}

func (p storedPart) part() agent.Part {
	switch {
	case p.Call != nil:
		return agent.Call{ID: p.Call.ID, Tool: p.Call.Tool, Args: json.RawMessage(p.Call.Args)}
	case p.Result != nil:
		r := p.Result
		return agent.CallResult{ID: r.ID, Tool: r.Tool, Answer: json.RawMessage(r.Answer), Failed: r.Failed, Guarded: r.Guarded}
	case p.Opaque != nil:
		return agent.Opaque{Provider: p.Opaque.Provider, Model: p.Opaque.Model, Data: json.RawMessage(p.Opaque.Data)}
	}
	return agent.Text(p.Text)
}
