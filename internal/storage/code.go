package storage

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"countersign.dev/internal/access"
	"countersign.dev/internal/company"
	"countersign.dev/internal/config"
	"countersign.dev/internal/domain/codesearch"
	"countersign.dev/internal/domain/codesearch/build"
	"countersign.dev/internal/domain/codesearch/checkout"
	"countersign.dev/internal/domain/codesearch/elastic"
	"countersign.dev/internal/domain/codesearch/embed"
)

// RepositoryAt returns the folder when it is a git repository, and nothing
// otherwise.
func RepositoryAt(folder string) string {
	if folder == "" || !checkout.IsRepository(folder) {
		return ""
	}
	return folder
}

// CodeSearch is indexes of repositories, which Run of the server keeps current in
// a demo and `countersign index` elsewhere.
func CodeSearch() Store {
	return Store{
		Open: func(_ context.Context, db config.Database, _ *access.Links) (Server, func() error, error) {
			o := codeOptions(db)
			if inEngine(db.URL) {
				store, err := elastic.Open(db.URL, nil)
				if err != nil {
					return nil, nil, err
				}
				o.Store = store
			}
			s := codesearch.New(o)
			return s, s.Close, nil
		},
		Migrate: func(context.Context, config.Database) (string, error) {
			return "its indexes are made by `countersign index`", nil
		},
		Seed: func(context.Context, config.Database, *company.Company) error { return nil },
		Demo: func(_ context.Context, o Engines) (config.Database, error) {
			code := config.CodeSearch{Index: filepath.Join(o.Folder, "code")}
			if o.Code != "" {
				code.Repositories = []config.CodeRepository{{Path: o.Code, Name: filepath.Base(o.Code), Anonymous: true}}
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
	o.Embeddings, o.Links = embed.Service(db.Code.Embeddings), db.Code.Links
	for _, r := range db.Code.Repositories {
		one := codesearch.Repository{Name: r.Name, Path: r.Path, Anonymous: r.Anonymous, Public: r.Public}
		for _, role := range r.Roles {
			one.Roles = append(one.Roles, access.Role(role))
		}
		o.Repositories = append(o.Repositories, one)
	}
	return o
}

// Embeddings asks the configured service of embeddings for the vector of one text.
func Embeddings(ctx context.Context, e config.Embeddings) (string, error) {
	made, err := embed.Service(e).Embed(ctx, []string{"the vector of one text"})
	if err != nil {
		return "", fmt.Errorf("%w. Start the service, or change codesearch.embeddings: until then searches go by words alone", err)
	}
	return fmt.Sprintf("answers; %s makes vectors of %d numbers", e.Model, len(made[0])), nil
}

// inEngine reports whether the address of the indexes is that of a search server, and
// not a folder.
func inEngine(address string) bool { return !strings.HasPrefix(address, config.IndexScheme) }

// Indexing says which folders are indexed, and where their indexes are.
type Indexing struct {
	Folders  []string     // none: the configured repositories
	Index    string       // folder of the indexes; empty: the configured one
	Beside   build.Beside // finds the folder of an index where neither names one
	Watch    bool         // go on, and update what changes, until the context ends
	Out, Err io.Writer
}

// Index updates the indexes of the chosen folders, or of all configured ones: those
// in a folder that the command names, else those that the configuration names.
func Index(ctx context.Context, conf config.CodeSearch, o Indexing) error {
	b := build.Options{Folder: cmp.Or(o.Index, conf.Index), Folders: o.Folders, Beside: o.Beside, Watch: o.Watch, Out: o.Out, Err: o.Err, Embeddings: embed.Service(conf.Embeddings)}
	for _, r := range conf.Repositories {
		b.Known = append(b.Known, build.Repository{Name: r.Name, Path: r.Path})
	}
	if conf.Store != "" && o.Index == "" {
		store, err := elastic.Open(conf.Store, nil)
		if err != nil {
			return err
		}
		defer func() { _ = store.Close() }()
		b.Store = store
	}
	return build.Run(ctx, b)
}
