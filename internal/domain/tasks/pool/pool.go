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
	"countersign.dev/internal/fault"
)

// maxIdle is how many workspaces stay open that no call uses.
const maxIdle = 32

// Pool keeps workspaces open between calls. It is safe for concurrent use.
type Pool struct {
	folder  string
	now     func() time.Time
	life    context.Context // of what opens workspaces: no caller's deadline ends it
	stop    context.CancelFunc
	opening sync.WaitGroup

	mu   sync.Mutex
	open map[string]*pooled // by key
	tick int64              // grows with each use
}

type pooled struct {
	ready chan struct{} // closed when w or err is there
	w     *store.Workspace
	err   error
	uses  int // calls, and the one that opens it
	last  int64
}

// New makes a pool of the workspaces whose files are in a folder.
func New(folder string, now func() time.Time) *Pool {
	p := &Pool{folder: folder, now: now, open: map[string]*pooled{}}
	p.life, p.stop = context.WithCancel(context.Background())
	return p
}

// File is the file of a workspace, by its key.
func (p *Pool) File(key string) string { return filepath.Join(p.folder, key+".db") }

// With runs fn with an open workspace. A caller whose context ends before it is open
// gets TIMEOUT, and the workspace is opened for the next one: an upgrade can take minutes.
func (p *Pool) With(ctx context.Context, key, path string, fn func(*store.Workspace) error) error {
	one := p.acquire(key, path)
	defer p.release(one)
	select {
	case <-one.ready:
	case <-ctx.Done():
		return fault.Timeout.New("The workspace could not be opened in time.").Because(ctx.Err())
	}
	if one.err != nil {
		return one.err
	}
	return fn(one.w)
}

func (p *Pool) acquire(key, path string) *pooled {
	p.mu.Lock()
	defer p.mu.Unlock()
	one := p.open[key]
	if one == nil {
		one = &pooled{ready: make(chan struct{}), uses: 1}
		p.open[key] = one
		p.opening.Go(func() { p.load(key, path, one) })
	}
	one.uses++
	p.tick++
	one.last = p.tick
	return one
}

// load opens a workspace. One that cannot be opened is forgotten: the next call tries
// again.
func (p *Pool) load(key, path string, one *pooled) {
	defer p.release(one)
	one.w, one.err = p.opened(key, path)
	if one.err != nil {
		p.mu.Lock()
		delete(p.open, key)
		p.mu.Unlock()
	}
	close(one.ready)
}

// opened opens a workspace. A panic fails its callers and not the process.
func (p *Pool) opened(key, path string) (w *store.Workspace, err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			err = fault.Panic("opening a workspace", panicked)
		}
	}()
	return store.Open(p.life, p.File(key), path, p.now)
}

// release closes the workspace that was not used for longest when too many are idle.
func (p *Pool) release(one *pooled) {
	p.mu.Lock()
	defer p.mu.Unlock()
	one.uses--
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

// Close ends what is being opened, and closes every workspace. No call may run.
func (p *Pool) Close() error {
	p.stop()
	p.opening.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	var failed []error
	for key, one := range p.open {
		failed = append(failed, one.w.Close())
		delete(p.open, key)
	}
	return errors.Join(failed...)
}
