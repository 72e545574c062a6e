package sales_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/domain/sales"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/testkit/conformance"
	"countersign.dev/internal/testkit/domaintest"
)

const amandas = "amanda.white@tamshai.local"

func at(issuer, subject string) access.Owner {
	return access.Owner{Issuer: issuer, Subject: subject}
}

// seller is someone at the issuer, with an address that it says is verified, or
// none.
func seller(ctx context.Context, subject, email string) context.Context {
	return access.With(ctx, access.NewPrincipal(access.Claims{
		Issuer: testkit.Issuer, Subject: subject, Username: subject, Email: email, EmailVerified: email != "", Roles: []string{"sales-read"},
	}))
}

func TestAddressHasOneSubjectAndSubjectOneAddress(t *testing.T) {
	t.Parallel()
	onEveryEngine(t, func(t *testing.T, stored *conformance.Store) {
		for _, step := range []struct {
			who           access.Owner
			address, want string
		}{
			{at("i", "1"), "", ""},
			{at("i", "1"), "a@x", "a@x"},
			{at("i", "1"), "b@x", "a@x"}, // renamed at the issuer
			{at("i", "1"), "", "a@x"},
			{at("i", "2"), "a@x", ""},
			{at("i", "2"), "", ""},
			{at("j", "1"), "a@x", ""},
			{at("i", "2"), "b@x", "b@x"}, // the renamed one has not taken it
		} {
			linked, err := engineOf(stored).store.Link(t.Context(), step.who, step.address)
			if again, err2 := engineOf(stored).direct.Link(t.Context(), step.who, ""); err != nil || err2 != nil || linked != step.want || again != step.want {
				t.Errorf("%v with %q: got %q, %v, then %q, %v; want %q", step.who, step.address, linked, err, again, err2, step.want)
			}
		}
	})
}

// Of many who prove one address at once, one is linked; of many addresses that
// one person proves at once, one is theirs.
func TestLinksAreMadeOnceAtOnce(t *testing.T) {
	t.Parallel()
	onEveryEngine(t, func(t *testing.T, stored *conformance.Store) {
		const many = 12
		stores := []sales.Store{engineOf(stored).store, engineOf(stored).direct}
		people, addresses := make([]string, many), make([]string, many)
		var wait sync.WaitGroup
		for i := range many {
			name := string(rune('a' + i))
			for into, question := range map[*string][2]string{&people[i]: {name, "one@x"}, &addresses[i]: {"one", name + "@x"}} {
				wait.Go(func() {
					linked, err := stores[i%2].Link(t.Context(), at("i", question[0]), question[1])
					if err != nil {
						t.Error(err)
					}
					*into = linked
				})
			}
		}
		wait.Wait()
		slices.Sort(people)
		if people[many-1] != "one@x" || people[many-2] != "" {
			t.Errorf("one address has these subjects' links: %q", people)
		}
		if distinct := slices.Compact(addresses); len(distinct) != 1 || distinct[0] == "" {
			t.Errorf("one subject is linked to %q", distinct)
		}
	})
}

// The first who proved the address stays the one who sees its rows.
func TestOwnRowsFollowTheLink(t *testing.T) {
	t.Parallel()
	onEveryEngine(t, func(t *testing.T, stored *conformance.Store) {
		now, taken := day, 0
		server := sales.New(engineOf(stored).store, nil)
		server.Links = &access.Links{Now: func() time.Time { return now }, Taken: func(ctx context.Context) {
			if who, err := access.From(ctx); err == nil && who.Subject() == "u-2" {
				taken++
			}
		}}
		h := domaintest.Open(t, "sales", server)
		deals := func(ctx context.Context) int { return len(domaintest.Get[[]sales.Deal](h, ctx, "list_deals", nil)) }
		own := args{"customer_id": techStartID}
		first := domaintest.Get[sales.Customer](h, seller(t.Context(), "u-1", amandas), "get_customer", own)
		all := deals(seller(t.Context(), "u-1", amandas))
		if all == 0 || first.Email == "" {
			t.Fatal("the owner sees none of their rows")
		}
		for name, email := range map[string]string{"another address": "amanda.new@tamshai.local", "no verified address": "", "a colleague's address": "ryan.garcia@tamshai.local"} {
			again := seller(t.Context(), "u-1", email)
			if n, c := deals(again), domaintest.Get[sales.Customer](h, again, "get_customer", own); n != all || c.Email != first.Email {
				t.Errorf("%s: got %d deals and contact %s, want %d and %s", name, n, c.Email, all, first.Email)
			}
		}
		for name, ctx := range map[string]context.Context{
			"second subject": seller(t.Context(), "u-2", amandas), "the same one, unverified": seller(t.Context(), "u-2", ""), "never proved": seller(t.Context(), "u-3", ""),
		} {
			if n := deals(ctx); n != 0 {
				t.Errorf("%s: sees %d deals", name, n)
			}
			h.Refused(ctx, "CUSTOMER_NOT_FOUND", "get_customer", own)
		}
		if taken != 1 {
			t.Errorf("the second subject was reported %d times, want once", taken)
		}
		now = now.Add(time.Minute)
		if deals(seller(t.Context(), "u-2", amandas)); taken != 2 {
			t.Errorf("it was reported %d times after a minute, want twice", taken)
		}
	})
}
