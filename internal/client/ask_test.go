package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"
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

// TestWaitIsAsLongAsAsked: it is not shorter, and ends with the one who asks.
func TestWaitIsAsLongAsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, busy := time.Now(), &busyError{errors.New("busy"), 7 * time.Second}
		if !waitAsked(t.Context(), busy) || time.Since(began) != busy.wait {
			t.Errorf("waited %s", time.Since(began))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if waitAsked(ctx, busy) || time.Since(began) != busy.wait+time.Second {
			t.Errorf("waited %s in all", time.Since(began))
		}
	})
}
