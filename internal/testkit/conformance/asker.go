package conformance

import (
	"context"
	"math/rand/v2"
	"slices"

	"countersign.dev/internal/access"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/testkit/domaintest"
)

// Roles lists the company's roles.
func Roles() (names []string) {
	for _, r := range domaintest.Roles() {
		names = append(names, string(r))
	}
	return names
}

// Asker is a caller: an address, verified or not, and roles.
type Asker struct {
	Email      string
	Unverified bool
	Roles      []string
}

// Has reports whether the caller has one of the roles.
func (a Asker) Has(roles ...string) bool {
	return slices.ContainsFunc(roles, func(r string) bool { return slices.Contains(a.Roles, r) })
}

// Is reports whether the caller proved that address.
func (a Asker) Is(email string) bool { return !a.Unverified && a.Email == email }

func (a Asker) in(ctx context.Context) context.Context {
	subject := "sub-" + a.Email
	if a.Unverified { // one who is linked stays who they are
		subject = "unproven-" + a.Email
	}
	return access.With(ctx, access.NewPrincipal(access.Claims{
		Issuer: testkit.Issuer, Subject: subject, Username: a.Email, Email: a.Email, EmailVerified: !a.Unverified, Roles: a.Roles, MayConfirm: true,
	}))
}

// anyone draws a caller: one to three roles, those that some tool allows more
// often than others.
func (s *suite) anyone(r *rand.Rand, emails []string) Asker {
	likely := Roles()
	for _, c := range s.Calls {
		likely = append(likely, c.Allow...)
	}
	a := Asker{Email: Pick(r, emails...), Unverified: r.IntN(10) == 0}
	for range 1 + r.IntN(3) {
		a.Roles = append(a.Roles, Pick(r, likely...))
	}
	return a
}

// Pick draws one of the values.
func Pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }
