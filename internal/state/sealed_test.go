package state

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"countersign.dev/internal/access"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/seal"
	"countersign.dev/internal/testkit"
)

// rewrite changes what is stored under a confirmation's id, as someone who can
// write to Redis can. It keeps the rest of the key's TTL, or gives it a day.
func rewrite(t testing.TB, c *Confirmations, id confirm.ID, value string, ttl time.Duration) {
	t.Helper()
	if ttl == 0 {
		ttl = max(c.redis.client.PTTL(t.Context(), c.key(id)).Val(), time.Second)
	}
	must(t, c.redis.client.Set(t.Context(), c.key(id), value, ttl).Err())
}

func storedAs(t testing.TB, c *Confirmations, id confirm.ID) string {
	t.Helper()
	return c.redis.client.Get(t.Context(), c.key(id)).Val()
}

func wantAltered(t *testing.T, c *Confirmations, id confirm.ID) {
	t.Helper()
	before := storedAs(t, c, id)
	if _, _, err := c.Get(t.Context(), "hr", id); !fault.Is(err, fault.ConfirmationAltered) {
		t.Errorf("Get: got %v, want CONFIRMATION_ALTERED", err)
	}
	for _, reply := range []confirm.Reply{approving(id), denying(id)} {
		if _, acquired, err := c.Acquire(t.Context(), reply, alice, noon); !fault.Is(err, fault.ConfirmationAltered) || acquired != confirm.Unknown {
			t.Errorf("Acquire: got %d, %v, want CONFIRMATION_ALTERED", acquired, err)
		}
	}
	if moved, err := c.Settle(t.Context(), attempt(id), confirm.Applied, nil); moved || !fault.Is(err, fault.ConfirmationAltered) {
		t.Errorf("Settle: got %v, %v, want CONFIRMATION_ALTERED", moved, err)
	}
	if got := storedAs(t, c, id); got != before {
		t.Errorf("an altered record was changed: %s", got)
	}
}

func TestRecordIsSealed(t *testing.T) {
	onEachStore(t, func(t *testing.T, c *Confirmations) {
		r := create(t, c, "a")
		var clear map[string]json.RawMessage
		must(t, json.Unmarshal([]byte(storedAs(t, c, "a")), &clear))
		delete(clear, "sealed")
		want := map[string]json.RawMessage{
			"id": json.RawMessage(`"a"`), "state": json.RawMessage(`"pending"`), "mcpServer": json.RawMessage(`"hr"`),
			"owner": json.RawMessage(`{"iss":"https://id.example.com","sub":"alice"}`), "expires": json.RawMessage(`"2026-03-02T12:05:00Z"`),
		}
		if diff := cmp.Diff(want, clear); diff != "" {
			t.Errorf("in the clear (-want +got):\n%s", diff)
		}
		wantAcquisition(t, confirm.Acquired)(c.Acquire(t.Context(), approving("a"), alice, noon))
		_, err := c.Settle(t.Context(), attempt("a"), confirm.Applied, json.RawMessage(`{"message":"Sarah earns more."}`))
		must(t, err)
		for _, secret := range []string{"Sarah earns", "update_salary", r.Username} {
			if strings.Contains(storedAs(t, c, "a"), secret) {
				t.Errorf("%q is readable in Redis", secret)
			}
		}
	})
}

func TestAlteredRecordIsRefused(t *testing.T) {
	onEachStore(t, func(t *testing.T, c *Confirmations) {
		create(t, c, "a")
		original := storedAs(t, c, "a")
		for field, value := range map[string]any{
			"id": "b", "state": "applied", "owner": frank, "expires": noon.Add(time.Hour), "sealed": "AAAA",
		} {
			var record map[string]any
			must(t, json.Unmarshal([]byte(original), &record))
			record[field] = value
			changed, err := json.Marshal(record)
			must(t, err)
			t.Run(field, func(t *testing.T) {
				rewrite(t, c, "a", string(changed), 0)
				wantAltered(t, c, "a")
			})
		}
		t.Run("not sealed", func(t *testing.T) {
			plain, err := json.Marshal(record("a"))
			must(t, err)
			rewrite(t, c, "a", string(plain), 0)
			wantAltered(t, c, "a")
		})
		t.Run("no JSON", func(t *testing.T) {
			rewrite(t, c, "a", "x", 0)
			wantAltered(t, c, "a")
		})
		t.Run("sealed by another server", func(t *testing.T) {
			ring, err := seal.NewRing("record", seal.RandomSecret())
			must(t, err)
			forged, err := (&Confirmations{c.redis, ring}).encode(record("a"))
			must(t, err)
			rewrite(t, c, "a", string(forged), 0)
			wantAltered(t, c, "a")
		})
		rewrite(t, c, "a", original, 0)
		wantAcquisition(t, confirm.Acquired)(c.Acquire(t.Context(), approving("a"), alice, noon))
	})
}

func TestSwappedRecordsAreRefused(t *testing.T) {
	onEachStore(t, func(t *testing.T, c *Confirmations) {
		create(t, c, "a")
		create(t, c, "b")
		a, b := storedAs(t, c, "a"), storedAs(t, c, "b")
		rewrite(t, c, "a", b, 0)
		rewrite(t, c, "b", strings.Replace(a, `"id":"a"`, `"id":"b"`, 1), 0)
		wantAltered(t, c, "a")
		wantAltered(t, c, "b")
	})
}

// TestOldRecordPutBackExpires: the seal says until when it may be answered,
// whatever the key's TTL is.
func TestOldRecordPutBackExpires(t *testing.T) {
	onEachStore(t, func(t *testing.T, c *Confirmations) {
		r := create(t, c, "a")
		pending := storedAs(t, c, "a")
		wantAcquisition(t, confirm.Acquired)(c.Acquire(t.Context(), approving("a"), alice, noon))
		applying := storedAs(t, c, "a")

		rewrite(t, c, "a", pending, 24*time.Hour)
		wantAcquisition(t, confirm.Unknown)(c.Acquire(t.Context(), approving("a"), alice, r.Expires))
		rewrite(t, c, "a", applying, 24*time.Hour)
		wantAcquisition(t, confirm.Abandoned)(c.Acquire(t.Context(), approving("a"), alice, r.Expires))
		settle(t)(c.Settle(t.Context(), attempt("a"), confirm.Pending, nil))
		wantAcquisition(t, confirm.Unknown)(c.Acquire(t.Context(), approving("a"), alice, r.Expires))
	})
}

func TestWrongServerConsumesNothing(t *testing.T) {
	onEachStore(t, func(t *testing.T, c *Confirmations) {
		create(t, c, "a")
		before := storedAs(t, c, "a")
		sales := confirm.Reply{ID: "a", Server: "sales", Approved: true}
		wantAcquisition(t, confirm.Unknown)(c.Acquire(t.Context(), sales, alice, noon))
		sales.Approved = false
		wantAcquisition(t, confirm.Unknown)(c.Acquire(t.Context(), sales, alice, noon))
		if _, ok, err := c.Get(t.Context(), "sales", "a"); ok || err != nil {
			t.Errorf("Get: got %v, %v, want none", ok, err)
		}
		if storedAs(t, c, "a") != before {
			t.Error("the wrong server changed the record")
		}
		wantAcquisition(t, confirm.Acquired)(c.Acquire(t.Context(), approving("a"), alice, noon))
	})
}

func TestAnotherPreviewConsumesNothing(t *testing.T) {
	onEachStore(t, func(t *testing.T, c *Confirmations) {
		r := record("a")
		r.Data["digest"] = "00ff"
		must(t, c.Create(t.Context(), r))
		for _, reply := range []confirm.Reply{approving("a"), denying("a")} {
			reply.Digest = "00fe"
			wantAcquisition(t, confirm.Other)(c.Acquire(t.Context(), reply, alice, noon))
		}
		reply := approving("a")
		reply.Digest = "00ff"
		wantAcquisition(t, confirm.Acquired)(c.Acquire(t.Context(), reply, alice, noon))
	})
}

// TestEntriesThatDoNotFitAreNotListed: an index that was written by others leads
// to no record that was not.
func TestEntriesThatDoNotFitAreNotListed(t *testing.T) {
	onEachStore(t, func(t *testing.T, c *Confirmations) {
		r := create(t, c, "a")
		entries := NewEntries(c.redis)
		for _, junk := range []string{"x", `{"id":"other","state":"pending"}`} {
			rewrite(t, c, "j", junk, time.Minute)
			must(t, c.redis.client.ZAdd(t.Context(), c.index(alice), redis.Z{Member: "j"}).Err())
			got, err := entries.PendingOf(t.Context(), alice)
			must(t, err)
			if diff := cmp.Diff([]confirm.Entry{r.Entry()}, got); diff != "" {
				t.Errorf("listed (-want +got):\n%s", diff)
			}
			if _, ok, err := entries.Find(t.Context(), "j"); ok || err != nil {
				t.Errorf("Find: got %v, %v, want none", ok, err)
			}
		}
		if e, ok, err := entries.Find(t.Context(), "a"); !ok || err != nil || e != r.Entry() {
			t.Errorf("Find: got %+v, %v, %v", e, ok, err)
		}
	})
}

// TestAlteredProvenanceIsRefused: the provenance is under the seal alone. No byte of the
// seal can be changed, and what is written beside it is not read.
func TestAlteredProvenanceIsRefused(t *testing.T) {
	c := &Confirmations{nil, testkit.Ring("record")}
	r := record("a")
	r.Provenance = access.Provenance{Surface: access.SurfaceMCP}
	encoded, err := c.encode(r)
	must(t, err)
	if strings.Contains(string(encoded), "origin") {
		t.Errorf("the provenance is in the clear: %s", encoded)
	}
	var s stored
	must(t, json.Unmarshal(encoded, &s))
	for i := range s.Sealed {
		other := "A"
		if s.Sealed[i] == 'A' {
			other = "z"
		}
		changed, err := json.Marshal(stored{s.Entry, s.Sealed[:i] + other + s.Sealed[i+1:]})
		must(t, err)
		if _, err := c.decode("a", "hr", changed); !fault.Is(err, fault.ConfirmationAltered) {
			t.Fatalf("byte %d changed: got %v, want CONFIRMATION_ALTERED", i, err)
		}
	}
	beside := strings.Replace(string(encoded), "{", `{"origin":{"surface":"chat"},`, 1)
	if got, err := c.decode("a", "hr", []byte(beside)); err != nil || got.Provenance.Surface != access.SurfaceMCP {
		t.Errorf("got %v, %v, want the sealed provenance", got.Provenance, err)
	}
}
