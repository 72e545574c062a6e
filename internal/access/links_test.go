package access_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"countersign.dev/internal/access"
)

// A store is asked once a minute about a caller; about another address of the same
// caller at once, and again after a failure.
func TestLinksRememberForAMinute(t *testing.T) {
	now, asked, taken, answer, fails := time.Now(), 0, 0, "", error(nil)
	links := &access.Links{Now: func() time.Time { return now }, Taken: func(context.Context) { taken++ }}
	of := func(email string) string {
		t.Helper()
		p := access.NewPrincipal(access.Claims{Issuer: "i", Subject: "s", Email: email, EmailVerified: email != ""})
		address, err := links.Of(t.Context(), p, func(context.Context) (string, error) { asked++; return answer, fails })
		if !errors.Is(err, fails) {
			t.Errorf("got %v, want %v", err, fails)
		}
		return address
	}
	for _, step := range []struct {
		name, email, answer string
		later               time.Duration
		fails               error

		want         string
		asked, taken int
	}{
		{name: "the store is down", email: "a@x", fails: errors.New("down"), asked: 1},
		{name: "the address is another's", email: "a@x", asked: 2, taken: 1},
		{name: "again", email: "a@x", answer: "a@x", asked: 2, taken: 1},
		{name: "without an address", asked: 3, taken: 1},
		{name: "another address", email: "b@x", answer: "b@x", want: "b@x", asked: 4, taken: 1},
		{name: "a minute later, freed", email: "a@x", answer: "b@x", later: time.Minute, want: "b@x", asked: 5, taken: 1},
		{name: "within the minute", email: "a@x", answer: "c@x", later: time.Minute - 1, want: "b@x", asked: 5, taken: 1},
	} {
		now, answer, fails = now.Add(step.later), step.answer, step.fails
		if got := of(step.email); got != step.want || asked != step.asked || taken != step.taken {
			t.Errorf("%s: got %q, asked %d, reported %d times; want %q, %d, %d", step.name, got, asked, taken, step.want, step.asked, step.taken)
		}
	}
}

// What is remembered is bounded: those who are too many are asked for again.
func TestLinksAreBounded(t *testing.T) {
	links, asked := &access.Links{}, 0
	of := func(subject int) {
		p := access.NewPrincipal(access.Claims{Issuer: "i", Subject: fmt.Sprint(subject)})
		if _, err := links.Of(t.Context(), p, func(context.Context) (string, error) { asked++; return "", nil }); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 10_001 {
		of(i)
	}
	if of(10_000); asked != 10_001 {
		t.Errorf("the newest is not remembered: asked %d times", asked)
	}
	if of(0); asked != 10_002 {
		t.Errorf("the oldest is remembered: asked %d times", asked)
	}
}
