package conversation

import (
	"context"
	"sync"
	"time"
)

// Delivery hands the events of a log to a reader. It has a goroutine only while there
// are events to read, so thousands of idle readers take little memory.
type Delivery struct {
	service *Service
	ctx     context.Context
	log     Log
	deliver func(Event, error) bool
	leave   []func()

	// Of the goroutine that reads.
	after   string
	running bool // a turn runs, or may run

	mu    sync.Mutex
	awake bool // a goroutine reads
	again bool // it looks once more before it ends
	due   bool // it looks whether a turn was cut off
	ended bool
	timer *time.Timer
	work  sync.WaitGroup
}

// Deliver is [Service.Follow] for readers that wait most of the time: deliver gets each
// event after an id, one after the other, and at the end an error, also when ctx has
// ended. It ends, too, when deliver returns false. The caller must call Stop.
func (s *Service) Deliver(ctx context.Context, l Log, after string, deliver func(Event, error) bool) *Delivery {
	d := &Delivery{service: s, ctx: ctx, log: l, deliver: deliver, after: after, running: true}
	d.mu.Lock()
	d.timer = time.AfterFunc(waitFor(true), func() { d.wake(true) })
	d.mu.Unlock()
	look := func() { d.wake(false) }
	unwatch := s.turns.events.logs.Watch(l.key, look) // before the first read, so that no event is missed between
	left, down := context.AfterFunc(ctx, look), context.AfterFunc(s.alive, look)
	d.leave = []func(){unwatch, func() { left() }, func() { down() }}
	d.wake(false)
	return d
}

// Stop ends the delivery, and returns when no event is being delivered any more.
// deliver itself must not call it.
func (d *Delivery) Stop() {
	d.mu.Lock()
	d.ended = true
	d.timer.Stop()
	d.mu.Unlock()
	for _, leave := range d.leave {
		leave()
	}
	d.work.Wait()
}

// wake begins to read, or lets the goroutine that reads look once more.
func (d *Delivery) wake(due bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.due = d.due || due
	switch {
	case d.ended:
	case d.awake:
		d.again = true
	default:
		d.awake = true
		d.work.Go(d.read)
	}
}

// read delivers what there is.
func (d *Delivery) read() {
	for {
		found, err := d.next()
		for _, e := range found {
			if !d.deliver(e, nil) {
				d.end()
				return
			}
			d.after, d.running = e.ID, e.Type != Done && d.log.conversation != ""
		}
		if err != nil {
			d.end()
			d.deliver(Event{}, err)
			return
		}
		if len(found) < readAhead && d.rest() {
			return
		}
	}
}

// next reads events, and looks after a turn that was cut off when there are none and
// it is time.
func (d *Delivery) next() (found []Event, err error) {
	if err = d.ctx.Err(); err == nil && d.service.alive.Err() == nil {
		found, err = d.service.turns.events.read(d.ctx, d.log, d.after, 0)
	}
	if err == nil && len(found) == 0 && d.isDue() {
		d.running, err = d.service.recover(d.ctx, d.log)
	}
	if d.service.alive.Err() != nil {
		return found, errRestart()
	}
	return found, err
}

func (d *Delivery) isDue() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	due := d.due
	d.due = false
	return due
}

// rest ends the goroutine that reads, unless it has to look once more.
func (d *Delivery) rest() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.ended:
		return true
	case d.again:
		d.again = false
		return false
	}
	d.awake = false
	d.timer.Reset(waitFor(d.running))
	return true
}

func (d *Delivery) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ended = true
	d.timer.Stop()
}
