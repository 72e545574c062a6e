package app

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"countersign.dev/internal/access"
	"countersign.dev/internal/company"
	"countersign.dev/internal/config"
	"countersign.dev/internal/database"
	"countersign.dev/internal/domain/codesearch"
	"countersign.dev/internal/domain/codesearch/build"
	"countersign.dev/internal/domain/codesearch/index"
	"countersign.dev/internal/domain/finance"
	"countersign.dev/internal/domain/hr"
	"countersign.dev/internal/domain/sales"
	"countersign.dev/internal/domain/sales/mongo"
	salessqlite "countersign.dev/internal/domain/sales/sqlite"
	"countersign.dev/internal/domain/support"
	"countersign.dev/internal/domain/support/elastic"
	supportsqlite "countersign.dev/internal/domain/support/sqlite"
	"countersign.dev/internal/domain/tasks"
	"countersign.dev/internal/domain/tasks/workspace"
	"countersign.dev/internal/tool"
)

// store is how a domain reaches its data.
type store struct {
	// open opens the store with the application's rights and returns the server
	// over it. A store that knows people links callers by links.
	open func(ctx context.Context, db config.Database, links *access.Links) (server domainServer, closeStore func() error, err error)
	// migrate creates or updates the schema and returns what it did.
	migrate func(context.Context, config.Database) (string, error)
	// seed fills an empty store with the sample company.
	seed func(context.Context, config.Database, *company.Company) error
	// demo creates a store in the demo's engines.
	demo func(context.Context, storeOptions) (config.Database, error)
	// owner reports that migrating and seeding need the owner's login.
	owner bool
}

// domainServer is what every domain offers.
type domainServer interface {
	Tools() []tool.Tool
	Receipts() tool.ReceiptStores
	Ready(context.Context) error
}

// sized is a domain whose store is meant for a limited number of rows.
type sized interface {
	// Oversize returns a sentence for operators when there are more.
	Oversize(context.Context) (string, error)
}

// oversize returns the warning of a server's store, or nothing.
func oversize(ctx context.Context, server domainServer) (string, error) {
	s, ok := server.(sized)
	if !ok {
		return "", nil
	}
	return s.Oversize(ctx)
}

// storeOptions are the engines of a demo, in which its stores are made.
type storeOptions struct {
	adminURL string // administrator of the PostgreSQL
	folder   string // for SQLite files and indexes
	issuer   string // that signs people in
	code     string // a repository for code search; empty: none
}

// relational is a domain on PostgreSQL with row-level security.
type relational struct {
	schema, login string
	server        func(*database.DB) domainServer
	migrate       func(ctx context.Context, adminURL, password string) ([]string, error)
	seed          func(ctx context.Context, adminURL string, c *company.Company) error
}

func hrStore() store {
	return relational{
		hr.SchemaName, hr.Login, func(db *database.DB) domainServer { return hr.New(db) }, hr.Migrate, hr.Seed,
	}.store()
}

func financeStore() store {
	return relational{
		finance.SchemaName, finance.Login, func(db *database.DB) domainServer { return finance.New(db) }, finance.Migrate, finance.Seed,
	}.store()
}

func (r relational) store() store {
	return store{open: r.open, migrate: r.update, demo: r.demo, owner: true,
		seed: func(ctx context.Context, db config.Database, c *company.Company) error {
			return r.seed(ctx, db.AdminURL, c)
		}}
}

// open refuses a login that can bypass row-level security.
func (r relational) open(ctx context.Context, db config.Database, links *access.Links) (domainServer, func() error, error) {
	pool, err := database.Open(ctx, db.URL, &database.Options{Links: links})
	if err != nil {
		return nil, nil, err
	}
	if err := database.SelfCheck(ctx, pool, r.schema); err != nil {
		pool.Close()
		return nil, nil, err
	}
	return r.server(pool), func() error { pool.Close(); return nil }, nil
}

func (r relational) update(ctx context.Context, db config.Database) (string, error) {
	applied, err := r.migrate(ctx, db.AdminURL, passwordOf(db.URL))
	if len(applied) == 0 {
		return "up to date", err
	}
	return "applied " + strings.Join(applied, ", "), err
}

// demo migrates with a new random password, which is kept in memory only.
func (r relational) demo(ctx context.Context, o storeOptions) (config.Database, error) {
	password := rand.Text()
	if _, err := r.migrate(ctx, o.adminURL, password); err != nil {
		return config.Database{}, err
	}
	login, err := database.LoginURL(o.adminURL, r.login, password)
	return config.Database{URL: login, AdminURL: o.adminURL}, err
}

// passwordOf returns the password in a database URL.
func passwordOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.User == nil {
		return ""
	}
	password, _ := u.User.Password()
	return password
}

// sqlitePath returns the file of an address such as sqlite:sales.db.
func sqlitePath(address string) (path string, ok bool) { return strings.CutPrefix(address, "sqlite:") }

// salesStore is MongoDB, or SQLite for an address such as sqlite:sales.db.
func salesStore() store {
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

// supportStore is Elasticsearch or OpenSearch, or SQLite.
func supportStore() store {
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
	opens := made.migrate
	made.migrate = func(ctx context.Context, db config.Database) (string, error) {
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
	domainServer
	Seed(ctx context.Context, c *company.Company) error
	Close() error
}

// documents is the store of such a domain; file is its name in a demo's folder.
func documents[S documentServer](open func(context.Context, config.Database, *access.Links) (S, error), file string) store {
	return store{
		open: func(ctx context.Context, db config.Database, links *access.Links) (domainServer, func() error, error) {
			s, err := open(ctx, db, links)
			if err != nil {
				return nil, nil, err
			}
			return s, s.Close, nil
		},
		migrate: func(ctx context.Context, db config.Database) (string, error) {
			s, err := open(ctx, db, nil)
			if err != nil {
				return "", err
			}
			return indexed, s.Close()
		},
		seed: func(ctx context.Context, db config.Database, c *company.Company) error {
			s, err := open(ctx, db, nil)
			if err != nil {
				return err
			}
			defer func() { _ = s.Close() }()
			return s.Seed(ctx, c)
		},
		demo: func(_ context.Context, o storeOptions) (config.Database, error) {
			return config.Database{URL: "sqlite:" + filepath.Join(o.folder, file)}, nil
		},
	}
}

// tasksStore is a folder of SQLite files, one for each workspace.
func tasksStore() store {
	open := func(ctx context.Context, db config.Database, _ *access.Links) (*tasks.Server, error) {
		folder, ok := sqlitePath(db.URL)
		if !ok {
			return nil, errors.New("databases.tasks.url must be sqlite: and a folder")
		}
		return tasks.Open(ctx, tasks.Options{Folder: folder, Places: placesOf(db.Tasks)})
	}
	made := documents(open, "tasks")
	made.demo = func(_ context.Context, o storeOptions) (config.Database, error) {
		t, err := demoWorkspaces(o)
		return config.Database{URL: "sqlite:" + filepath.Join(o.folder, "tasks"), Tasks: t}, err
	}
	return made
}

// placesOf are the configured workspaces.
func placesOf(t *config.Tasks) workspace.Places {
	if t == nil {
		return workspace.Places{}
	}
	p := workspace.Places{Roots: t.Roots, Personal: t.Personal, Issuer: t.Issuer, Local: t.Local}
	for _, w := range t.Workspaces {
		p.Shared = append(p.Shared, workspace.Shared{Path: w.Path, Name: w.Name, People: w.People, Roles: w.Roles})
	}
	return p
}

// demoWorkspaces makes the folders of the sample company's workspaces.
func demoWorkspaces(o storeOptions) (*config.Tasks, error) {
	root := filepath.Join(o.folder, "workspaces")
	t := &config.Tasks{Roots: []string{root}, Personal: filepath.Join(root, "personal"), Issuer: o.issuer}
	for _, b := range company.At(today()).Boards() {
		if b.Owner != "" {
			continue
		}
		path := filepath.Join(root, strings.ToLower(strings.ReplaceAll(b.Name, " ", "-")))
		t.Workspaces = append(t.Workspaces, config.Workspace{Path: path, Name: b.Name, People: b.People})
		if err := os.MkdirAll(path, 0o700); err != nil {
			return nil, err
		}
	}
	return t, os.MkdirAll(t.Personal, 0o700)
}

// repositoryAt returns the folder when it is a git repository, and nothing
// otherwise.
func repositoryAt(folder string) string {
	if folder == "" || !index.IsRepository(folder) {
		return ""
	}
	return folder
}

// codeStore is indexes of repositories, which Run of the server keeps current in
// a demo and `countersign index` elsewhere.
func codeStore() store {
	return store{
		open: func(_ context.Context, db config.Database, _ *access.Links) (domainServer, func() error, error) {
			s := codesearch.New(codeOptions(db))
			return s, s.Close, nil
		},
		migrate: func(context.Context, config.Database) (string, error) {
			return "its indexes are made by `countersign index`", nil
		},
		seed: func(context.Context, config.Database, *company.Company) error { return nil },
		demo: func(_ context.Context, o storeOptions) (config.Database, error) {
			code := config.CodeSearch{Index: filepath.Join(o.folder, "code")}
			if o.code != "" {
				code.Repositories = []config.CodeRepository{{Path: o.code, Name: filepath.Base(o.code), Anonymous: true}}
			}
			return config.Database{URL: config.IndexScheme + code.Index, Code: &code, Maintain: true}, nil
		},
	}
}

func codeOptions(db config.Database) codesearch.Options {
	o := codesearch.Options{Folder: strings.TrimPrefix(db.URL, config.IndexScheme), Maintain: db.Maintain}
	if db.Code == nil {
		return o
	}
	for _, r := range db.Code.Repositories {
		one := codesearch.Repository{Name: r.Name, Path: r.Path, Anonymous: r.Anonymous, Public: r.Public}
		for _, role := range r.Roles {
			one.Roles = append(one.Roles, access.Role(role))
		}
		o.Repositories = append(o.Repositories, one)
	}
	return o
}

// buildIndexes updates the indexes of the chosen folders, or of all configured ones.
func buildIndexes(ctx context.Context, conf config.CodeSearch, o IndexOptions) error {
	b := build.Options{Folder: cmp.Or(o.Index, conf.Index), Folders: o.Folders, Watch: o.Watch, Out: o.Out, Err: o.Err}
	for _, r := range conf.Repositories {
		b.Known = append(b.Known, build.Repository{Name: r.Name, Path: r.Path})
	}
	return build.Run(ctx, b)
}
