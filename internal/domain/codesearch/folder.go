package codesearch

import (
	"context"
	"errors"
	"io/fs"

	"countersign.dev/internal/domain/codesearch/embed"
	"countersign.dev/internal/domain/codesearch/index"
	"countersign.dev/internal/domain/codesearch/query"
)

// folder is a [Store] of index files on this machine, one for each repository.
type folder struct {
	repositories map[string]*repository
	meaning      *embed.Searcher
}

func newFolder(path string, all []Repository, meaning *embed.Searcher) *folder {
	f := &folder{repositories: map[string]*repository{}, meaning: meaning}
	for _, r := range all {
		f.repositories[r.Name] = &repository{file: index.FileOf(path, r.Name), folder: r.Path}
	}
	return f
}

// OnFailure sets what is called when an index was replaced by one that cannot be read, so
// that the one before is searched: once until it can be read again.
func (f *folder) OnFailure(failed func(name string, err error)) {
	for name, r := range f.repositories {
		r.mu.Lock()
		r.failed = func(err error) { failed(name, err) }
		r.mu.Unlock()
	}
}

// Describe implements [Store].
func (f *folder) Describe(ctx context.Context, names []string) (all []Described, _ error) {
	for _, name := range names {
		h, err := f.acquire(name)
		if err != nil {
			all = append(all, Described{Err: err})
			continue
		}
		all = append(all, Described{Meta: h.Meta})
		h.release()
	}
	return all, ctx.Err()
}

// acquire opens an index, which the caller releases.
func (f *folder) acquire(name string) (*handle, error) {
	r, ok := f.repositories[name]
	if !ok {
		return nil, ErrNoIndex
	}
	h, err := r.acquire()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, ErrNoIndex
	case err != nil:
		return nil, Unreadable{err}
	}
	return h, nil
}

// Search implements [Store]. Places are found by words, and by embeddings where there
// is a service of them.
func (f *folder) Search(ctx context.Context, names []string, r query.Request) (Results, error) {
	var found Results
	var open []*handle
	var with []embed.Shard
	for _, name := range names {
		h, err := f.acquire(name)
		if err != nil {
			found.Missing = append(found.Missing, Missing{name, err})
			continue
		}
		open = append(open, h)
		found.Shards = append(found.Shards, query.Shard{Repository: name, Index: h.Index})
		with = append(with, embed.Shard{Shard: found.Shards[len(found.Shards)-1], File: h.owner.file})
	}
	found.Release = func() {
		for _, h := range open {
			h.release()
		}
	}
	words := r
	if f.meaning.On() {
		words = embed.Words(r)
	}
	plan := query.NewPlan(words, query.Local(found.Shards))
	found.Hits, _ = plan.Rank(found.Shards, nil) // nothing is read
	if found.More = plan.More(); f.meaning.On() {
		found.Hits, found.Note = f.meaning.Fuse(ctx, with, r, found.Hits)
	}
	return found, nil
}

// File implements [Store].
func (f *folder) File(ctx context.Context, name, path string) (File, error) {
	h, err := f.acquire(name)
	if err != nil {
		return File{}, err
	}
	defer h.release()
	if err := ctx.Err(); err != nil {
		return File{}, err
	}
	for i := range h.Files {
		if h.Files[i].Path == path {
			text, err := h.Text(&h.Files[i])
			return File{h.Files[i], h.Meta, text}, err
		}
	}
	return File{}, ErrNoFile
}

// Close implements [Store].
func (f *folder) Close() error {
	var failed []error
	for _, r := range f.repositories {
		failed = append(failed, r.close())
	}
	return errors.Join(failed...)
}
