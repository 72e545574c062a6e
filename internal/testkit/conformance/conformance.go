// Package conformance is the one suite that every domain passes, on each of its
// stores: roles, rows, masks, pages under change, refusals, approvals and
// crashes. It drives a domain through its tools, as the kernel does.
//
// A domain declares what it is as a [Domain]: how its stores are opened, and an
// oracle that answers from the sample company's fixture alone. What a domain does
// beyond the common rules, its own tests say. Start at [Run].
package conformance

import (
	"context"
	"slices"
	"testing"

	"countersign.dev/internal/confirm"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/testkit/domaintest"
)

// The two datasets that an engine is opened with: the sample company, and a
// larger one in which many rows share their sort keys.
const (
	Company = "company"
	Crowd   = "crowd"
)

// Args is the input of a call.
type Args = domaintest.Args

// Domain is what a domain declares about itself. It must share no code with the
// server under test.
type Domain struct {
	Server   string
	Codes    []*fault.Code
	Engines  []Engine
	Calls    []Call            // a valid call of every tool: the table of roles
	Inputs   map[string]string // the documented inputs, as [domaintest.Inputs] writes them
	Oracle   func(dataset string) Oracle
	Refusals []Refusal
	Writes   []Write
	// Wrong returns the code of a wrong value of a field of a tool's input. Nil: VALIDATION_ERROR.
	Wrong func(tool, field string, value any) string
	// Without names the parts that cannot apply to the domain, each with the reason.
	Without map[string]string
}

// Engine is one kind of store.
type Engine struct {
	Name string
	Slow bool // it is asked a sixth of the questions
	// Scenarios is a folder of testdata; empty: scenarios.
	Scenarios string
	// Open opens a store of the test's own, filled with a dataset.
	Open func(t testing.TB, dataset string) *Store
	// Connect opens a store that exists, as another process does. It is nil where
	// no other process can reach it.
	Connect func(ctx context.Context, address string) (domaintest.Domain, error)
}

// Store is an open store.
type Store struct {
	domaintest.Domain
	domaintest.Speaks
	Root    string                      // a folder of the test's own that answers may name
	Address string                      // for Connect
	Dump    func() string               // every row
	Ready   func(context.Context) error // reports whether the store holds data
	Empty   func() *Store               // another one that holds none; nil where that is a store to begin with
	Seed    func() error                // seeds it again, a year later
	Admin   func(statement string, values ...any)
	// Cut makes changes fail until Restore; CutsReads says that reads fail too.
	Cut, Restore func()
	CutsReads    bool
	Handle       any // the domain's own
}

// Call is a valid call of a tool and the roles that may make it.
type Call struct {
	Tool  string
	Allow []string
	Email string // of a caller who sees a row
	In    Args
	Text  []string // inputs that take any text: notes, reasons, queries of words
	// Remembers says that the answer tells of the calls before it.
	Remembers bool
}

// Oracle knows the answers about a dataset.
type Oracle struct {
	Emails    []string // of callers who differ in what they see
	Questions []Question
	// Leaks returns an error when an encoded answer holds, in any field, a value
	// that the caller may not see.
	Leaks func(a Asker, encoded string) error
	// Prepare adds rows that no tool may show.
	Prepare func(s *Store)
	// Hidden are the ways in which rows are hidden from callers of the sample company.
	Hidden []Hiding
}

// Run runs the suite.
func Run(t *testing.T, d Domain) {
	for _, e := range d.Engines {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			s := &suite{Domain: d, engine: e}
			s.unchanged = s.open(t, Company)
			for _, part := range []struct {
				name string
				test func(*testing.T)
			}{
				{"Roles", s.roles}, {"Inputs", s.inputs}, {"Rows", s.rows}, {"Hidden", s.hidden}, {"Pages", s.pages},
				{"Refusals", s.refusals}, {"WrongTypes", s.wrongTypes}, {"HostileTexts", s.hostileTexts},
				{"Approvals", s.approvals}, {"Stale", s.stale}, {"Races", s.races}, {"Crashes", s.crashes}, {"Receipts", s.receipts},
				{"Away", s.away}, {"Deadline", s.deadline}, {"Cancelled", s.cancelled}, {"Seeding", s.seeding}, {"Scenarios", s.scenarios},
			} {
				t.Run(part.name, func(t *testing.T) {
					t.Parallel()
					s.leaveOut(t, part.name)
					part.test(t)
				})
			}
		})
	}
}

// ofWrites are the parts about changes that a person approves.
var ofWrites = []string{"Approvals", "Stale", "Races", "Crashes", "Receipts", "Away"}

// leaveOut skips a part that cannot apply to the domain, with the reason.
func (d Domain) leaveOut(t *testing.T, part string) {
	if reason, left := d.Without[part]; left {
		t.Skip(reason)
	}
	if len(d.Writes) == 0 && slices.Contains(ofWrites, part) {
		t.Skip("the domain changes nothing")
	}
}

// suite is a run on one engine.
type suite struct {
	Domain
	engine    Engine
	unchanged *harness // the sample company, shared by tests that change nothing
}

// harness is a store of the test's own with everything that the kernel needs.
type harness struct {
	*domaintest.Harness
	store *Store
}

func (s *suite) open(t testing.TB, dataset string) *harness {
	t.Helper()
	store := s.engine.Open(t, dataset)
	opened := domaintest.Open(t, s.Server, store)
	if store.Invalid != nil || store.Dialect != nil {
		opened = opened.Over(s.Server, store, confirm.NewService(domaintest.NewRedis(t), opened.Sink, nil), store.Speaks)
	}
	return &harness{opened, store}
}

// over mounts a domain beside the one of the harness: the same sink, and the
// given confirmations.
func (h *harness) over(s *suite, d domaintest.Domain, service *confirm.Service) *harness {
	h.Helper()
	return &harness{h.Over(s.Server, d, service, h.store.Speaks), h.store}
}

// call returns the valid call of a tool.
func (s *suite) call(t testing.TB, tool string) Call {
	t.Helper()
	for _, c := range s.Calls {
		if c.Tool == tool {
			return c
		}
	}
	t.Fatalf("there is no valid call of %s", tool)
	return Call{}
}
