// Package pool keeps the stores of workspaces open between calls. It knows no person.
// Start with [New].
package pool

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"time"

	"countersign.dev/internal/domain/tasks/store"
)

// maxIdle is how many workspaces stay open that no call uses.
const maxIdle = 32

// Pool keeps workspaces open between calls. It is safe for concurrent use.
type Pool struct {
	folder string
	now    func() time.Time

	mu   sync.Mutex
	open map[string]*pooled // by key
	tick int64              // grows with each use
}

type pooled struct {
	once sync.Once
	w    *store.Workspace
	err  error
	uses int
	last int64
}

// New makes a pool of the workspaces whose files are in a folder.
func New(folder string, now func() time.Time) *Pool {
	return &Pool{folder: folder, now: now, open: map[string]*pooled{}}
}

// File is the file of a workspace, by its key.
func (p *Pool) File(key string) string { return filepath.Join(p.folder, key+".db") }

// With runs fn with an open workspace.
func (p *Pool) With(ctx context.Context, key, path string, fn func(*store.Workspace) error) error {
	one := p.acquire(key)
	defer p.release(key, one)
	one.once.Do(func() { one.w, one.err = store.Open(context.WithoutCancel(ctx), p.File(key), path, p.now) })
	if one.err != nil {
		return one.err
	}
	return fn(one.w)
}

func (p *Pool) acquire(key string) *pooled {
	p.mu.Lock()
	defer p.mu.Unlock()
	one := p.open[key]
	if one == nil {
		one = &pooled{}
		p.open[key] = one
	}
	one.uses++
	p.tick++
	one.last = p.tick
	return one
}

// release forgets a workspace that could not be opened, and closes the one that was
// not used for longest when too many are idle.
func (p *Pool) release(key string, one *pooled) {
	p.mu.Lock()
	defer p.mu.Unlock()
	one.uses--
	if one.err != nil && p.open[key] == one {
		delete(p.open, key)
	}
	idle, oldest := 0, ""
	for k, other := range p.open {
		if other.uses > 0 {
			continue
		}
		if idle++; oldest == "" || other.last < p.open[oldest].last {
			oldest = k
		}
	}
	if idle > maxIdle {
		_ = p.open[oldest].w.Close() // what it wrote is committed
		delete(p.open, oldest)
	}
}

// Close closes every workspace. No call may run.
func (p *Pool) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var failed []error
	for key, one := range p.open {
		if one.w != nil {
			failed = append(failed, one.w.Close())
		}
		delete(p.open, key)
	}
	return errors.Join(failed...)
}
