package gate_test

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/admission"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/gate"
	"countersign.dev/internal/testkit"
)

// TestOpenRequestsAreBounded: what a caller does not read, or does not send to its end,
// is counted until its handler has ended, and a stream is not.
func TestOpenRequestsAreBounded(t *testing.T) {
	for name, most := range map[string]int{"/answer": 120, "/stream": 300} {
		t.Run(name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { openRequests(t, name, most) }) })
	}
}

func openRequests(t *testing.T, path string, most int) {
	g := gate.New(gate.Options{Browser: func(http.ResponseWriter, *http.Request) (*access.Principal, bool, error) {
		return testkit.Tokened("ann", "first", time.Now(), time.Hour), true, nil
	}})
	var mu sync.Mutex
	entered, ended := 0, make(chan struct{})
	handler := admission.New(admission.Options{}).Bracket(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r, err := g.EnterReading(w, r)
		if err != nil {
			if !fault.Is(err, fault.TooManyRequests) {
				t.Errorf("got %v, want RATE_LIMITED", err)
			}
			return
		}
		if r.URL.Path == "/stream" {
			_, stop := g.Live(r)
			defer stop()
		}
		mu.Lock()
		entered++
		mu.Unlock()
		<-ended
	}))
	for range 300 {
		go handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), "POST", path, nil))
	}
	synctest.Wait()
	close(ended)
	synctest.Wait()
	if entered != most {
		t.Errorf("got %d of 300 requests at once, want %d", entered, most)
	}
}
