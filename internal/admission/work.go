package admission

import (
	"context"
	"sync"
	"time"

	"countersign.dev/internal/access"
)

// Work is what a process does for one request or one turn of a person, in any
// number of goroutines. It takes one slot, and none while one of them waits for
// something outside: a server of the same process may need that slot to answer.
// A nil *Work is always admitted.
type Work struct {
	queue *Queue

	mu       sync.Mutex
	owner    access.Owner  // zero: not known yet
	ticket   *ticket       // nil: it has no slot
	own      ticket        // that it enters with, again and again
	entering chan struct{} // closed when the queue has decided; nil: it waits for no slot
	outside  int           // goroutines that wait for something outside
	ended    bool
	answered func(bytes int64) // nil: nothing
	opened   []access.Owner    // whose open requests it counts among: its own, and those that were made for it
}

// Work returns work that has not begun and belongs to no person yet.
func (q *Queue) Work() *Work {
	if q == nil {
		return nil
	}
	return &Work{queue: q}
}

// For says whose work it is. Before that it is not admitted, and waits for nothing.
func (w *Work) For(o access.Owner) *Work {
	if w != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.owner = o
	}
	return w
}

// OnEnd calls do with the bytes of the answer when it has been given.
func (w *Work) OnEnd(do func(answer int64)) {
	if w != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.answered = do
	}
}

// Begin waits until the work is admitted, for as long as ctx lives.
func (w *Work) Begin(ctx context.Context) error { return w.begin(ctx, 0) }

// Admit is Begin for a request, which is refused when it has waited too long:
// RATE_LIMITED.
func (w *Work) Admit(ctx context.Context) error {
	if w == nil {
		return nil
	}
	return w.begin(ctx, w.queue.o.Patience)
}

func (w *Work) begin(ctx context.Context, patience time.Duration) error {
	for w != nil {
		w.mu.Lock()
		if w.ticket != nil || w.outside > 0 || w.ended || w.owner == (access.Owner{}) {
			w.mu.Unlock()
			return nil
		}
		if w.entering == nil {
			return w.enter(ctx, patience)
		}
		entering := w.entering
		w.mu.Unlock()
		select {
		case <-entering:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// enter takes a slot, or waits in the queue. The work is locked, and unlocked while it
// waits and at the end.
func (w *Work) enter(ctx context.Context, patience time.Duration) error {
	defer w.mu.Unlock()
	switch admitted, err := w.queue.line(w.owner, &w.own); {
	case err != nil:
		return err
	case admitted:
		w.ticket = &w.own
		return nil
	}
	w.entering = make(chan struct{})
	w.mu.Unlock()
	err := w.queue.await(ctx, &w.own, patience)
	w.mu.Lock()
	close(w.entering)
	if w.entering = nil; err == nil {
		w.ticket = &w.own
	}
	if w.outside > 0 || w.ended {
		w.pause()
	}
	return err
}

// End ends the work for good.
func (w *Work) End() {
	if w != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.ended = true
		w.pause()
	}
}

// Open counts the work as a request of its owner that is open until its handler has
// ended, however slowly its client sends and reads. Over the owner's share of all that
// may be open it is RATE_LIMITED.
func (w *Work) Open() error {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	held, ok := w.queue.open.take(w.owner)
	if ok {
		w.opened = append(w.opened, w.owner)
		return nil
	}
	return w.queue.refused(openLimit, "%d of your requests are open, and this server has no place for another one.", held).
		Suggest("Read the answers of those that are open, or wait a moment, and try again.")
}

// Streams says that the work is a stream from now on: its events are sent one after
// the other, and streams have a limit of their own.
func (w *Work) Streams() {
	if w != nil {
		w.close(nil)
	}
}

// close ends the count of a request. One that was made for an outer request is counted
// until that one ends, because the outer answer contains its answer.
func (w *Work) close(outer *Work) {
	w.mu.Lock()
	opened := w.opened
	w.opened = nil
	w.mu.Unlock()
	if outer != nil {
		outer.mu.Lock()
		defer outer.mu.Unlock()
		outer.opened = append(outer.opened, opened...)
		return
	}
	for _, o := range opened {
		w.queue.open.leave(o)
	}
}

// goes and comes count the goroutines that are outside.
func (w *Work) goes() {
	if w != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.outside++
		w.pause()
	}
}

func (w *Work) comes() {
	if w != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.outside--
	}
}

func (w *Work) pause() {
	if w.ticket != nil {
		w.queue.leave(w.ticket)
		w.ticket = nil
	}
}

type workKey struct{}

// held is a context of work.
type held struct {
	context.Context
	work *Work
}

// Value implements context.Context.
func (h *held) Value(key any) any {
	if _, asked := key.(workKey); asked {
		return h.work
	}
	return h.Context.Value(key)
}

// With returns a context of work.
func With(ctx context.Context, w *Work) context.Context { return &held{ctx, w} }

// From returns the work of a context, or nil.
func From(ctx context.Context) *Work {
	w, _ := ctx.Value(workKey{}).(*Work)
	return w
}

// Outside gives the slot of a context's work back while a goroutine waits for a
// store, a server or a client. back ends that, and waits for a slot.
func Outside(ctx context.Context) (back func()) {
	w := From(ctx)
	w.goes()
	return func() {
		w.comes()
		_ = w.Begin(ctx) // when ctx has ended, so has what follows
	}
}

// Bounded is [Outside] for a call to a store, with a deadline when ctx has none. The
// call ends with the function that is returned.
func Bounded(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	back := Outside(ctx)
	if _, ok := ctx.Deadline(); ok {
		return ctx, back
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	return limited, func() { cancel(); back() }
}
