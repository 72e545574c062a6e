package storage

import (
	"context"
	"path/filepath"

	"countersign.dev/internal/access"
	"countersign.dev/internal/company"
	"countersign.dev/internal/config"
	"countersign.dev/internal/domain/sales"
	"countersign.dev/internal/domain/sales/mongo"
	salessqlite "countersign.dev/internal/domain/sales/sqlite"
	"countersign.dev/internal/domain/support"
	"countersign.dev/internal/domain/support/elastic"
	supportsqlite "countersign.dev/internal/domain/support/sqlite"
)

// Sales is MongoDB, or SQLite for an address such as sqlite:sales.db.
func Sales() Store {
	open := func(ctx context.Context, db config.Database, links *access.Links) (*sales.Server, error) {
		if path, ok := sqlitePath(db.URL); ok {
			s, err := salessqlite.Open(ctx, path)
			if err != nil {
				return nil, err
			}
			return salesServer(s, links), nil
		}
		s, err := mongo.Open(ctx, db.URL, nil)
		if err != nil {
			return nil, err
		}
		return salesServer(s, links), nil
	}
	return documents(open, "sales.db")
}

func salesServer(store sales.Store, links *access.Links) *sales.Server {
	server := sales.New(store, nil)
	server.Links = links
	return server
}

// Support is Elasticsearch or OpenSearch, or SQLite.
func Support() Store {
	open := func(ctx context.Context, db config.Database, _ *access.Links) (*support.Server, error) {
		if path, ok := sqlitePath(db.URL); ok {
			s, err := supportsqlite.Open(ctx, path)
			if err != nil {
				return nil, err
			}
			return support.New(s, nil), nil
		}
		s, err := elastic.Open(db.URL, nil)
		if err != nil {
			return nil, err
		}
		return support.New(s, nil), nil
	}
	made := documents(open, "support.db")
	opens := made.Migrate
	made.Migrate = func(ctx context.Context, db config.Database) (string, error) {
		if _, ok := sqlitePath(db.URL); ok {
			return opens(ctx, db)
		}
		s, err := elastic.Open(db.URL, nil) // does not connect: Migrate creates the indices
		if err != nil {
			return "", err
		}
		defer func() { _ = s.Close() }()
		return indexed, s.Migrate(ctx)
	}
	return made
}

// indexed is the result of migrating a document store.
const indexed = "its indexes are there"

// documentServer is a domain whose store creates its own indexes and is seeded
// through the server.
type documentServer interface {
	Server
	Seed(ctx context.Context, c *company.Company) error
	Close() error
}

// documents is the store of such a domain; file is its name in a demo's folder.
func documents[S documentServer](open func(context.Context, config.Database, *access.Links) (S, error), file string) Store {
	return Store{
		Open: func(ctx context.Context, db config.Database, links *access.Links) (Server, func() error, error) {
			s, err := open(ctx, db, links)
			if err != nil {
				return nil, nil, err
			}
			return s, s.Close, nil
		},
		Migrate: func(ctx context.Context, db config.Database) (string, error) {
			s, err := open(ctx, db, nil)
			if err != nil {
				return "", err
			}
			return indexed, s.Close()
		},
		Seed: func(ctx context.Context, db config.Database, c *company.Company) error {
			s, err := open(ctx, db, nil)
			if err != nil {
				return err
			}
			defer func() { _ = s.Close() }()
			return s.Seed(ctx, c)
		},
		Demo: func(_ context.Context, o Engines) (config.Database, error) {
			return config.Database{URL: "sqlite:" + filepath.Join(o.Folder, file)}, nil
		},
	}
}
