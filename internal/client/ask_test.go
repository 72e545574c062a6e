package client

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestAskerWaitsWhenItIsAskedTo: a refusal that says when to ask again is not the
// answer; one that does not say it is, and so is the last of too many.
func TestAskerWaitsWhenItIsAskedTo(t *testing.T) {
	for _, c := range []struct {
		refusals int
		after    string
		asked    int
		answered bool
	}{{2, "0", 3, true}, {1, "", 1, false}, {1, "3600", 1, false}, {50, "0", 1 + mostWaits, false}} {
		asked := 0
		gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if asked++; asked <= c.refusals {
				if c.after != "" {
					w.Header().Set("Retry-After", c.after)
				}
				w.WriteHeader(http.StatusTooManyRequests)
				return
			}
			_, _ = fmt.Fprint(w, "data: {\"type\":\"text\",\"text\":\"42\"}\n\ndata: [DONE]\n\n")
		}))
		asker, err := NewAsker(t.Context(), Options{URL: gateway.URL, Token: "t"}, "")
		if err != nil {
			t.Fatal(err)
		}
		x, err := asker.Ask(t.Context(), "How many?")
		if answered := err == nil && x.Text == "42"; answered != c.answered || asked != c.asked {
			t.Errorf("%+v: asked %d times, answered %v: %v", c, asked, answered, err)
		}
		gateway.Close()
	}
}
