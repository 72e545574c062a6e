package auth

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"
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
