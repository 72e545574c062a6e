package gateway_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// A page that shows one person's data can do nothing in another's session.
func TestRequestOfAnotherPersonsPageIsRefused(t *testing.T) {
	r := newRig(t)
	c := r.signIn(alice)
	cookie := c.Name + "=" + c.Value
	var me struct{ UserID string }
	_, body := r.read(r.send("GET", "/api/user", "", "", "Cookie", cookie, "Sec-Fetch-Site", "same-origin"))
	if err := json.Unmarshal([]byte(body), &me); err != nil || me.UserID == "" {
		t.Fatalf("%v: %s", err, body)
	}
	for person, want := range map[string]int{me.UserID: http.StatusOK, "someone else": http.StatusConflict, "": http.StatusOK} {
		status, body := r.read(r.send("GET", "/api/conversations", "", "", "Cookie", cookie, "Sec-Fetch-Site", "same-origin", "Countersign-Person", person))
		if status != want || (want == http.StatusConflict) != strings.Contains(body, "PERSON_CHANGED") {
			t.Errorf("as %q: got %d %s, want %d", person, status, body, want)
		}
	}
}

func TestUnknownPathIsAPageForBrowsers(t *testing.T) {
	r := newRig(t)
	status, page := r.read(r.send("GET", "/nowhere", "", "", "Accept", "text/html"))
	if status != http.StatusNotFound || !strings.Contains(page, "<title>Page not found</title>") || !strings.Contains(page, `href="/"`) {
		t.Errorf("got %d %s, want a page", status, page)
	}
	if status, body := r.read(r.send("GET", "/nowhere", "", "")); status != http.StatusNotFound || !strings.Contains(body, "ROUTE_NOT_FOUND") {
		t.Errorf("got %d %s, want an envelope", status, body)
	}
}

func TestPageIsKeptUnderItsVersion(t *testing.T) {
	r := newRig(t)
	_, page := r.read(r.send("GET", "/", "", ""))
	_, rest, found := strings.Cut(page, `src="/v/`)
	address, _, _ := strings.Cut(rest, `"`)
	if !found {
		t.Fatalf("the page has no address of a version: %s", page)
	}
	file := r.send("GET", "/v/"+address, "", "")
	if file.StatusCode != http.StatusOK || !strings.Contains(file.Header.Get("Cache-Control"), "immutable") || file.Header.Get("Content-Security-Policy") == "" {
		t.Errorf("got %d, %v", file.StatusCode, file.Header)
	}
	if status, _ := r.read(r.send("GET", "/v/other/app.js", "", "")); status != http.StatusNotFound {
		t.Errorf("another version: got %d, want 404", status)
	}
}

func TestConversationIsRenamed(t *testing.T) {
	r := newRig(t)
	r.model.script["Hello"] = []step{says("Hello.")}
	id := conversationOf(t, r.ask(alice, "Hello", ""))
	r.released(id)
	for body, want := range map[string]int{`{"title":"  "}`: http.StatusBadRequest, `{"title":"My team"}`: http.StatusNoContent} {
		if status, got := r.read(r.send("PATCH", "/api/conversations/"+id, alice, body)); status != want {
			t.Errorf("%s: got %d %s, want %d", body, status, got, want)
		}
	}
	if status, _ := r.read(r.send("PATCH", "/api/conversations/"+id, frank, `{"title":"Mine"}`)); status != http.StatusNotFound {
		t.Errorf("another person: got %d, want 404", status)
	}
	var list struct{ Conversations []struct{ ID, Title string } }
	r.get("/api/conversations", alice, &list)
	if len(list.Conversations) != 1 || list.Conversations[0].Title != "My team" {
		t.Errorf("got %+v", list)
	}
}
