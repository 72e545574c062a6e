package web_test

import (
	"net/http"
	"testing"
)

// TestWholeConversationIsReadInPages: a page that is refused for now is asked for again.
func TestWholeConversationIsReadInPages(t *testing.T) {
	g, p := newGateway(t), newPage(t)
	refused := false
	g.on("GET /api/conversations/{id}", func(w http.ResponseWriter, r *http.Request) {
		switch after := r.URL.Query().Get("after"); {
		case after == "":
			answer(http.StatusOK, object{"lastEventId": "9-0", "messages": []object{{"content": "one"}, {"content": "two"}}, "next": "2-0"})(w, r)
		case after == "2-0" && !refused:
			refused = true
			w.Header().Set("Retry-After", "1")
			answer(http.StatusTooManyRequests, object{"code": "RATE_LIMITED", "message": "Too many requests."})(w, r)
		case after == "2-0":
			answer(http.StatusOK, object{"lastEventId": "10-0", "messages": []object{{"content": "three"}}, "next": "3-0"})(w, r)
		default:
			answer(http.StatusOK, object{"lastEventId": "11-0", "messages": []object{{"content": "four"}}})(w, r)
		}
	})
	p.Open(g.URL)
	got := module[string](p, "api.js", `
		const view = await m.whole("/api/conversations/c1");
		return [view.lastEventId, ...view.messages.map(({ content }) => content)].join(" ");`, nil)
	if got != "9-0 one two three four" || !refused {
		t.Errorf("got %s, want all pages, and the event up to which the first one is", got)
	}
}
