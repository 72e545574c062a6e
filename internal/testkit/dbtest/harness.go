package dbtest

import (
	"context"
	"strings"
	"testing"

	"countersign.dev/internal/access"
	"countersign.dev/internal/database"
	"countersign.dev/internal/testkit/domaintest"
)

// Harness is a [domaintest.Harness] whose domain is over PostgreSQL.
type Harness struct {
	*domaintest.Harness
	AdminURL string
	DB       *database.DB
}

// Over opens a harness over a database that is migrated and seeded. The domain
// is what make returns for a connection with its own login.
func Over[D domaintest.Domain](t testing.TB, server, adminURL, login string, make func(*database.DB) D) (*Harness, D) {
	t.Helper()
	db := OpenLogin(t, adminURL, login)
	domain := make(db)
	return &Harness{Harness: domaintest.Open(t, server, domain), AdminURL: adminURL, DB: db}, domain
}

// OpenLogin opens a database with a login that [database.Migrate] or the test
// made, or as the superuser, postgres.
func OpenLogin(t testing.TB, adminURL, login string) *database.DB {
	t.Helper()
	url := adminURL
	if login != "postgres" { // which needs the password that the URL has
		var err error
		if url, err = database.LoginURL(adminURL, login, ""); err != nil {
			t.Fatal(err)
		}
	}
	o := &database.Options{}
	if strings.HasPrefix(login, "countersign_") { // of a schema that was migrated
		o.Links = &access.Links{}
	}
	db, err := database.Open(t.Context(), url, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db
}

// Admin changes rows past the tools.
func (h *Harness) Admin(sql string, values ...any) {
	h.Helper()
	err := database.Seed(h.Context(), h.AdminURL, func(ctx context.Context, s *database.Seeder) error {
		return s.Exec(ctx, sql, values...)
	})
	if err != nil {
		h.Fatal(err)
	}
}
