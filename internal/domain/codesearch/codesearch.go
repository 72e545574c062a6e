package codesearch

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"time"

	"countersign.dev/internal/access"
	"countersign.dev/internal/confirm"
	"countersign.dev/internal/domain/codesearch/embed"
	"countersign.dev/internal/domain/codesearch/index"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/tool"
)

// Options of a server.
type Options struct {
	Repositories []Repository
	Folder       string        // where the indexes are, one file each
	Maintain     bool          // Run keeps the indexes current; otherwise `countersign index` does
	Embeddings   embed.Service // none: results are found by words alone
	Now          func() time.Time
}

// Server is the code search domain. It is safe for concurrent use.
type Server struct {
	options      Options
	repositories []*repository
	meaning      *embed.Searcher
}

// New makes the domain. Indexes are opened when they are first needed, and again
// when their files were replaced.
func New(o Options) *Server {
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Server{options: o, meaning: &embed.Searcher{Service: o.Embeddings, Now: o.Now}}
	for _, r := range o.Repositories {
		s.repositories = append(s.repositories, &repository{Repository: r, file: index.FileOf(o.Folder, r.Name)})
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

// Ready checks that an index can be opened.
func (s *Server) Ready(context.Context) error {
	for _, r := range s.repositories {
		if h, err := r.acquire(); err == nil {
			h.release()
			return nil
		}
	}
	return errNotIndexed.New("No repository is indexed.")
}

// Close releases the indexes.
func (s *Server) Close() error {
	var failed []error
	for _, r := range s.repositories {
		failed = append(failed, r.close())
	}
	return errors.Join(failed...)
}

// Refresh brings the index of every repository up to date.
func (s *Server) Refresh(ctx context.Context) error {
	var failed []error
	for _, r := range s.repositories {
		_, err := index.Update(ctx, r.file, index.Source{Name: r.Name, Root: r.Path}, index.Options{Now: s.options.Now})
		if err == nil && s.options.Embeddings.On() {
			_, err = embed.Update(ctx, s.options.Embeddings, r.file)
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

// Run keeps the indexes current until the context ends, where the options say so.
func (s *Server) Run(ctx context.Context, log *slog.Logger) {
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

// The domain's own faults.
var (
	errNotIndexed = &fault.Code{Name: "SEARCH_ERROR", Kind: fault.Unavailable, Status: 503,
		Meaning: "No index can be searched: it is being built, was never built, or cannot be read.", Suggest: "Try again in a minute. If it stays so, build the index with countersign index."}
	errRepositoryNotFound = &fault.Code{Name: "REPOSITORY_NOT_FOUND", Kind: fault.NotFound, Status: 200,
		Meaning: "No repository has this name, or the caller may not see it.", Suggest: "Use list_repositories to find the names of repositories.", Subject: []string{"repository"}}
	errFileNotFound = &fault.Code{Name: "FILE_NOT_FOUND", Kind: fault.NotFound, Status: 200,
		Meaning: "The index has no file at this path.", Suggest: "Use search_code to find paths.", Subject: []string{"file_path"}, Details: []string{"repository"}}

	codes = []*fault.Code{errNotIndexed, errRepositoryNotFound, errFileNotFound}
)
