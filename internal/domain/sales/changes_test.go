package sales_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/company"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/domain/sales"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/testkit/conformance"
	"countersign.dev/internal/testkit/domaintest"
)

var ann = access.Owner{Issuer: testkit.Issuer, Subject: "ann"}

func receipt(id string) confirm.Receipt {
	return confirm.Receipt{ID: confirm.ID(id), Owner: ann, Tool: "close_deal", Answer: json.RawMessage(`{"status":"success", "data":{"by":"` + id + `"}}`)}
}

// attempt is a closing and the receipt that is kept with it.
type attempt struct {
	sales.Closing
	Receipt confirm.Receipt
}

func closing(deal, id string, version int64) attempt {
	return attempt{sales.Closing{ID: deal, Version: version, Stage: "CLOSED_WON", Value: 1, Probability: 100, At: day}, receipt(id)}
}

// change applies one closing as the kernel does. A stale one is not done.
func change(ctx context.Context, s sales.Store, c attempt) (done bool, err error) {
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

func TestStaleOrForeignChangeChangesNothing(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, stored *conformance.Store) {
		b, r := fixtureOf(company.At(day).Sales()), engineOf(stored).store
		open, won := b.deals[2], b.deals[0]
		ryan := sales.ScopeOf(testkit.Person("ryan.garcia", "sales-read"), "ryan.garcia@tamshai.local")
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
		for _, scope := range []sales.Scope{ryan, {}} { // the rule is the store's, though only people who see all may ask for a deal
			if d, found, err := r.Deal(t.Context(), scope, open.ID); found || err != nil {
				t.Errorf("%s: got %q, %v", scope, d.DealName, err)
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

func TestDeletedCustomerIsNotFound(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, stored *conformance.Store) {
		b, r := fixtureOf(company.At(day).Sales()), engineOf(stored).store
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

func TestOneConfirmationMakesOneChange(t *testing.T) {
	t.Parallel()
	onEveryEngine(t, func(t *testing.T, stored *conformance.Store) {
		s, deals := engineOf(stored).store, fixtureOf(company.At(day).Sales()).deals
		if done, err := change(t.Context(), s, closing(deals[2].ID, "kept", 1)); !done || err != nil {
			t.Fatal(done, err)
		}
		if _, found, err := s.Find(t.Context(), access.Owner{Issuer: ann.Issuer, Subject: "bob"}, "kept"); found || err != nil {
			t.Errorf("another person finds the receipt: %v, %v", found, err)
		}
		if done, err := change(t.Context(), s, closing(deals[2].ID, "kept", 2)); done || err != nil {
			t.Errorf("the change was made twice: %v, %v", done, err)
		}
		if done, err := change(t.Context(), s, closing(deals[4].ID, "kept", 1)); done && err == nil {
			t.Error("one confirmation made two changes")
		}
		if d, _, _ := s.Deal(t.Context(), everything, deals[4].ID); d.Stage != deals[4].Stage {
			t.Errorf("the second change is there: %s", d.Stage)
		}
	})
}

func TestReceiptWithoutItsChangeIsRefused(t *testing.T) {
	t.Parallel()
	b := fixtureOf(company.At(day).Sales())
	r := document(t).store // the other store writes receipts itself
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

func TestPassedDeadlineIsATimeout(t *testing.T) {
	t.Parallel()
	onEveryEngine(t, func(t *testing.T, stored *conformance.Store) {
		r := engineOf(stored).store
		late, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
		defer cancel()
		_, _, err := r.Deal(late, everything, wonDeal)
		_, err2 := r.Deals(late, everything, sales.DealQuery{Limit: 5, Sort: sales.Newest})
		_, err3 := r.Sums(late, everything, sales.QuarterOf(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)))
		_, err4 := change(late, r, closing(gfpDeal, "late", 1))
		_, _, err5 := r.Find(late, ann, "x")
		for _, err := range []error{err, err2, err3, err4, err5, r.Ready(late)} {
			if !fault.Is(err, fault.Timeout) {
				t.Errorf("got %v, want TIMEOUT", err)
			}
		}
	})
}

// TestOtherCurrenciesAreNoDollars: no rates of exchange are known, so that amounts in other
// currencies neither add to those in US dollars nor compare with them. An answer says so
// where one of them fits all else.
func TestOtherCurrenciesAreNoDollars(t *testing.T) {
	onEveryEngine(t, func(t *testing.T, s *conformance.Store) {
		e := engineOf(s)
		if e.abroad == nil {
			t.Skip("no other process can change this store")
		}
		sums := func() sales.Sums {
			got, err := e.store.Sums(t.Context(), everything, sales.QuarterOf(day))
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		dear := func() sales.Deal {
			from := sales.DealQuery{MinValue: 1, ClosingFrom: "2026-07-01", ClosingTo: "2026-09-30", Sort: sales.ValueDesc, Limit: 1}
			got, err := e.store.Deals(t.Context(), everything, from)
			if err != nil || len(got) != 1 {
				t.Fatal(got, err)
			}
			return got[0]
		}
		h := domaintest.Open(t, "sales", s)
		remark := func(in args) string { return h.Ask(h.As("eve.thompson"), "list_deals", in).Page().Remark }
		before, d := sums(), dear()
		if got := remark(args{"min_value": 1}); got != "" {
			t.Errorf("all in US dollars: %q", got)
		}
		e.abroad(d.ID)
		for _, c := range []struct {
			in   args
			says bool
		}{
			{args{"min_value": 1}, true},
			{args{"min_value": 1e9}, true},
			{args{"min_value": 1, "stage": d.Stage, "customer_id": d.CustomerID, "sort": "value_desc"}, true},
			{args{"min_value": 1, "closing_to": "2000-01-01"}, false},
			{args{}, false},
		} {
			if got := remark(c.in); got != map[bool]string{true: "What is in other currencies is left out: amounts are compared in US dollars."}[c.says] {
				t.Errorf("%v: %q", c.in, got)
			}
		}
		if page := h.Ask(h.As("eve.thompson"), "list_deals", args{"min_value": 1, "limit": 1}).Page(); remark(args{"min_value": 1, "limit": 1, "cursor": page.Next}) == "" {
			t.Error("the second page says nothing of it")
		}
		want := before.Stages[d.Stage]
		want.Count, want.Value, want.Weighted = want.Count-1, want.Value-d.Value, want.Weighted-d.Value*d.Probability/100
		after := sums()
		if got := after.Stages[d.Stage]; before.Others != 0 || after.Others != 1 || got != want {
			t.Errorf("got %+v and %d others, want %+v and 1", got, after.Others, want)
		}
		if got := dear(); got.ID == d.ID {
			t.Errorf("%s %v is among the deals of a dollar or more", got.Currency, got.Value)
		}
	})
}
