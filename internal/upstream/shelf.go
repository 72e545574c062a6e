package upstream

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"countersign.dev/internal/result"
)

// How long a catalogue is used, and how long a server that did not answer is
// left alone before it is asked again.
const (
	catalogueFresh = time.Minute
	catalogueUsed  = 10 * time.Minute // at most, while fresher ones are asked for behind
	catalogueRest  = 2 * time.Second
)

// shelf keeps what one server last told of its tools.
type shelf struct {
	mu     sync.Mutex
	tools  []result.ToolInfo // kept when the server goes away, so that its calls fail by its name
	heard  time.Time         // zero: must be asked before use
	failed error
	rest   time.Time // failed stands until then
	flight singleflight.Group
}

// known returns what was last heard, however long ago.
func (s *shelf) known() []result.ToolInfo {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tools
}

// need says what has to be done before the tools may be offered.
func (s *shelf) need(now time.Time) (ask, behind bool, failed error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch age := now.Sub(s.heard); {
	case now.Before(s.rest):
		return false, false, s.failed
	case s.heard.IsZero() || age > catalogueUsed:
		return true, false, nil
	default:
		return age > catalogueFresh, age > catalogueFresh, nil
	}
}

// forget makes the next listing ask the server.
func (s *shelf) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard = time.Time{}
}

func (s *shelf) keep(now time.Time, tools []result.ToolInfo, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed = err
	if err != nil {
		s.heard, s.rest = time.Time{}, now.Add(catalogueRest)
		return
	}
	s.tools, s.heard, s.rest = tools, now, time.Time{}
}

// refresh makes the server's catalogue usable, or says why it is not. A
// catalogue that is only a little old is used at once and asked for behind.
func (p *peer) refresh(ctx context.Context) error {
	ask, behind, failed := p.shelf.need(p.up.o.Now())
	if !ask || failed != nil {
		return failed
	}
	asked := p.shelf.flight.DoChan("", func() (any, error) { return nil, p.fetch(ctx) })
	if behind {
		return nil
	}
	select {
	case r := <-asked:
		return r.Err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// fetch asks the server for all its tools. It outlives the caller that began
// it, because others wait for the same answer.
func (p *peer) fetch(ctx context.Context) error {
	if !p.up.begin() {
		return errClosed
	}
	defer p.up.work.Done()
	ctx, cancel := p.up.bounded(context.WithoutCancel(ctx), p.Timeout)
	defer cancel()
	tools, err := p.remote.catalogue(ctx)
	p.shelf.keep(p.up.o.Now(), tools, err)
	if err != nil {
		p.up.o.Log.WarnContext(ctx, "catalogue could not be fetched", "server", p.Name, "error", err)
		return err
	}
	p.up.merge()
	return nil
}
