package gateway_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"countersign.dev/internal/access"
	"countersign.dev/internal/result"
)

func TestConversationIsStoredForItsOwnerAlone(t *testing.T) {
	r := newRig(t)
	r.model.script["Who works here?"] = []step{calls("list_employees"), says("Nina and Frank.")}
	conversation := conversationOf(t, r.ask(alice, "Who works here?", ""))
	r.ask(alice, "And who else?", conversation)
	asked := r.model.lastAsked().Messages
	if len(asked) != 5 || asked[0].Text() != "Who works here?" || len(asked[2].Results()) != 1 || asked[3].Text() == "" {
		t.Errorf("the model got %+v, want the first turn and the question", asked)
	}
	var list struct {
		Conversations []struct{ ID, Title string }
	}
	other := conversationOf(t, r.ask(alice, "A second\nconversation", ""))
	r.get("/api/conversations", alice, &list)
	if len(list.Conversations) != 2 || list.Conversations[0].ID != other || list.Conversations[0].Title != "A second conversation" {
		t.Errorf("list: got %+v, want the newest first", list)
	}
	var whole struct {
		Running     bool
		LastEventID string
		Model       string
		Messages    []struct {
			ID, Role, Content, Tool, Server, Model string
			Args                                   json.RawMessage
		}
	}
	r.get("/api/conversations/"+conversation, alice, &whole)
	var roles []string
	for _, m := range whole.Messages {
		roles = append(roles, m.Role)
	}
	if diff := cmp.Diff([]string{"user", "tool", "assistant", "user", "assistant"}, roles); diff != "" || whole.Running || whole.LastEventID == "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	// What a page needs to ask for the next page after it was loaded again.
	if m := whole.Messages[1]; m.Tool != "list_employees" || m.Server != "hr" || string(m.Args) != `{"n":1}` || m.Model != "script" {
		t.Errorf("the stored call: got %+v", m)
	}
	if whole.Model != "script" || whole.Messages[0].Model != "" || whole.Messages[2].Model != "script" {
		t.Errorf("models: got %q and %+v, want the one that answered", whole.Model, whole.Messages)
	}
	if status := r.get("/api/conversations/"+conversation+"?after="+whole.Messages[2].ID, alice, &whole); status != 200 || len(whole.Messages) != 2 {
		t.Errorf("after the first answer: got %d %+v, want the second turn", status, whole.Messages)
	}
	if status, _ := r.read(r.send("DELETE", "/api/conversations/"+conversation, alice, "")); status != 204 {
		t.Errorf("delete: got %d, want 204", status)
	}
	if status := r.get("/api/conversations/"+conversation, alice, nil); status != 404 {
		t.Errorf("after delete: got %d, want 404", status)
	}
	for _, key := range r.mini.Keys() {
		if strings.Contains(key, conversation) {
			t.Errorf("left behind: %s", key)
		}
	}
}

// TestConversationOfAnotherPersonIsUnknown: whatever another person asks of a conversation is
// answered as for one that does not exist, and changes nothing of it.
func TestConversationOfAnotherPersonIsUnknown(t *testing.T) {
	r := newRig(t)
	r.model.script["long"] = []step{waits}
	running := r.stream(r.send("POST", "/api/query", alice, askBody("long", "")))
	first, _ := running.next()
	own, unknown := conversationOf(t, []event{first}), strings.Repeat("0", 32)
	for _, c := range []struct{ method, path, body string }{
		{"GET", "/api/conversations/{id}", ""}, {"DELETE", "/api/conversations/{id}", ""}, {"PATCH", "/api/conversations/{id}", `{"title":"mine"}`},
		{"GET", "/api/conversations/{id}/events", ""}, {"POST", "/api/conversations/{id}/cancel", ""},
		{"POST", "/api/query", `{"query":"And now?","conversationId":"{id}"}`}, {"GET", "/api/query?query=hello&conversationId={id}", ""},
	} {
		ask := func(id string) (int, string) {
			in := strings.NewReplacer("{id}", id)
			status, body := r.read(r.send(c.method, in.Replace(c.path), frank, in.Replace(c.body)))
			return status, strings.ReplaceAll(body, id, "ID")
		}
		status, body := ask(own)
		if otherStatus, other := ask(unknown); status != 404 || otherStatus != status || body != other {
			t.Errorf("%s %s: got %d %s, and %d %s for none, want both 404 and equal", c.method, c.path, status, body, otherStatus, other)
		}
	}
	var kept struct {
		Title   string
		Running bool
	}
	if status := r.get("/api/conversations/"+own, alice, &kept); status != 200 || kept.Title != "long" || !kept.Running {
		t.Errorf("afterwards: got %d %+v, want it as it was", status, kept)
	}
}

func TestQuestionIsStoredWithItsSurface(t *testing.T) {
	r := newRig(t)
	p, err := verify(t.Context(), alice)
	if err != nil {
		t.Fatal(err)
	}
	for agent, want := range map[string]string{"countersign": "terminal", "curl/8.5.0": "terminal"} { // the client does not say it
		id := conversationOf(t, r.stream(r.send("POST", "/api/query", alice, askBody("hello", ""), "User-Agent", agent)).rest())
		c, err := r.conversations.Open(t.Context(), p.Owner(), id)
		if err != nil {
			t.Fatal(err)
		}
		page, err := r.conversations.Messages(t.Context(), c, "")
		if err != nil || page.Messages[0].Surface != want {
			t.Errorf("%s: got %+v, %v, want %s", agent, page.Messages, err, want)
		}
	}
}

// TestCallHasTheSurfaceThatItBeganOn: the caller's cookie or token decides, and
// not what the client says.
func TestCallHasTheSurfaceThatItBeganOn(t *testing.T) {
	r := newRig(t)
	r.model.script["list"] = []step{calls("list_employees"), says("Nina.")}
	r.model.script["again"] = []step{calls("list_employees"), says("Nina.")}
	var began access.Surface
	r.servers.call["list_employees"] = func(ctx context.Context, args json.RawMessage) result.Outcome {
		p, err := access.From(ctx)
		if err != nil {
			return result.Failed(err)
		}
		began = p.Provenance().Surface
		return result.Success(args, nil, "")
	}
	c := r.signIn(alice)
	r.stream(r.send("POST", "/api/query", "", askBody("list", ""), "Cookie", c.Name+"="+c.Value, "Sec-Fetch-Site", "same-origin", "User-Agent", "countersign")).rest()
	if began != access.SurfaceChat {
		t.Errorf("our page: got %q", began)
	}
	r.stream(r.send("POST", "/api/query", alice, askBody("again", ""))).rest()
	if began != access.SurfaceTerminal {
		t.Errorf("a bearer token: got %q", began)
	}
	r.read(r.send("POST", "/api/mcp/hr/list_employees", alice, `{}`))
	if began != access.SurfaceAPI {
		t.Errorf("a direct call: got %q", began)
	}
}

func TestConversationThatCannotBeReadIsListedAndCanBeDeleted(t *testing.T) {
	r := newRig(t)
	id := conversationOf(t, r.ask(alice, "Who works here?", ""))
	if err := r.mini.Set("conversation:"+id, "3.x"); err != nil {
		t.Fatal(err)
	}
	var list struct {
		Conversations []struct{ ID, Title, Error string }
	}
	r.get("/api/conversations", alice, &list)
	if len(list.Conversations) != 1 || list.Conversations[0].ID != id || list.Conversations[0].Title == "" ||
		list.Conversations[0].Error != "Conversation "+id+" cannot be read: its format is version 3 and this program reads version 2." {
		t.Errorf("got %+v", list)
	}
	const bob = "bob.hill:hr-read"
	for _, c := range []struct {
		token string
		want  int
	}{{bob, http.StatusConflict}, {alice, http.StatusNoContent}} {
		resp := r.send("DELETE", "/api/conversations/"+id, c.token, "")
		if _, body := r.read(resp); resp.StatusCode != c.want {
			t.Errorf("%s deletes it: got %d %s, want %d", c.token, resp.StatusCode, body, c.want)
		}
	}
	if r.mini.Exists("conversation:"+id) || r.mini.Exists("messages:"+id) {
		t.Errorf("got %v, want it deleted by its owner", r.mini.Keys())
	}
}
