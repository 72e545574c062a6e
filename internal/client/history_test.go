package client

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestWholeConversationIsReadInPages: a page that is refused for now is asked for again.
func TestWholeConversationIsReadInPages(t *testing.T) {
	refused := false
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch after := r.URL.Query().Get("after"); {
		case after == "":
			fmt.Fprint(w, `{"lastEventId":"9-0","messages":[{"content":"one"},{"content":"two"}],"next":"2-0"}`)
		case after == "2-0" && !refused:
			refused = true
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusTooManyRequests)
		case after == "2-0":
			fmt.Fprint(w, `{"lastEventId":"10-0","messages":[{"content":"three"}],"next":"3-0"}`)
		case after == "3-0":
			fmt.Fprint(w, `{"lastEventId":"11-0","messages":[{"content":"four"}]}`)
		}
	}))
	defer gateway.Close()
	c, err := Options{URL: gateway.URL, Token: "t"}.client(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	whole, err := c.conversation(t.Context(), "c9")
	if err != nil {
		t.Fatal(err)
	}
	said := ""
	for _, m := range whole.Messages {
		said += m.Content + " "
	}
	if said != "one two three four " || whole.LastEventID != "9-0" || !refused {
		t.Errorf("got %s until %s, want all pages, and the event up to which the first one is", said, whole.LastEventID)
	}
}
