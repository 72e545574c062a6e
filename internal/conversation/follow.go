package conversation

import (
	"cmp"
	"context"
	"iter"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"countersign.dev/internal/fault"
)

const (
	idleTime = 15 * time.Second // without an event, before looking whether there is a turn that was cut off
	lookTime = time.Second / 2  // the same while a turn runs, or may run: with the time of a lease less than 5 s
)

// Follow yields the events of a log after an id, and each new one. A loop that is not
// left ends with an error, which is yielded last: the cause of ctx's end, EVENTS_GONE, or
// SERVICE_UNAVAILABLE when the service shuts down.
func (s *Service) Follow(ctx context.Context, l Log, after string) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		woken := make(chan struct{}, 1)
		f := s.follower(ctx, l, after, func() {
			select {
			case woken <- struct{}{}:
			default: // one wake-up is enough
			}
		})
		defer f.leave()
		for f.read(yield) {
			<-woken
		}
	}
}

// FollowFunc calls yield as a loop over [Service.Follow] does, but from a goroutine that
// exists only while there are events: thousands of idle readers take little memory. stop
// returns when yield is not being called any more; yield itself must not call it.
func (s *Service) FollowFunc(ctx context.Context, l Log, after string, yield func(Event, error) bool) (stop func()) {
	var (
		mu    sync.Mutex // of one reading
		f     *follower
		ended bool
		wakes atomic.Int64 // that no reading has answered
	)
	read := func() {
		mu.Lock()
		defer mu.Unlock()
		ended = ended || !f.read(yield)
	}
	wake := func() {
		if wakes.Add(1) > 1 {
			return // the goroutine that reads will read once more
		}
		go func() {
			for n := wakes.Load(); n > 0; n = wakes.Add(-n) {
				read()
			}
		}()
	}
	mu.Lock()
	f = s.follower(ctx, l, after, wake)
	mu.Unlock()
	wake()
	return func() {
		f.leave()
		mu.Lock()
		defer mu.Unlock()
		ended = true
	}
}

// follower is a place in a log. It decides what its reader gets next, and calls wake
// whenever that may be something.
type follower struct {
	service *Service
	ctx     context.Context
	log     Log
	after   string       // id of the last event that was read
	running bool         // a turn runs, or may run
	look    time.Time    // when to look for a turn that was cut off
	grown   atomic.Int64 // the highest number that an event is known to have
	changed atomic.Bool  // the log may have changed in another manner: it is read in any case
	timer   *time.Timer
	leave   func() // ends the wake-ups
}

// follower begins to call wake, which must not block.
func (s *Service) follower(ctx context.Context, l Log, after string, wake func()) *follower {
	f := &follower{service: s, ctx: ctx, log: l, after: after, running: true, look: time.Now().Add(lookTime)}
	f.timer = time.AfterFunc(lookTime, wake)
	f.changed.Store(true)
	unwatch := s.turns.events.logs.Watch(l.key, func(id string) { f.note(id); wake() }) // before the first read, so that no event is missed between
	left, down := context.AfterFunc(ctx, wake), context.AfterFunc(s.alive, wake)
	f.leave = func() { f.timer.Stop(); unwatch(); left(); down() }
	return f
}

// note records that the log has an event of that id, or has changed in another way.
func (f *follower) note(id string) {
	number := numberOf(id)
	if number == 0 {
		f.changed.Store(true)
		return
	}
	for known := f.grown.Load(); known < number && !f.grown.CompareAndSwap(known, number); {
		known = f.grown.Load()
	}
}

// numberOf is the number of an event; 0 for what is no id.
func numberOf(id string) int64 {
	number, _, _ := strings.Cut(id, "-")
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// read yields what there is, and reports whether more may follow.
func (f *follower) read(yield func(Event, error) bool) (more bool) {
	for {
		found, err := f.next()
		for _, e := range found {
			if f.after = e.ID; !yield(e, nil) {
				return false
			}
		}
		switch {
		case err != nil:
			yield(Event{}, err)
			return false
		case len(found) < readAhead:
			f.timer.Reset(time.Until(f.look))
			return true
		}
		f.changed.Store(true) // there may be more
	}
}

// next returns the next events, or none. When there have been none for a while it looks
// whether their turn was cut off, and writes its end.
func (f *follower) next() (found []Event, err error) {
	if err := f.end(); err != nil {
		return nil, err
	}
	now := time.Now()
	due := !now.Before(f.look)
	if !f.changed.Swap(false) && !due && f.grown.Load() <= numberOf(f.after) {
		return nil, nil // an earlier reading had the event of this wake-up
	}
	found, err = f.service.turns.events.read(f.ctx, f.log, f.after)
	switch {
	case err != nil:
	case len(found) > 0:
		f.running = f.log.conversation != "" && found[len(found)-1].Type != Done
		f.look = now.Add(waitFor(f.running))
	case due:
		f.running, err = f.service.recover(f.ctx, f.log)
		f.look = now.Add(waitFor(f.running))
	}
	if err != nil {
		err = cmp.Or(f.end(), err) // what ended the call
	}
	return found, err
}

// end returns why nothing more is read, or nil.
func (f *follower) end() error {
	if f.service.alive.Err() != nil {
		return fault.ServiceDown.New(fault.Maintenance).Suggest("The gateway is restarting. The answer can be picked up in a moment.")
	}
	return context.Cause(f.ctx)
}

// waitFor is how long to wait for an event before looking.
func waitFor(running bool) time.Duration {
	if running {
		return lookTime
	}
	return idleTime
}
