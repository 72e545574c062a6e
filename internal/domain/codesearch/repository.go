package codesearch

import (
	"errors"
	"path/filepath"
	"sync"

	"countersign.dev/internal/access"
	"countersign.dev/internal/domain/codesearch/index"
)

// Repository is a folder that is searched, and who may see it.
type Repository struct {
	Name      string        // unique; people and filters name it so
	Path      string        // its folder
	Roles     []access.Role // any of these may see it; none: every employee
	Anonymous bool          // it needs no token on loopback, without an Origin
	Public    bool          // pages of foreign origins may read it without a token
}

// repository is one repository's index file, opened when it is needed.
type repository struct {
	file   string
	folder string // that it must be an index of

	mu      sync.Mutex
	current *handle
	failing bool        // there is a new index that cannot be read
	failed  func(error) // is called when that begins; nil: nothing is
}

// handle is an open index. It is closed when it was replaced and no search uses
// it any more.
type handle struct {
	*index.Index
	owner *repository
	users int  // guarded by the owner's mutex
	old   bool // replaced
}

// acquire returns the current index, which the caller releases.
func (r *repository) acquire() (*handle, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.current == nil || !r.current.Current() {
		ix, err := r.open()
		if begins := err != nil && !r.failing; begins && r.current != nil && r.failed != nil {
			r.failed(err)
		}
		r.failing = err != nil
		switch {
		case err == nil:
			r.replace(&handle{Index: ix, owner: r})
		case r.current == nil:
			return nil, err
		} // otherwise the index before is still good
	}
	r.current.users++
	return r.current, nil
}

// errOtherFolder is the error of an index whose repository's name had another folder when it was
// made: who may see the one may not see the other.
var errOtherFolder = errors.New("the index was made of another folder than the one that is configured. Build it again with `countersign index`")

// open opens the index of the repository's folder.
func (r *repository) open() (*index.Index, error) {
	ix, err := index.Open(r.file)
	if err != nil || filepath.Clean(ix.Meta.Root) == filepath.Clean(r.folder) {
		return ix, err
	}
	_ = ix.Close()
	return nil, errOtherFolder
}

// replace makes an index the current one. The mutex is held.
func (r *repository) replace(next *handle) {
	before := r.current
	r.current = next
	if before != nil {
		before.old = true
		before.closeUnused()
	}
}

func (h *handle) release() {
	h.owner.mu.Lock()
	defer h.owner.mu.Unlock()
	h.users--
	h.closeUnused()
}

// closeUnused closes an index that was replaced when it has no users. The mutex
// is held.
func (h *handle) closeUnused() {
	if h.old && h.users == 0 {
		_ = h.Close()
	}
}

func (r *repository) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.current == nil {
		return nil
	}
	h := r.current
	r.current = nil
	h.old = true
	if h.users > 0 {
		return nil // the last search closes it
	}
	return h.Close()
}
