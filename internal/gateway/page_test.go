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

// What a signed-in browser's page would ask for comes with it, through the same gate,
// and to no one else.
func TestFirstPageBringsItsAnswers(t *testing.T) {
	r := newRig(t)
	r.model.script["Hello"] = []step{says("Hello.")}
	id := conversationOf(t, r.ask(alice, "Hello", ""))
	r.released(id)
	of := func(token string) string {
		c := r.signIn(token)
		return c.Name + "=" + c.Value + "; countersign-place=" + id
	}
	open := func(headers ...string) (*http.Response, string) {
		resp := r.send("GET", "/", "", "", headers...)
		_, body := r.read(resp)
		return resp, body
	}
	resp, page := open("Cookie", of(alice), "Sec-Fetch-Dest", "document", "Sec-Fetch-Site", "none")
	for _, path := range []string{"/api/user", "/api/tools", "/api/models", "/api/confirmations", "/api/conversations", "/api/conversations/" + id} {
		if !strings.Contains(page, `data-given="`+path+`"`) {
			t.Errorf("%s did not come with the page: %s", path, page)
		}
	}
	if resp.Header.Get("Cache-Control") != "no-store" || resp.Header.Get("Content-Security-Policy") == "" {
		t.Errorf("got %v", resp.Header)
	}
	if _, page := open("Cookie", of(frank), "Sec-Fetch-Dest", "document"); strings.Contains(page, "/api/conversations/"+id) || !strings.Contains(page, "/api/user") {
		t.Errorf("Frank got Alice's conversation, or nothing: %s", page)
	}
	for name, headers := range map[string][]string{
		"signed out": {"Cookie", "countersign-place=" + id, "Sec-Fetch-Dest", "document"}, "a script's": {"Cookie", of(alice), "Sec-Fetch-Dest", "empty"},
		"a frame's": {"Cookie", of(alice), "Sec-Fetch-Dest", "iframe"}, "ended": {"Cookie", "countersign=none", "Sec-Fetch-Dest", "document"},
	} {
		if _, page := open(headers...); strings.Contains(page, "data-given") {
			t.Errorf("%s: got %s", name, page)
		}
	}
	tag := r.send("GET", "/", "", "").Header.Get("ETag")
	if resp, _ := open("If-None-Match", tag, "Sec-Fetch-Dest", "document"); tag == "" || resp.StatusCode != http.StatusNotModified {
		t.Errorf("without a session: got %d for the tag %q, want 304", resp.StatusCode, tag)
	}
}
