package main

import (
	"context"
	"crypto/rand"
	"time"

	"countersign.dev/internal/company"
	"countersign.dev/internal/database"
	"countersign.dev/internal/domain/hr"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/tool"
)

// domain is one row of the list of domains.
type domain struct {
	name         string
	title        string
	instructions string // told to MCP clients
	port         int
	codes        []*fault.Code
	open         func(context.Context, databaseConfig) (server domainServer, closeStore func(), err error)
	migrate      func(ctx context.Context, db databaseConfig) (applied []string, err error)
	seed         func(ctx context.Context, db databaseConfig, c *company.Company) error
	demo         func(ctx context.Context, adminURL string) (databaseConfig, error) // makes its store for the demo
}

// domainServer is what every domain offers.
type domainServer interface {
	Tools() []tool.Tool
	Ledger() tool.Ledger
	Ready(context.Context) error
}

// domains is the one place where the set of domains is written down.
func domains() []domain {
	return []domain{
		{
			name: "hr", title: "Human resources", port: 3101, codes: hr.New(nil).Codes(),
			instructions: "People of the company: records, org chart, reviews, time off. Changes wait for their human.",
			open:         openHR, migrate: migrateHR, seed: seedHR, demo: demoHR,
		},
	}
}

func domainNamed(name string) (domain, bool) {
	for _, d := range domains() {
		if d.name == name {
			return d, true
		}
	}
	return domain{}, false
}

// defaultPorts are the ports of the documents, by server.
func defaultPorts() map[string]int {
	return map[string]int{"hr": 3101, "finance": 3102, "sales": 3103, "support": 3104, "tasks": 3105, "codesearch": 3106}
}

func openHR(ctx context.Context, db databaseConfig) (domainServer, func(), error) {
	pool, err := database.Open(ctx, db.URL, nil)
	if err != nil {
		return nil, nil, err
	}
	if err := database.SelfCheck(ctx, pool, hr.SchemaName); err != nil {
		pool.Close()
		return nil, nil, err
	}
	return hr.New(pool), pool.Close, nil
}

func migrateHR(ctx context.Context, db databaseConfig) ([]string, error) {
	return hr.Migrate(ctx, db.AdminURL, passwordOf(db.URL))
}

func seedHR(ctx context.Context, db databaseConfig, c *company.Company) error {
	return hr.Seed(ctx, db.AdminURL, c)
}

// demoHR migrates with a password that lives as long as the process.
func demoHR(ctx context.Context, adminURL string) (databaseConfig, error) {
	password := rand.Text()
	if _, err := hr.Migrate(ctx, adminURL, password); err != nil {
		return databaseConfig{}, err
	}
	login, err := database.LoginURL(adminURL, hr.Login, password)
	return databaseConfig{URL: login, AdminURL: adminURL}, err
}

// today is the day of seeding: dates in the sample company are relative to it.
func today() time.Time { return time.Now().UTC().Truncate(24 * time.Hour) }
