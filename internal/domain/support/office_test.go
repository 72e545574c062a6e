package support_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"countersign.dev/internal/access"
	"countersign.dev/internal/company"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/domain/support"
	"countersign.dev/internal/result"
	"countersign.dev/internal/seal"
	"countersign.dev/internal/state"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/tool"
)

// office is the domain as the kernel runs it, with the sample company.
type office struct {
	*tool.Runner
	t     *testing.T
	store support.Store
}

func newOffice(t *testing.T, store support.Store) *office {
	t.Helper()
	server := support.New(store, func() time.Time { return day })
	if err := server.Seed(t.Context(), company.At(day)); err != nil {
		t.Fatal(err)
	}
	m := miniredis.NewMiniRedis()
	m.ClockTTL(true)
	if err := m.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	redis, err := state.Open(t.Context(), "redis://"+m.Addr(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = redis.Close() })
	journal := &testkit.Journal{}
	ring, err := seal.NewRing("cursor", seal.RandomSecret())
	if err != nil {
		t.Fatal(err)
	}
	runner, err := tool.NewRunner(server.Tools(), tool.Options{
		Server: "support", Cursors: ring, Audit: journal, Ledger: server.Ledger(),
		Desk: confirm.NewDesk(state.NewConfirmations(redis), journal, nil),
	})
	if err != nil {
		t.Fatal(err)
	}
	return &office{runner, t, store}
}

// people are the sample company's, with their real roles and addresses.
func person(t *testing.T, username string) context.Context {
	t.Helper()
	for _, a := range company.Accounts() {
		if a.Username == username {
			return access.With(t.Context(), access.NewPrincipal(access.Claims{
				Issuer: testkit.Issuer, Subject: a.Subject, Username: a.Username, Name: a.Name, Email: a.Email, EmailVerified: true, Roles: a.Roles,
			}))
		}
	}
	t.Fatalf("nobody is called %s", username)
	return nil
}

func (o *office) call(username, name, input string) result.Outcome {
	o.t.Helper()
	return o.Call(person(o.t, username), name, json.RawMessage(input))
}

// rows decodes the data of a call that must succeed.
func rows[T any](t *testing.T, o result.Outcome) (data T) {
	t.Helper()
	if o.Fault != nil {
		t.Fatalf("got %v", o.Fault)
	}
	if err := json.Unmarshal(o.Data, &data); err != nil {
		t.Fatal(err)
	}
	return data
}

func onBothStores(t *testing.T, test func(t *testing.T, o *office)) {
	t.Helper()
	for _, name := range []string{"memory", "search"} {
		t.Run(name, func(t *testing.T) { test(t, newOffice(t, engines[name](t).Store)) })
	}
}

func (o *office) pending(username, name, input string) *result.Pending {
	o.t.Helper()
	out := o.call(username, name, input)
	if out.Pending == nil {
		o.t.Fatalf("%s %s: got %s, %v, want a confirmation", name, input, out.Code(), out.Fault)
	}
	return out.Pending
}

func (o *office) answer(username, id string, approved bool) string {
	o.t.Helper()
	return string(o.Encode(o.Answer(person(o.t, username), id, approved)))
}

func (o *office) ticket(id string) support.Ticket {
	o.t.Helper()
	row, _, err := o.store.Ticket(o.t.Context(), everything, id)
	if err != nil {
		o.t.Fatal(err)
	}
	return row
}
