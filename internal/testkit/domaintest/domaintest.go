// Package domaintest runs one domain with everything that the kernel gives
// it, on any store: the tools, a confirm service over a Redis of
// its own, a sink, and the people of the sample company. Start at [Open].
package domaintest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/alicebob/miniredis/v2"

	"countersign.dev/internal/access"
	"countersign.dev/internal/company"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
	"countersign.dev/internal/state"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/tool"
)

// Domain is a company domain, as the kernel runs it.
type Domain interface {
	Tools() []tool.Tool
	Receipts() tool.ReceiptStores
	Policy() access.Policy
	Codes() []*fault.Code
}

// Harness is one domain with everything around it that a server has.
type Harness struct {
	testing.TB
	*tool.Runner
	Sink *testkit.MemorySink

	answers *tool.Runner // answers confirmations, in envelopes; nil: the Runner does
	asked   *sync.Map    // confirmation ID → the tool that asked for the change
}

// Speaks is what a server adds to the options of its runner: its own error for an
// invalid input, and its dialect.
type Speaks struct {
	Invalid func(ctx context.Context, values map[string]any, wrong []tool.Violation) error
	Dialect tool.Dialect
}

// Open opens a harness over a domain whose store is filled.
func Open(t testing.TB, server string, d Domain) *Harness {
	t.Helper()
	sink := &testkit.MemorySink{}
	return (&Harness{TB: t, Sink: sink, asked: &sync.Map{}}).Over(server, d, confirm.NewService(NewRedis(t), sink, nil), Speaks{})
}

// Over is a harness with the same sink over another domain and its confirmations.
func (h *Harness) Over(server string, d Domain, service *confirm.Service, s Speaks) *Harness {
	h.Helper()
	beside := *h
	beside.Runner, beside.answers = NewRunner(h, server, d, service, h.Sink, s), nil
	if s.Dialect != nil {
		s.Dialect = nil
		beside.answers = NewRunner(h, server, d, service, h.Sink, s)
	}
	return &beside
}

// NewRunner mounts a domain's tools.
func NewRunner(t testing.TB, server string, d Domain, service *confirm.Service, sink *testkit.MemorySink, s Speaks) *tool.Runner {
	t.Helper()
	r, err := tool.NewRunner(d.Tools(), tool.Options{
		Server: server, Codes: d.Codes(), Policy: d.Policy(), Cursors: testkit.Ring("cursor"), Confirmations: service, Receipts: d.Receipts(), Audit: sink,
		Invalid: s.Invalid, Dialect: s.Dialect,
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// NewRedis starts a Redis for one test and returns its confirmations.
func NewRedis(t testing.TB) confirm.Store {
	t.Helper()
	m := miniredis.NewMiniRedis()
	m.ClockTTL(true)
	if err := m.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return OpenRedis(t, m.Addr())
}

// OpenRedis returns the confirmations of a Redis that runs.
func OpenRedis(t testing.TB, address string) confirm.Store {
	t.Helper()
	redis, err := state.Open(t.Context(), "redis://"+address, &state.Options{Timeout: testkit.Patience})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = redis.Close() })
	return state.NewConfirmations(redis, testkit.Ring("record"))
}

// Answer answers a confirmation, and checks what /execute answers against the
// published schema of the tool that asked for the change.
func (h *Harness) Answer(ctx context.Context, id string, approved bool, digest string) result.Outcome {
	h.Helper()
	answers := cmp.Or(h.answers, h.Runner)
	o := answers.Answer(ctx, id, approved, digest)
	if tool, waits := h.asked.Load(id); waits {
		h.check(answers, tool.(string), o)
	}
	if h.answers != nil {
		o = o.WithRaw(answers.Encode(o))
	}
	return o
}

// Call calls a tool, and remembers which tool a change that waits belongs to.
func (h *Harness) Call(ctx context.Context, name string, raw json.RawMessage) result.Outcome {
	h.Helper()
	o := h.Runner.Call(ctx, name, raw)
	if p := o.Pending(); p != nil {
		h.asked.Store(p.ID, name)
	}
	return o
}

// check compares an outcome with the published schema of its tool.
func (h *Harness) check(r *tool.Runner, name string, o result.Outcome) {
	h.Helper()
	for _, info := range r.Visible(catalogue) {
		if info.Name == name {
			CheckAnswer(h, info, r.Encode(o))
		}
	}
}

// As signs a person of the sample company in.
func (h *Harness) As(username string) context.Context {
	h.Helper()
	return Person(h, username)
}

// Person is a person of the sample company, with their real roles and address.
func Person(t testing.TB, username string) context.Context {
	t.Helper()
	ctx, err := SignIn(t.Context(), username)
	if err != nil {
		t.Fatal(err)
	}
	return ctx
}

// SignIn signs a person of the sample company in.
func SignIn(ctx context.Context, username string) (context.Context, error) {
	for _, a := range company.Accounts() {
		if a.Username == username {
			return SignedIn(ctx, a.Email, a.Roles...), nil
		}
	}
	return nil, fmt.Errorf("the sample company has no %s", username)
}

// SignedIn signs a caller in with that verified address and those roles.
func SignedIn(ctx context.Context, email string, roles ...string) context.Context {
	return access.With(ctx, access.NewPrincipal(access.Claims{
		Issuer: testkit.Issuer, Subject: "sub-" + email, Username: email, Email: email, EmailVerified: true, Roles: roles, MayConfirm: true, Provenance: access.Provenance{Surface: access.SurfaceChat},
	}))
}

// Roles lists the roles of the sample company: the kernel's own and those that
// its domains declare.
func Roles() []access.Role {
	return []access.Role{
		access.Employee, access.Manager, access.Executive, "hr-read", "hr-write", "finance-read", "finance-write",
		"sales-read", "sales-write", "support-read", "support-write", access.Auditor,
	}
}

// Args is the input of a call.
type Args map[string]any

// Ask calls a tool, and checks the answer against the tool's published schema.
func (h *Harness) Ask(ctx context.Context, name string, in Args) result.Outcome {
	h.Helper()
	raw, err := json.Marshal(in)
	if err != nil {
		h.Fatal(err)
	}
	o := h.Call(ctx, name, raw)
	h.check(h.Runner, name, o)
	return o
}

// catalogue sees every tool.
var catalogue = access.NewPrincipal(access.Claims{Issuer: testkit.Issuer, Subject: "gateway", Purpose: access.PurposeCatalogue})

// CallAs calls a tool as a person of the sample company, with input as it came
// over a wire.
func (h *Harness) CallAs(username, name, input string) result.Outcome {
	h.Helper()
	return h.Call(h.As(username), name, json.RawMessage(input))
}

// PendingAs calls a write as [Harness.CallAs] does, and returns the confirmation
// that it waits for.
func (h *Harness) PendingAs(username, name, input string) *result.Pending {
	h.Helper()
	o := h.CallAs(username, name, input)
	if o.Pending() == nil {
		h.Fatalf("%s %s: got %s, want a confirmation", name, input, h.Encode(o))
	}
	return o.Pending()
}

// AnswerAs answers a confirmation as a person of the sample company, and returns
// what goes over the wire.
func (h *Harness) AnswerAs(username, id string, approved bool) string {
	h.Helper()
	return string(h.Encode(h.Answer(h.As(username), id, approved, "")))
}

// Asker is a harness, or embeds one.
type Asker interface {
	testing.TB
	Ask(ctx context.Context, name string, in Args) result.Outcome
}

// Get calls a tool that must succeed, and decodes its data.
func Get[T any](h Asker, ctx context.Context, name string, in Args) T {
	h.Helper()
	return Decode[T](h, h.Ask(ctx, name, in))
}

// Decode reads the data of an outcome that must be a success.
func Decode[T any](t testing.TB, o result.Outcome) (data T) {
	t.Helper()
	if o.Fault() != nil {
		t.Fatalf("got %s: %s (%v)", o.Fault().Code.Name, o.Fault().Message, o.Fault().Unwrap())
	}
	if err := json.Unmarshal(o.Data(), &data); err != nil {
		t.Fatalf("%v in %s", err, o.Data())
	}
	return data
}

// Refused calls a tool that must fail with that code.
func (h *Harness) Refused(ctx context.Context, code, name string, in Args) *fault.Error {
	h.Helper()
	o := h.Ask(ctx, name, in)
	if o.Fault() == nil || o.Fault().Code.Name != code {
		h.Fatalf("%s %v: got %s, want %s", name, in, h.Encode(o), code)
	}
	return o.Fault()
}

// Pending calls a write and returns the confirmation that it waits for.
func (h *Harness) Pending(ctx context.Context, name string, in Args) *result.Pending {
	h.Helper()
	o := h.Ask(ctx, name, in)
	if o.Pending() == nil {
		h.Fatalf("%s %v: got %s, want a confirmation", name, in, h.Encode(o))
	}
	return o.Pending()
}

// Apply asks for a write and approves it.
func (h *Harness) Apply(ctx context.Context, name string, in Args) map[string]any {
	h.Helper()
	return Decode[map[string]any](h, h.Answer(ctx, h.Pending(ctx, name, in).ID, true, ""))
}

// Sees names the tools that are listed to a person of the sample company, in
// the order of their names, with a space between.
func (h *Harness) Sees(username string) string {
	h.Helper()
	p, err := access.From(h.As(username))
	if err != nil {
		h.Fatal(err)
	}
	var names []string
	for _, info := range h.Visible(p) {
		names = append(names, info.Name)
	}
	return strings.Join(names, " ")
}

// Inputs writes the input schema of a tool down: its fields in the order of
// their names with their types, a required one with an exclamation mark, and an
// ellipsis where unknown fields are accepted.
func Inputs(t testing.TB, info result.ToolInfo) string {
	t.Helper()
	var schema struct {
		Properties map[string]struct{ Type string }
		Required   []string
		Extra      *bool `json:"additionalProperties"`
	}
	if err := json.Unmarshal(info.InputSchema, &schema); err != nil {
		t.Fatal(err)
	}
	out := ""
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		out += name + ":" + schema.Properties[name].Type
		if slices.Contains(schema.Required, name) {
			out += "!"
		}
		out += " "
	}
	if schema.Extra == nil || *schema.Extra {
		out += "..."
	}
	return out
}
