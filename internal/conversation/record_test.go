package conversation

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"countersign.dev/internal/access"
	"countersign.dev/internal/agent"
	"countersign.dev/internal/seal"
)

func ring(t testing.TB, secret string) *seal.Ring {
	t.Helper()
	r, err := seal.NewRing("conversation", bytes.Repeat([]byte(secret), 32))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRecordsAreReadAsTheyWereStored(t *testing.T) {
	s := sealer{ring(t, "k")}
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	c := Conversation{ID: newID(), Owner: access.Owner{Issuer: "i", Subject: "s"}, Title: "<b>", Model: "m", Memory: agent.Memory{Summary: "s", Covered: 4, Untrusted: true, Found: []string{"t"}}, Created: at, Updated: at}
	stored, err := s.sealConversation(c)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.openConversation(c.ID, stored); err != nil || !cmp.Equal(got, c) {
		t.Errorf("got %+v, %v, want %+v", got, err, c)
	}
	m := Message{
		ID: "1-0", At: at, Model: "m", Servers: map[string]string{"list_animals": "zoo"}, Usage: &agent.Usage{InputTokens: 3},
		Surface: "sse",
		Message: agent.Message{Role: agent.Assistant, Parts: []agent.Part{
			agent.Opaque{Provider: "acme", Model: "acme-1", Data: json.RawMessage(`{ "a" : "<" }`)},
			agent.Text("Leo <lives> here."),
			agent.Call{ID: "1", Tool: "list_animals", Args: json.RawMessage(`{"cut":`)}, // models make mistakes
			agent.CallResult{ID: "1", Tool: "list_animals", Answer: json.RawMessage(`{"n": 1.10}`), Failed: true, Untrusted: true},
		}, Notes: []agent.Note{{Kind: "invented", Text: "Leo is the model's own.", Ranges: []agent.TextRange{{Start: 0, End: 3}}}}},
	}
	if stored, err = s.sealMessage(c.ID, m.ID, m); err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(stored, []byte("Leo <lives>")) {
		t.Errorf("the text can be read: %s", stored)
	}
	got, err := s.openMessage(c.ID, m.ID, stored)
	if d := cmp.Diff(m, got); d != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
}

func TestRecordsThatAreNotOursAreRejected(t *testing.T) {
	s, other := sealer{ring(t, "k")}, sealer{ring(t, "x")}
	m := Message{Message: agent.TextMessage(agent.User, "hello")}
	one, two := newID(), newID()
	stored, err := s.sealMessage(one, "1-0", m)
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := other.sealMessage(one, "1-0", m)
	if err != nil {
		t.Fatal(err)
	}
	altered := bytes.Clone(stored)
	altered[len(altered)-9] ^= 1
	for name, row := range map[string]struct {
		conversation string
		stored       []byte
		says         string
	}{
		"another version":      {one, []byte("3" + string(stored[1:])), "its format is version 3 and this program reads version 2"},
		"not sealed":           {one, []byte(`{"role":"user","parts":[{"text":"hello. Bye."}]}`), "it is not sealed"},
		"altered":              {one, altered, "it was altered, or sealed with other keys"},
		"other keys":           {one, foreign, "it was altered, or sealed with other keys"},
		"another conversation": {two, stored, "it was altered, or sealed with other keys"},
	} {
		_, err := s.openMessage(row.conversation, "1-0", row.stored)
		if err == nil || !strings.Contains(err.Error(), "Conversation "+row.conversation+" cannot be read: "+row.says) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := s.openConversation(one, stored); err == nil {
		t.Error("a message was read as a conversation")
	}
}

func TestEventsAreReadAsTheyWereWritten(t *testing.T) {
	for name, e := range map[string]Event{
		"data":   {Type: ToolFinished, Tool: "list_animals", Message: "a\nb <c>", Data: json.RawMessage("{ \"n\": 1.10,\n\"m\": \"<\" }")},
		"none":   {Type: Done},
		"fields": {Type: Started, Conversation: "c", Text: "who\n?", At: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC), Usage: &agent.Usage{InputTokens: 1}},
	} {
		b, err := e.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		var got Event
		if err := got.UnmarshalBinary(b); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(e, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
	for _, stored := range []string{`{"v":1,"type":"done"}`, `{"type":"done"}` + "\n"} {
		if err := new(Event).UnmarshalBinary([]byte(stored)); err == nil {
			t.Errorf("%q was read", stored)
		}
	}
}
