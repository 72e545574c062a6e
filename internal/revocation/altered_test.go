package revocation_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/revocation"
	"countersign.dev/internal/state"
	"countersign.dev/internal/testkit"
)

// Someone who can write to Redis takes entries off the list, makes them end soon,
// or keeps its version so that no process reads it again: a process that knows the
// revocation goes on to reject, puts it back for the others, and reports it.
func TestListThatIsAlteredInRedisIsRestored(t *testing.T) {
	t.Parallel()
	server := testkit.StartRedis(t)
	raw, err := state.Open(t.Context(), server.URL(), &state.Options{Timeout: testkit.Patience})
	must(t, err)
	t.Cleanup(func() { _ = raw.Close() })
	list := state.NewList(raw, revocation.Name, revocation.Life)
	c, restored := &clock{at: day}, 0
	a := revocation.New(list, &revocation.Options{Now: c.now, Restored: func(context.Context) { restored++ }})
	refresh(t, a)
	must(t, a.RevokeToken(t.Context(), "", "t1"))
	refresh(t, a)
	if restored != 0 {
		t.Fatal("an untouched list was restored")
	}
	setVersion := func(version []byte) { must(t, raw.Set(t.Context(), revocation.Name+":version", version, time.Hour)) }
	entries, version, err := list.Listed(t.Context(), "")
	if err != nil || len(entries) != 1 {
		t.Fatalf("got %v, %v", entries, err)
	}
	for i, attack := range []struct {
		name string
		do   func()
	}{
		{"taken off", func() { must(t, raw.Delete(t.Context(), revocation.Name)); setVersion([]byte("other")) }},
		{"ends soon", func() {
			for entry := range entries {
				must(t, list.Enlist(t.Context(), map[string]time.Time{entry: c.now().Add(time.Second)}, c.now()))
			}
			refresh(t, a) // before it ends
		}},
		{"taken off, the version kept", func() {
			refresh(t, a)
			_, version, err = list.Listed(t.Context(), "")
			must(t, err)
			must(t, raw.Delete(t.Context(), revocation.Name))
			setVersion([]byte(version))
		}},
		{"all of it gone", func() {
			must(t, raw.Delete(t.Context(), revocation.Name))
			must(t, raw.Delete(t.Context(), revocation.Name+":version"))
		}},
	} {
		attack.do()
		c.advance(revocation.Whole)
		refresh(t, a)
		c.advance(2 * time.Second)
		refresh(t, a)
		if got := code(a, ann("t1", day)); got != "SIGN_IN_REVOKED" {
			t.Errorf("%s: here got %q", attack.name, got)
		}
		if got := code(replica(t, server.URL(), c), ann("t1", day)); got != "SIGN_IN_REVOKED" {
			t.Errorf("%s: at a replica that started later got %q", attack.name, got)
		}
		if restored != i+1 {
			t.Errorf("%s: %d reports, want %d", attack.name, restored, i+1)
		}
	}
}

// Whatever someone adds to the list in Redis, it admits no one whom the list rejected
// before: an entry takes away and gives nothing, which is why the list needs no seal.
func TestAddedEntriesAdmitNoOne(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	c := &clock{at: day}
	values := []string{"", "ann", "https://i"} // few, so that entries are about the same
	pick := func() string { return values[r.IntN(len(values))] }
	random := func() string {
		switch r.IntN(6) {
		case 0:
			return []string{"", "{", `{"jti":1}`, "null", `{"before":"never"}`, `[]`, `{"jti":"t1","before":"0001-01-01T00:00:00Z"}`}[r.IntN(7)]
		case 1:
			return fmt.Sprintf(`{"iss":%q,"sub":%q,"before":%q}`, pick(), pick(), day.Add(time.Duration(r.IntN(7200)-3600)*time.Second).Format(time.RFC3339))
		case 2:
			return fmt.Sprintf(`{"email":%q}`, pick())
		case 3:
			return fmt.Sprintf(`{"jti":%q,"iss":%q}`, pick(), pick())
		}
		return fmt.Sprintf(`{"iss":"https://i","sub":"ann","before":%q}`, day.Add(time.Duration(r.IntN(7200)-3600)*time.Second).Format(time.RFC3339))
	}
	rejected := 0
	for range 300 {
		store := &memory{}
		l := revocation.New(store, &revocation.Options{Now: c.now})
		var people []*access.Principal
		for range 10 {
			people = append(people, access.NewPrincipal(access.Claims{Issuer: pick(), Subject: pick(), TokenID: pick(), Email: pick(), EmailVerified: true, Issued: day.Add(time.Duration(r.IntN(7200)-3600) * time.Second)}))
		}
		before := make([]error, len(people))
		for range 8 {
			must(t, store.Enlist(t.Context(), map[string]time.Time{random(): day.Add(time.Duration(r.IntN(100)) * time.Hour)}, day))
			refresh(t, l)
			for i, p := range people {
				now := l.Check(p)
				if before[i] != nil && now == nil {
					t.Fatalf("%+v was rejected (%v) and is admitted", p, before[i])
				}
				if before[i] = now; now != nil {
					rejected++
				}
			}
		}
	}
	if rejected < 100 {
		t.Errorf("only %d were rejected: nothing was proved", rejected)
	}
}
