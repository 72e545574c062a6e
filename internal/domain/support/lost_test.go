package support_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"countersign.dev/internal/domain/support/elastic"
	"countersign.dev/internal/fault"
)

// TestLostAnswerIsNoLostChange: the engine applies a change and its answer is
// lost. The change is sent again, conflicts with itself, and counts as made.
func TestLostAnswerIsNoLostChange(t *testing.T) {
	address, prefix := searchServer.Address(t)
	target, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	var losing atomic.Bool
	forward := httputil.NewSingleHostReverseProxy(target)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/_bulk") && losing.CompareAndSwap(true, false) {
			forward.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler) // the connection closes without an answer
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(proxy.Close)
	s, err := elastic.Open(proxy.URL, &elastic.Options{Tickets: prefix + "tickets", Articles: prefix + "articles"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	fill(t, s, sample())
	c := closing(t, s, "TICK-004", "lost")
	losing.Store(true)
	if done, err := change(t.Context(), s, c); !done || err != nil || losing.Load() {
		t.Fatalf("done %v, %v, lost %v", done, err, !losing.Load())
	}
	if row, _, err := s.Ticket(t.Context(), everything, "TICK-004"); err != nil || row.Status != "closed" || row.Version.Number == c.Version.Number {
		t.Errorf("got %+v, %v", row, err)
	}
}

func TestUnreadableAddressIsNotRepeated(t *testing.T) {
	for _, address := range []string{"", "localhost:9200", "ftp://user:secret@host", "http://user:secret@[::1", "http://ok.example, secret", "mongodb://user:secret@host"} {
		if _, err := elastic.Open(address, nil); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", address, err)
		}
	}
	for _, index := range []string{"a*", "a,b", "a/b", "../a", "a?b"} {
		if _, err := elastic.Open("http://localhost:9200", &elastic.Options{Tickets: index}); err == nil {
			t.Errorf("the index %q is taken", index)
		}
	}
}

// TestReceiptIsFoundBeforeTheIndexShowsIt: a change is made, and the process that made it
// is gone before any search could show it.
func TestReceiptIsFoundBeforeTheIndexShowsIt(t *testing.T) {
	address, prefix := searchServer.Address(t)
	s, err := elastic.Open(address, &elastic.Options{Tickets: prefix + "tickets", Articles: prefix + "articles", Refresh: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	fill(t, s, sample())
	c := closing(t, s, "TICK-004", "unseen")
	ctx, leave := context.WithCancel(t.Context())
	go func() { // ends when the change is made, or with the test
		defer leave()
		for t.Context().Err() == nil {
			if row, _, err := s.Ticket(t.Context(), everything, "TICK-004"); err == nil && row.Status == "closed" {
				return
			}
		}
	}()
	if done, err := change(ctx, s, c); done || !fault.Is(err, fault.Timeout) {
		t.Fatalf("%v, %v, want a wait for the index that ends", done, err)
	}
	if row, _, err := s.Ticket(t.Context(), everything, "TICK-004"); err != nil || row.Status != "closed" {
		t.Fatalf("%+v, %v, want the ticket as it is now", row, err)
	}
	if answer, found, err := s.Find(t.Context(), ann, c.Receipt.ID); !found || err != nil || string(answer) != string(c.Receipt.Answer) {
		t.Errorf("%s, %v, %v, want the receipt", answer, found, err)
	}
}
