package auth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"countersign.dev/internal/fault"
)

// A key that is known is used while its issuer does not answer, also when the keys
// are old and are being fetched again.
func TestKnownKeyWaitsForNoFetch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fetching, release := make(chan struct{}, 1), make(chan struct{})
		k := &keyset{now: time.Now, log: slog.New(slog.DiscardHandler), fetch: func(context.Context) (publicKeys, error) {
			fetching <- struct{}{}
			<-release
			return nil, errors.New("the issuer is down")
		}}
		known := keyName{ID: "k1"}
		k.store(publicKeys{known: nil})
		find := func() {
			t.Helper()
			if _, _, err := k.find(t.Context(), known); err != nil {
				t.Error(err)
			}
		}
		find()
		time.Sleep(freshFor + time.Second)
		find()
		<-fetching
		find()
		close(release)
		synctest.Wait()
	})
}

// TestSlowIssuerHoldsUpNoKnownKey lets the issuer answer nothing: a request with an unknown
// key waits for its own deadline, and one with a known key for nothing.
func TestSlowIssuerHoldsUpNoKnownKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fetching, release := make(chan struct{}, 1), make(chan struct{})
		k := &keyset{now: time.Now, log: slog.New(slog.DiscardHandler), fetch: func(context.Context) (publicKeys, error) {
			fetching <- struct{}{}
			<-release
			return nil, errors.New("the issuer is down")
		}}
		known := keyName{ID: "k1"}
		k.store(publicKeys{known: nil})
		time.Sleep(betweenTries + 1)
		began := time.Now()
		var asked sync.WaitGroup
		for i := range 100 { // of which each names another key
			asked.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				_, _, err := k.find(ctx, keyName{ID: fmt.Sprint("unknown", i)})
				if took := time.Since(began); !fault.Is(err, fault.Unauthorized) || took != time.Second {
					t.Errorf("an unknown key: got %v after %v, want a refusal after 1 s", err, took)
				}
			})
		}
		<-fetching
		if _, _, err := k.find(t.Context(), known); err != nil || time.Since(began) != 0 {
			t.Errorf("a known key: got %v after %v, want it at once", err, time.Since(began))
		}
		asked.Wait()
		close(release)
		synctest.Wait()
		if len(fetching) != 0 {
			t.Error("it was asked again")
		}
	})
}
