package sales_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/company"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/domain/sales"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/testkit"
)

var ann = access.Owner{Issuer: testkit.Issuer, Subject: "ann"}

func receipt(id string) confirm.Receipt {
	return confirm.Receipt{ID: confirm.ID(id), Owner: ann, Tool: "close_deal", Answer: json.RawMessage(`{"status":"success", "data":{"by":"` + id + `"}}`)}
}

// claim is a closing and the receipt that is kept with it.
type claim struct {
	sales.Closing
	Receipt confirm.Receipt
}

func closing(deal, id string, version int64) claim {
	return claim{sales.Closing{ID: deal, Version: version, Stage: "CLOSED_WON", Value: 1, Probability: 100, At: day}, receipt(id)}
}

// change applies one closing as the kernel does. A stale one is not done.
func change(ctx context.Context, s sales.Store, c claim) (done bool, err error) {
	err = apply(ctx, s, c.Receipt, func(ctx context.Context) error { return s.CloseDeal(ctx, everything, c.Closing) })
	if fault.Is(err, fault.ConfirmationStale) {
		return false, nil
	}
	return err == nil, err
}

// apply makes a change and keeps its receipt in one transaction.
func apply(ctx context.Context, s sales.Store, r confirm.Receipt, change func(context.Context) error) error {
	return s.Change(ctx, func(ctx context.Context) error {
		if err := change(ctx); err != nil {
			return err
		}
		return s.Keep(ctx, r)
	})
}

func TestOneOfManyClaimantsWins(t *testing.T) {
	const rounds, claimants = 50, 32
	onEveryEngine(t, func(t *testing.T, r *rig) {
		b := tied(rounds)
		for i := range b.deals {
			b.deals[i].Stage = "PROPOSAL"
		}
		fill(t, r, b)
		for round, d := range b.deals {
			var group sync.WaitGroup
			winners := make(chan string, claimants)
			for i := range claimants {
				group.Go(func() {
					id := fmt.Sprintf("r%d-c%d", round, i)
					won, err := change(t.Context(), r, closing(d.ID, id, 1))
					if err != nil {
						t.Error(err)
					}
					if won {
						winners <- id
					}
				})
			}
			group.Wait()
			close(winners)
			won := slices.Collect(func(yield func(string) bool) {
				for w := range winners {
					if !yield(w) {
						return
					}
				}
			})
			if len(won) != 1 {
				t.Fatalf("round %d: winners %v, want one", round, won)
			}
			for i := range claimants {
				id := fmt.Sprintf("r%d-c%d", round, i)
				if i%8 != 0 && id != won[0] { // looking at a sample of the losers is enough
					continue
				}
				answer, found, err := r.Find(t.Context(), ann, confirm.ID(id))
				if err != nil || found != (id == won[0]) || found && string(answer) != string(receipt(id).Answer) {
					t.Fatalf("round %d: %s won and %s has a receipt: %v, %v", round, won[0], id, found, err)
				}
			}
		}
	})
}

func TestStaleOrForeignChangeChangesNothing(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, r *rig) {
		b := bookOf(company.At(day).Sales())
		fill(t, r, b)
		open, won := b.deals[2], b.deals[0]
		ryan := sales.ScopeOf(testkit.Person("ryan.garcia", access.SalesRead))
		close := func(scope sales.Scope, deal string, version int64) func(context.Context) error {
			return func(ctx context.Context) error {
				return r.CloseDeal(ctx, scope, closing(deal, "x", version).Closing)
			}
		}
		remove := func(scope sales.Scope, customer string, version int64) func(context.Context) error {
			return func(ctx context.Context) error {
				return r.DeleteCustomer(ctx, scope, tombstone(customer, version))
			}
		}
		for name, attempt := range map[string]func(context.Context) error{
			"stale version":    close(everything, open.ID, 0),
			"future version":   close(everything, open.ID, 2),
			"closed before":    close(everything, won.ID, 1),
			"out of scope":     close(ryan, open.ID, 1),
			"no scope":         close(sales.Scope{}, open.ID, 1),
			"nothing there":    close(everything, won.CustomerID, 1),
			"no id":            close(everything, "x", 1),
			"customer, stale":  remove(everything, b.customers[5].ID, 2),
			"customer, scope":  remove(sales.Scope{}, b.customers[5].ID, 1),
			"customer, no one": remove(everything, "x", 1),
		} {
			if err := apply(t.Context(), r, receipt("x"), attempt); !fault.Is(err, fault.ConfirmationStale) {
				t.Errorf("%s: got %v, want CONFIRMATION_STALE", name, err)
			}
		}
		if d, _, _ := r.Deal(t.Context(), everything, open.ID); d.Version != 1 || d.Stage != open.Stage {
			t.Errorf("the deal has changed: %+v", d)
		}
		if _, found, _ := r.Find(t.Context(), ann, "x"); found {
			t.Error("a change that was not made has a receipt")
		}
	})
}

func tombstone(customer string, version int64) sales.Tombstone {
	return sales.Tombstone{ID: customer, Version: version, By: "carol@tamshai.local", At: day}
}

func TestDeletedCustomerIsGoneForEverybody(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, r *rig) {
		b := bookOf(company.At(day).Sales())
		fill(t, r, b)
		c, kept := b.customers[0], receipt("t1")
		kept.Tool = "delete_customer"
		err := apply(t.Context(), r, kept, func(ctx context.Context) error {
			return r.DeleteCustomer(ctx, everything, tombstone(c.ID, 1))
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, found, err := r.Customer(t.Context(), everything, c.ID); found || err != nil {
			t.Errorf("found %v, %v", found, err)
		}
		if answer, found, _ := r.Find(t.Context(), ann, kept.ID); !found || string(answer) != string(kept.Answer) {
			t.Errorf("receipt %v %s", found, answer)
		}
		if d, found, _ := r.Deal(t.Context(), everything, b.deals[0].ID); !found || d.CustomerName != c.Company {
			t.Errorf("its deal: %v, %+v", found, d)
		}
		fill(t, r, b)
		if _, found, _ := r.Customer(t.Context(), everything, c.ID); found {
			t.Error("filling again brought the customer back")
		}
	})
}

func TestReceiptOutlivesTheProcess(t *testing.T) {
	onSharedEngines(t, func(t *testing.T, r *rig) {
		b := bookOf(company.At(day).Sales())
		fill(t, r, b)
		c := closing(b.deals[2].ID, "left-behind", 1)
		if done, err := change(t.Context(), r, c); !done || err != nil {
			t.Fatal(done, err)
		}
		after := r.again() // nobody has told the desk yet
		answer, found, err := after.Find(t.Context(), ann, c.Receipt.ID)
		if err != nil || !found || string(answer) != string(c.Receipt.Answer) {
			t.Fatalf("got %s, %v, %v, want the receipt byte for byte", answer, found, err)
		}
		if _, found, err := after.Find(t.Context(), access.Owner{Issuer: ann.Issuer, Subject: "bob"}, c.Receipt.ID); found || err != nil {
			t.Errorf("a stranger finds it: %v, %v", found, err)
		}
		if done, err := change(t.Context(), after, closing(b.deals[2].ID, "left-behind", 2)); done || err != nil {
			t.Errorf("the change was made twice: %v, %v", done, err)
		}
		if done, err := change(t.Context(), after, closing(b.deals[4].ID, "left-behind", 1)); done && err == nil {
			t.Error("one confirmation made two changes")
		}
		if d, _, _ := after.Deal(t.Context(), everything, b.deals[4].ID); d.Stage != b.deals[4].Stage {
			t.Errorf("the second change is there: %s", d.Stage)
		}
	})
}

// TestChangeAndReceiptAreThereTogether: whatever fails after the change, there
// is a receipt exactly when there is a change.
func TestChangeAndReceiptAreThereTogether(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, r *rig) {
		b := bookOf(company.At(day).Sales())
		fill(t, r, b)
		for i, broken := range []error{errors.New("the process is gone"), context.Canceled} {
			d := b.deals[[]int{1, 2}[i]]
			c := closing(d.ID, fmt.Sprintf("broken-%d", i), 1)
			err := r.Change(t.Context(), func(ctx context.Context) error {
				if err := r.CloseDeal(ctx, everything, c.Closing); err != nil {
					t.Fatal(err)
				}
				return broken
			})
			if !errors.Is(err, broken) {
				t.Errorf("got %v, want what went wrong", err)
			}
			now, _, _ := r.Deal(t.Context(), everything, d.ID)
			answer, found, err := r.Find(t.Context(), ann, c.Receipt.ID)
			if changed := now.Stage != d.Stage; err != nil || changed != found || found && string(answer) != string(c.Receipt.Answer) {
				t.Errorf("changed %v, receipt %v %s, %v", changed, found, answer, err)
			}
		}
	})
}

func TestReceiptWithoutItsChangeIsRefused(t *testing.T) {
	r := mongoRig(t) // the other store writes receipts itself
	b := bookOf(company.At(day).Sales())
	fill(t, r, b)
	nothing := func(context.Context) error { return nil }
	if err := apply(t.Context(), r, receipt("never"), nothing); err == nil {
		t.Error("a receipt was kept that no change carries")
	}
	twice := func(ctx context.Context) error {
		return errors.Join(r.CloseDeal(ctx, everything, closing(b.deals[1].ID, "twice", 1).Closing), r.CloseDeal(ctx, everything, closing(b.deals[2].ID, "twice", 1).Closing))
	}
	if err := apply(t.Context(), r, receipt("twice"), twice); err == nil {
		t.Error("one receipt was kept for two changes")
	}
	if d, _, _ := r.Deal(t.Context(), everything, b.deals[1].ID); d.Version != 1 {
		t.Errorf("the first of two changes was made: %+v", d)
	}
}

func TestStoreAwayAndBack(t *testing.T) {
	onSharedEngines(t, func(t *testing.T, r *rig) {
		b := bookOf(company.At(day).Sales())
		fill(t, r, b)
		c := closing(b.deals[2].ID, "away", 1)
		r.cut()
		done, err := change(soon(t, 3*time.Second), r, c)
		if done || err == nil || fault.From(err).Kind() != fault.Unavailable {
			t.Fatalf("away: %v, %v, want a fault that says so", done, err)
		}
		for _, word := range []string{"127.0.0.1", "SQLITE", "mongo", "deals"} {
			if strings.Contains(fault.From(err).Message, word) {
				t.Errorf("the message gives away %q: %s", word, fault.From(err).Message)
			}
		}
		r.mend()
		ctx := soon(t, 20*time.Second)
		done, err = change(ctx, r, c)
		for !done && fault.Is(err, fault.ServiceDown) && ctx.Err() == nil { // a driver may first have to notice that its connections are dead
			done, err = change(ctx, r, c)
		}
		if !done || err != nil {
			t.Errorf("back: %v, %v", done, err)
		}
	})
}

func TestPassedDeadlineIsATimeout(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, r *rig) {
		fill(t, r, bookOf(company.At(day).Sales()))
		late, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
		defer cancel()
		_, _, err := r.Deal(late, everything, "65a2d0000000000000000001")
		_, err2 := r.Deals(late, everything, sales.DealQuery{Limit: 5, Sort: sales.Newest})
		_, err3 := r.Sums(late, everything, sales.Quarter{Year: 2026, Number: 1})
		_, err4 := change(late, r, closing("65a2d0000000000000000002", "late", 1))
		_, _, err5 := r.Find(late, ann, "x")
		for _, err := range []error{err, err2, err3, err4, err5, r.Ready(late)} {
			if !fault.Is(err, fault.Timeout) {
				t.Errorf("got %v, want TIMEOUT", err)
			}
		}
	})
}
