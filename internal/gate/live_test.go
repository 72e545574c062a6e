package gate_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/gate"
	"countersign.dev/internal/testkit"
)

// TestStreamGoesOnWhileItsSessionIsRefreshed: a stream of our own page outlives
// its token, and ends when the session does; a bearer token's ends with it.
func TestStreamGoesOnWhileItsSessionIsRefreshed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tokens := 1
		g := gate.New(gate.Options{Browser: func(http.ResponseWriter, *http.Request) (*access.Principal, bool, error) {
			if tokens == 3 {
				return nil, true, fault.Unauthorized.New("Your session has ended.")
			}
			tokens++
			return testkit.Tokened("ann", "first", time.Now(), time.Hour), true, nil
		}})
		began := time.Now()
		r := httptest.NewRequestWithContext(access.With(t.Context(), testkit.Tokened("ann", "first", began, time.Hour)), "GET", "/api/query", nil)
		live, stop := g.Live(r)
		defer stop()
		<-live.Done()
		if why := gate.Ended(live); time.Since(began) != 3*time.Hour || why == nil || why.Message != "Your session has ended." {
			t.Errorf("ended after %v: %v, want three hours and the reason", time.Since(began), why)
		}
		began, r = time.Now(), r.WithContext(access.With(t.Context(), testkit.Tokened("ann", "x", time.Now(), time.Hour)))
		r.Header.Set("Authorization", "Bearer x")
		live, stop = g.Live(r)
		defer stop()
		<-live.Done()
		if why := gate.Ended(live); time.Since(began) != time.Hour || why == nil {
			t.Errorf("a bearer's stream ended after %v: %v, want an hour", time.Since(began), why)
		}
	})
}
