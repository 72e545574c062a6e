package conversation

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/agent"
	"countersign.dev/internal/seal"
)

// version is the format of the stored records. It is written before the seal, and
// under it. Version 1 did not bind a message to its place.
const version = "2"

// The stored records, which nothing outside of this file sees.
type (
	storedConversation struct {
		ID      string       `json:"id"`
		Owner   access.Owner `json:"owner"`
		Title   string       `json:"title"`
		Model   string       `json:"model,omitempty"`
		Memory  agent.Memory `json:"memory,omitzero"`
		Usage   agent.Usage  `json:"usage,omitzero"`
		Created time.Time    `json:"created"`
		Updated time.Time    `json:"updated"`
	}
	storedMessage struct {
		At         time.Time         `json:"at"`
		Provenance storedProvenance  `json:"origin,omitzero"`
		Model      string            `json:"model,omitempty"`
		Servers    map[string]string `json:"servers,omitempty"`
		Usage      *agent.Usage      `json:"usage,omitempty"`
		Role       agent.Role        `json:"role"`
		Parts      []storedPart      `json:"parts"`
		Notes      []storedNote      `json:"notes,omitempty"`
	}
	storedProvenance struct {
		Surface string `json:"surface,omitempty"`
	}
	storedNote struct {
		Kind   string            `json:"kind"`
		Text   string            `json:"text"`
		Ranges []agent.TextRange `json:"spans,omitempty"`
		Code   string            `json:"code,omitempty"`
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
		ID        string `json:"id"`
		Tool      string `json:"tool"`
		Answer    string `json:"answer"`
		Failed    bool   `json:"failed,omitempty"`
		Untrusted bool   `json:"untrusted,omitempty"`
	}
	storedOpaque struct {
		Provider string `json:"provider"`
		Model    string `json:"model"`
		Data     string `json:"data"`
	}
)

// sealer seals records. Each is bound to its conversation, its kind and, when it is
// one of many, its id, so that none can be read in the place of another.
type sealer struct{ ring *seal.Ring }

// The kinds of records.
const (
	kindConversation = "conversation"
	kindMessage      = "message"
)

func binding(kind, conversation, id string) []byte {
	return []byte("conversations/" + version + "/" + kind + "/" + conversation + "/" + id)
}

func (s sealer) seal(kind, conversation, id string, record any) ([]byte, error) {
	plain, err := json.Marshal(record)
	if err != nil {
		return nil, err
	}
	return s.ring.AppendSeal([]byte(version+"."), plain, binding(kind, conversation, id)), nil
}

// open reads a stored record. A record of another version, or one that was
// altered or not sealed with our keys, is an error that says so.
func (s sealer) open(kind, conversation, id string, stored []byte, into any) error {
	v, sealed, ok := strings.Cut(string(stored), ".")
	if !ok || len(v) > 8 {
		return unreadableRecord(conversation, "it is not sealed", nil)
	}
	if v != version {
		return unreadableRecord(conversation, fmt.Sprintf("its format is version %s and this program reads version %s", v, version), nil)
	}
	plain, err := s.ring.Open(sealed, binding(kind, conversation, id))
	if err != nil {
		return unreadableRecord(conversation, "it was altered, or sealed with other keys", err)
	}
	if err := json.Unmarshal(plain, into); err != nil {
		return unreadableRecord(conversation, "its record is damaged", err)
	}
	return nil
}

func unreadableRecord(conversation, reason string, cause error) error {
	return unreadable.New("Conversation %s cannot be read: %s.", conversation, reason).Because(cause)
}

func (s sealer) sealConversation(c Conversation) ([]byte, error) {
	return s.seal(kindConversation, c.ID, "", storedConversation(c))
}

func (s sealer) openConversation(id string, stored []byte) (Conversation, error) {
	var c storedConversation
	err := s.open(kindConversation, id, "", stored, &c)
	return Conversation(c), err
}

func (s sealer) sealMessage(conversation, id string, m Message) ([]byte, error) {
	r := storedMessage{At: m.At, Provenance: storedProvenance{m.Surface}, Model: m.Model, Servers: m.Servers, Usage: m.Usage, Role: m.Role}
	for _, p := range m.Parts {
		r.Parts = append(r.Parts, storedOf(p))
	}
	for _, n := range m.Notes {
		r.Notes = append(r.Notes, storedNote(n))
	}
	return s.seal(kindMessage, conversation, id, r)
}

func storedOf(p agent.Part) storedPart {
	switch p := p.(type) {
	case agent.Call:
		return storedPart{Call: &storedCall{p.ID, p.Tool, string(p.Args)}}
	case agent.CallResult:
		return storedPart{Result: &storedResult{p.ID, p.Tool, string(p.Answer), p.Failed, p.Untrusted}}
	case agent.Opaque:
		return storedPart{Opaque: &storedOpaque{p.Provider, p.Model, string(p.Data)}}
	case agent.Text:
		return storedPart{Text: string(p)}
	}
	panic(fmt.Sprintf("a part of type %T", p)) // the set is closed
}

func (s sealer) openMessage(conversation, id string, stored []byte) (Message, error) {
	var r storedMessage
	if err := s.open(kindMessage, conversation, id, stored, &r); err != nil {
		return Message{}, err
	}
	m := Message{ID: id, At: r.At, Surface: r.Provenance.Surface, Model: r.Model, Servers: r.Servers, Usage: r.Usage, Message: agent.Message{Role: r.Role}}
	for _, p := range r.Parts {
		m.Parts = append(m.Parts, p.part())
	}
	for _, n := range r.Notes {
		m.Notes = append(m.Notes, agent.Note(n))
	}
	return m, nil
}

func (p storedPart) part() agent.Part {
	switch {
	case p.Call != nil:
		return agent.Call{ID: p.Call.ID, Tool: p.Call.Tool, Args: json.RawMessage(p.Call.Args)}
	case p.Result != nil:
		r := p.Result
		return agent.CallResult{ID: r.ID, Tool: r.Tool, Answer: json.RawMessage(r.Answer), Failed: r.Failed, Untrusted: r.Untrusted}
	case p.Opaque != nil:
		return agent.Opaque{Provider: p.Opaque.Provider, Model: p.Opaque.Model, Data: json.RawMessage(p.Opaque.Data)}
	}
	return agent.Text(p.Text)
}
