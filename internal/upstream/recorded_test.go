package upstream

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"testing/synctest"

	"countersign.dev/internal/access"
	"countersign.dev/internal/audit"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/upstream/breaker"
)

// refusing is a service of confirmations that opens none.
type refusing struct {
	Confirmations
	why *fault.Error
}

func (c refusing) Open(context.Context, *access.Principal, confirm.Request) (confirm.Record, error) {
	return confirm.Record{}, c.why
}

func outcomes(events []audit.Event) (all []string) {
	for _, e := range events {
		all = append(all, e.Tool+" "+e.Outcome)
	}
	return all
}

func TestCallsWhileABreakerIsOpenAreRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, kept := &scriptedServer{}, &memorySink{}
		for range 20 {
			n.ends = append(n.ends, errReset)
		}
		u := direct(t, n, Options{Audit: kept})
		for range breaker.Failures + 3 {
			u.Call(caller(access.SurfaceAPI), "notes.read", nil)
		}
		if got := len(kept.events); got != breaker.Failures+3 {
			t.Errorf("got %d events, want one for each call: %v", got, outcomes(kept.events))
		}
	})
}

func TestCallsOfAServerWithAnOpenBreakerAreRecorded(t *testing.T) {
	s, _, call := ownServer(t, &scripted{call: func() error { return errReset }})
	kept := &memorySink{}
	s.up.o.Audit = kept
	for range breaker.Failures + 3 {
		_ = call()
	}
	s.up.update(func(next *snapshot) { next.routes = map[string]route{"read": {server: s, breaker: s.breaker}} })
	u := s.up
	if o := u.Call(caller(access.SurfaceAPI), "read", nil); !fault.Is(o.Fault(), fault.ServiceDown) || len(kept.events) != 1 || kept.events[0].Outcome != o.Code() {
		t.Errorf("got %s, recorded %v", o.Code(), outcomes(kept.events))
	}
}

func TestForeignWriteThatCannotBeOpenedIsRecorded(t *testing.T) {
	for _, why := range []*fault.Error{fault.ValidationError.New("The card is too large."), fault.TooManyRequests.New("50 changes wait for you.")} {
		kept := &memorySink{}
		u := direct(t, &scriptedServer{}, Options{Audit: kept, Confirm: refusing{why: why}})
		o := u.Call(caller(access.SurfaceMCP), "notes.add", json.RawMessage(`{"id":"n-1"}`))
		if o.Code() != why.Code.Name || len(kept.events) != 1 || kept.events[0].Outcome != o.Code() || kept.events[0].Row != "n-1" || kept.events[0].Digest == "" {
			t.Errorf("got %s, recorded %+v, want the refusal", o.Code(), kept.events)
		}
	}
}

// TestCallsOfUnknownToolsAreRecorded: by the name server.tool, and by the tool's own name at the MCP endpoint of a server.
func TestCallsOfUnknownToolsAreRecorded(t *testing.T) {
	kept := &memorySink{}
	u := direct(t, &scriptedServer{}, Options{Audit: kept})
	u.Call(caller(access.SurfaceAPI), "notes.burn", nil)
	Catalogue{Upstream: u, Server: "notes"}.Call(caller(access.SurfaceMCP), "eat", nil)
	if got := fmt.Sprint(outcomes(kept.events)); got != "[notes.burn UNKNOWN_TOOL notes.eat UNKNOWN_TOOL]" {
		t.Errorf("recorded %s", got)
	}
}

// TestFloodOfRefusedCallsIsFewLines: what no server had is counted by kind.
func TestFloodOfRefusedCallsIsFewLines(t *testing.T) {
	kept := &memorySink{}
	limit := func(context.Context, access.Owner, string) error { return fault.TooManyRequests.New("Too many.") }
	u := direct(t, &scriptedServer{}, Options{Audit: kept, Refusals: audit.NewRefusals(kept, nil), Limit: limit})
	for i := range 1000 {
		u.Call(caller(access.SurfaceAPI), fmt.Sprintf("notes.unknown_%d", i), nil)
		u.Call(caller(access.SurfaceAPI), "notes.read", nil)
	}
	if got := outcomes(kept.events); len(got) != 2 {
		t.Errorf("2000 refused calls are %v, want a line of each kind", got)
	}
}

// TestIntentHasItsOutcome: also when the change was refused on its way, as often as it was.
func TestIntentHasItsOutcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, kept := &scriptedServer{}, &memorySink{}
		for range 20 {
			n.ends = append(n.ends, errReset)
		}
		u := direct(t, n, Options{Audit: kept, Refusals: audit.NewRefusals(kept, nil)})
		for range breaker.Failures + 5 {
			u.Call(caller(access.SurfaceAPI), "notes.set", json.RawMessage(`{"id":"n-1"}`))
		}
		for i, e := range kept.events {
			if want := [...]audit.Kind{audit.Intent, audit.Outcome}[i%2]; e.Kind != want || e.Digest == "" {
				t.Fatalf("event %d is %s %s, want each intent with its outcome", i, e.Kind, e.Outcome)
			}
		}
		if got := len(kept.events); got != 2*(breaker.Failures+5) {
			t.Errorf("got %d events", got)
		}
	})
}
