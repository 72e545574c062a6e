package foreign

import (
	"fmt"
	"sync"
	"time"
)

// Waits between starts of a process that keeps ending.
const (
	restartFirst = time.Second
	restartMost  = time.Minute
	restartCalm  = time.Minute // a process that ran for so long is started again at once
)

// restarts says when a process may be started again. The first end costs no wait.
type restarts struct {
	now func() time.Time

	mu      sync.Mutex
	started time.Time
	ends    int // in a row
	until   time.Time
}

// begin reports why a process may not be started yet.
func (r *restarts) begin() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	if wait := r.until.Sub(now); wait > 0 {
		return fmt.Errorf("its process ended %d times and is started again in %s", r.ends, wait.Round(time.Second))
	}
	r.started = now
	return nil
}

// ended counts the end of a process, or a start that failed.
func (r *restarts) ended() {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	if now.Sub(r.started) >= restartCalm {
		r.ends = 0
	}
	if r.ends++; r.ends > 1 {
		r.until = now.Add(min(restartFirst<<min(r.ends-2, 10), restartMost))
	}
}
