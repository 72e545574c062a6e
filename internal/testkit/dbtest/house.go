package dbtest

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/alicebob/miniredis/v2"

	"countersign.dev/internal/access"
	"countersign.dev/internal/company"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/database"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
	"countersign.dev/internal/seal"
	"countersign.dev/internal/state"
	"countersign.dev/internal/testkit"
	"countersign.dev/internal/tool"
)

// Domain is a domain over PostgreSQL, as the kernel runs it.
type Domain interface {
	Tools() []tool.Tool
	Ledger() tool.Ledger
}

// House is one domain with everything around it that a server has: its tools,
// a desk for confirmations over a Redis of its own, and a journal.
type House struct {
	testing.TB
	*tool.Runner
	AdminURL string
	DB       *database.DB
	Journal  *testkit.Journal
}

// Furnish opens a house over a database that is migrated and seeded. The domain
// is what make makes of a connection with its own login.
func Furnish[D Domain](t testing.TB, server, adminURL, login string, make func(*database.DB) D) (*House, D) {
	t.Helper()
	h := &House{TB: t, AdminURL: adminURL, DB: OpenLogin(t, adminURL, login), Journal: &testkit.Journal{}}
	domain := make(h.DB)
	h.Runner = NewRunner(t, server, domain, confirm.NewDesk(NewRedis(t), h.Journal, nil), h.Journal)
	return h, domain
}

// NewRunner mounts a domain's tools at a desk.
func NewRunner(t testing.TB, server string, d Domain, desk *confirm.Desk, journal *testkit.Journal) *tool.Runner {
	t.Helper()
	cursors, err := seal.NewRing("cursor", seal.RandomSecret())
	if err != nil {
		t.Fatal(err)
	}
	r, err := tool.NewRunner(d.Tools(), tool.Options{Server: server, Cursors: cursors, Desk: desk, Ledger: d.Ledger(), Audit: journal})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// OpenLogin opens a database with a login that [database.Migrate] or the test
// made, or as the superuser, postgres.
func OpenLogin(t testing.TB, adminURL, login string) *database.DB {
	t.Helper()
	url := adminURL
	if login != "postgres" { // who needs the password that stands in the URL
		var err error
		if url, err = database.LoginURL(adminURL, login, ""); err != nil {
			t.Fatal(err)
		}
	}
	db, err := database.Open(t.Context(), url, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db
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
	redis, err := state.Open(t.Context(), "redis://"+address, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = redis.Close() })
	return state.NewConfirmations(redis)
}

// As signs a person of the sample company in.
func (h *House) As(username string) context.Context {
	h.Helper()
	for _, a := range company.Accounts() {
		if a.Username == username {
			return SignedIn(h.Context(), a.Email, a.Roles...)
		}
	}
	h.Fatalf("nobody is called %s", username)
	return nil
}

// SignedIn signs somebody in who has that verified address and those roles.
func SignedIn(ctx context.Context, email string, roles ...string) context.Context {
	return access.With(ctx, access.NewPrincipal(access.Claims{
		Issuer: testkit.Issuer, Subject: "sub-" + email, Username: email, Email: email, EmailVerified: true, Roles: roles,
	}))
}

// Args is the input of a call.
type Args map[string]any

// Ask calls a tool.
func (h *House) Ask(ctx context.Context, name string, in Args) result.Outcome {
	h.Helper()
	raw, err := json.Marshal(in)
	if err != nil {
		h.Fatal(err)
	}
	return h.Call(ctx, name, raw)
}

// Get calls a tool that must succeed, and decodes its data.
func Get[T any](h *House, ctx context.Context, name string, in Args) T {
	h.Helper()
	return Decode[T](h, h.Ask(ctx, name, in))
}

// Decode reads the data of an outcome that must be a success.
func Decode[T any](h *House, o result.Outcome) (data T) {
	h.Helper()
	if o.Fault != nil {
		h.Fatalf("got %s: %s (%v)", o.Fault.Code.Name, o.Fault.Message, o.Fault.Unwrap())
	}
	if err := json.Unmarshal(o.Data, &data); err != nil {
		h.Fatalf("%v in %s", err, o.Data)
	}
	return data
}

// Refused calls a tool that must fail with that code.
func (h *House) Refused(ctx context.Context, code, name string, in Args) *fault.Error {
	h.Helper()
	o := h.Ask(ctx, name, in)
	if o.Fault == nil || o.Fault.Code.Name != code {
		h.Fatalf("%s %v: got %s, want %s", name, in, h.Encode(o), code)
	}
	return o.Fault
}

// Pending calls a write and returns the confirmation that it waits for.
func (h *House) Pending(ctx context.Context, name string, in Args) *result.Pending {
	h.Helper()
	o := h.Ask(ctx, name, in)
	if o.Pending == nil {
		h.Fatalf("%s %v: got %s, want a confirmation", name, in, h.Encode(o))
	}
	return o.Pending
}

// Apply asks for a write and approves it.
func (h *House) Apply(ctx context.Context, name string, in Args) map[string]any {
	h.Helper()
	return Decode[map[string]any](h, h.Answer(ctx, h.Pending(ctx, name, in).ID, true))
}

// Admin changes rows behind the tools' back.
func (h *House) Admin(sql string, values ...any) {
	h.Helper()
	err := database.Seed(h.Context(), h.AdminURL, func(ctx context.Context, s *database.Seeder) error {
		return s.Exec(ctx, sql, values...)
	})
	if err != nil {
		h.Fatal(err)
	}
}
