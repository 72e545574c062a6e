package codesearch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/domain/codesearch/embed"
	"countersign.dev/internal/domain/codesearch/index"
	"countersign.dev/internal/domain/codesearch/query"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/tool"
)

// Options of a server.
type Options struct {
	Repositories []Repository
	Store        Store         // where the indexes are; nil: in Folder
	Folder       string        // where the indexes are, one file each
	Maintain     bool          // Run keeps the indexes current; otherwise `countersign index` does
	Before       func() error  // is called before each refresh, and its error prevents that; nil: nothing
	Embeddings   embed.Service // none: results are found by words alone
	Links        Links         // beside those of well-known hosts, or in their place
	Now          func() time.Time
}

// Server is the code search domain. It is safe for concurrent use.
type Server struct {
	options Options
	store   Store
	meaning *embed.Searcher // nil: the store has none
}

// New makes the domain. Indexes are opened when they are first needed, and again
// when they were replaced.
func New(o Options) *Server {
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Server{options: o, store: o.Store}
	if s.store == nil {
		s.meaning = &embed.Searcher{Service: o.Embeddings, Now: o.Now}
		s.store = newFolder(o.Folder, o.Repositories, s.meaning)
	}
	return s
}

// Policy declares that the domain has no roles or masked fields of its own: a
// repository's roles are configuration.
func (s *Server) Policy() access.Policy { return access.Policy{} }

// Codes lists the fault codes that this domain adds to the shared ones.
func (s *Server) Codes() []*fault.Code { return codes }

// Receipts are of no store: there is no change to confirm.
func (s *Server) Receipts() tool.ReceiptStores { return noReceipts{} }

type noReceipts struct{}

// Assign implements [tool.ReceiptStores].
func (noReceipts) Assign(context.Context, confirm.ID, json.RawMessage) error {
	return errors.ErrUnsupported
}

// Of implements [tool.ReceiptStores].
func (noReceipts) Of(context.Context, confirm.ID) (tool.ReceiptStore, bool, error) {
	return nil, false, nil
}

// Ready checks that an index can be read. Everyone may ask for it: its error names no
// repository.
func (s *Server) Ready(ctx context.Context) error {
	indexed, unreadable, err := s.indexed(ctx)
	switch {
	case err != nil || indexed > 0:
		return err
	case len(unreadable) > 0:
		return errNotIndexed.New("No repository has an index that can be read%s.", shown(unreadable[0].Err)).Because(unreadable[0].Err)
	}
	return errNotIndexed.New("No repository is indexed.")
}

// indexed is how many repositories have an index, and which have one that cannot be read. It
// opens the indexes, and prepares what the first question after a health check would wait for.
func (s *Server) indexed(ctx context.Context) (n int, unreadable []Missing, err error) {
	query.Prepare()
	names := s.names(func(Repository) bool { return true })
	all, err := s.store.Describe(ctx, names)
	for i, d := range all {
		switch {
		case d.Err == nil:
			n++
		case !errors.Is(d.Err, ErrNoIndex):
			unreadable = append(unreadable, Missing{names[i], d.Err})
		}
	}
	return n, unreadable, err
}

// names are those of the repositories that a condition holds for.
func (s *Server) names(holds func(Repository) bool) (names []string) {
	for _, r := range s.options.Repositories {
		if holds(r) {
			names = append(names, r.Name)
		}
	}
	return names
}

// Check says for operators what the store is, and how many repositories are indexed.
func (s *Server) Check(ctx context.Context) (string, error) {
	indexed, unreadable, err := s.indexed(ctx)
	if err != nil {
		return "", err
	}
	said := fmt.Sprintf("%d of %d repositories are indexed", indexed, len(s.options.Repositories))
	if indexed+len(unreadable) < len(s.options.Repositories) {
		said += `; "countersign index" indexes the others`
	}
	if engine, ok := s.store.(interface {
		Version(context.Context) (string, error)
	}); ok {
		version, err := engine.Version(ctx)
		if err != nil {
			return "", err
		}
		said += " in " + version
	}
	for _, m := range unreadable {
		said += fmt.Sprintf("; the index of %s cannot be read: %v", m.Name, m.Err)
	}
	return said, nil
}

// Close releases the indexes.
func (s *Server) Close() error { return s.store.Close() }

// Refresh brings the index file of every repository up to date. One whose files are all
// the same stays as it is: it is neither written nor opened again.
func (s *Server) Refresh(ctx context.Context) error {
	if s.options.Before != nil {
		if err := s.options.Before(); err != nil {
			return err
		}
	}
	var failed []error
	for _, r := range s.options.Repositories {
		file := index.FileOf(s.options.Folder, r.Name)
		_, err := index.Update(ctx, file, index.Source{Name: r.Name, Root: r.Path}, index.Options{Now: s.options.Now, Settled: true})
		if err == nil && s.options.Embeddings.On() {
			_, err = embed.Update(ctx, s.options.Embeddings, file, nil)
		}
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}

// The pause between two refreshes: at least the first, and many times as long as
// the refresh took, so that a large repository costs no more than a small part of
// a processor.
const (
	refreshPause = 30 * time.Second
	refreshRatio = 20
)

// Run keeps the indexes current until the context ends, where the options say so. A
// service of embeddings that begins to fail, or an index that cannot be taken over, is logged, once until it is well again.
func (s *Server) Run(ctx context.Context, log *slog.Logger) {
	if s.meaning != nil {
		s.meaning.OnFailure(func(err error) {
			log.Warn("the service of embeddings does not answer: searches go by words alone", "error", err)
		})
	}
	if files, ok := s.store.(*folder); ok {
		files.OnFailure(func(name string, err error) {
			log.Warn("a new index cannot be read: searches go on with the one before", "repository", name, "error", err)
		})
	}
	if !s.options.Maintain {
		return
	}
	for {
		began := time.Now()
		if err := s.Refresh(ctx); err != nil && ctx.Err() == nil {
			log.WarnContext(ctx, "a repository was not indexed, or not embedded", "error", err)
		}
		timer := time.NewTimer(max(refreshPause, refreshRatio*time.Since(began)))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
	}
}
