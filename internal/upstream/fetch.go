package upstream

import (
	"context"
	"errors"
	"strconv"
	"time"

	"golang.org/x/sync/singleflight"

	"countersign.dev/internal/admission"
	"countersign.dev/internal/fault"
	"countersign.dev/internal/result"
)

// refresh makes the server's tool list usable, or says why it is not. A list
// that is only a little old is used at once and fetched in the background.
func (s *server) refresh(ctx context.Context) error {
	list := s.up.registry().lists[s.Name]
	fetch, background, failed := list.need(s.up.o.Now())
	if !fetch || failed != nil {
		return failed
	}
	fetched := s.fetching(ctx, list.version)
	if background {
		return nil
	}
	defer admission.Outside(ctx)()
	if s.foreign() {
		return s.awaitShortly(ctx, fetched, list)
	}
	select {
	case r := <-fetched:
		return r.Err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// fetching joins the fetch of a version of the list, or begins it. A fetch that
// began before an invalidation is not joined.
func (s *server) fetching(ctx context.Context, version int) <-chan singleflight.Result {
	return s.fetches.DoChan(strconv.Itoa(version), func() (any, error) { return nil, s.fetch(ctx, version) })
}

// fetch asks the server for all its tools. It outlives the caller that began
// it, because others wait for the same answer.
func (s *server) fetch(ctx context.Context, version int) error {
	if !s.up.begin() {
		return errClosed
	}
	defer s.up.work.Done()
	timeout := s.Timeout
	if s.foreign() {
		timeout = discoveryTimeout
	}
	ctx, cancel := s.up.bounded(context.WithoutCancel(ctx), timeout)
	defer cancel()
	tools, err := listed(ctx, s)
	if s.foreign() && err == nil {
		s.found.setSlow(false)
	}
	s.up.keep(s, version, tools, err)
	if err != nil {
		s.up.o.Log.WarnContext(ctx, "tool list could not be fetched", "server", s.Name, "error", err)
	}
	return err
}

// listed asks a server's adapter. A panic of it is an error: it would end the process on
// the goroutine of a fetch.
func listed(ctx context.Context, s *server) (tools []result.ToolInfo, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fault.Panic("listing the tools of "+s.Name, p)
		}
	}()
	return s.adapter.Tools(ctx)
}

// awaitShortly waits for a fetch for discoveryWait at most, once.
func (s *server) awaitShortly(ctx context.Context, fetched <-chan singleflight.Result, list toolList) error {
	if !s.found.isSlow() {
		timer := time.NewTimer(discoveryWait)
		defer timer.Stop()
		select {
		case r := <-fetched:
			return r.Err
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
			s.found.setSlow(true)
		}
	}
	if list.tools == nil {
		return errDiscovering
	}
	return nil // with the list that is known
}

func newDiscovery() *discovery {
	return &discovery{wake: make(chan struct{}, 1), later: make(chan time.Duration, 1)}
}

// change counts a change that the server announced, and reports whether it is
// followed now. If not, it is followed when the period ends.
func (d *discovery) change(now time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if now.Sub(d.since) >= changesPeriod {
		d.since, d.count = now, 0
	}
	if d.count++; d.count <= changesBurst {
		return true
	}
	select {
	case d.later <- changesPeriod - now.Sub(d.since):
	default: // it is planned already
	}
	return false
}

// awake wakes the goroutine that fetches the list.
func (d *discovery) awake() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

func (d *discovery) isSlow() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.slow
}

func (d *discovery) setSlow(slow bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.slow = slow
}

// Foreign servers are asked for their tools in the background, so that none holds
// up a caller for longer than discoveryWait, once.
const (
	discoveryTimeout = 30 * time.Second // of one fetch; a first start may install a program
	discoveryWait    = time.Second      // of a caller, for a server that never answered slowly before
	discoveryRetry   = time.Minute      // at most between two fetches that fail; they begin with listRetry

	changesBurst  = 5                // changes of its tools that a server may announce
	changesPeriod = 10 * time.Second // in this time; more are followed at its end
)

// errDiscovering is why the tools of a server are not known yet.
var errDiscovering = errors.New("it has not said yet which tools it has")
