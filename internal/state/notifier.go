package state

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"
)

// grownChannel is where logs that grew are named, after the id of the new entry.
const grownChannel = "grown"

// notifier wakes the readers of a log. A reader that waits in Redis itself would
// hold a connection for as long as it waits; so one subscription per process
// receives the names of logs that grew, and the readers wait here.
type notifier struct {
	client  *redis.Client
	channel string // on which logs that grew are named

	mu      sync.Mutex
	waiting map[string][]*waiter // by log; there are thousands of logs with one reader
	closed  bool
	sub     *redis.PubSub // nil until a reader waits
	done    chan struct{} // closed when the subscription's goroutine has ended
}

// waiter is a reader of a log.
type waiter struct{ wake func(id string) }

// watch calls wake, which must not block, with the id of each entry that the log has
// grown by, and with "" when that is not known, until leave is called.
func (n *notifier) watch(log string, wake func(id string)) (leave func()) {
	own := &waiter{wake}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.waiting == nil {
		n.waiting = make(map[string][]*waiter)
	}
	n.waiting[log] = append(n.waiting[log], own)
	return func() { n.leave(log, own) }
}

func (n *notifier) leave(log string, own *waiter) {
	n.mu.Lock()
	defer n.mu.Unlock()
	others := slices.DeleteFunc(n.waiting[log], func(w *waiter) bool { return w == own })
	if n.waiting[log] = others; len(others) == 0 {
		delete(n.waiting, log)
	}
}

func (n *notifier) notify(log, id string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, w := range n.waiting[log] {
		w.wake(id)
	}
}

// notifyAll wakes every reader.
func (n *notifier) notifyAll() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, readers := range n.waiting {
		for _, w := range readers {
			w.wake("")
		}
	}
}

// subscribe begins to receive, once, and not before a reader waits. Its
// goroutine ends with close.
func (n *notifier) subscribe() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed || n.sub != nil {
		return
	}
	n.sub, n.done = n.client.Subscribe(context.Background(), n.channel), make(chan struct{})
	go func() {
		defer close(n.done)
		for received := range n.sub.ChannelWithSubscriptions() {
			switch m := received.(type) {
			case *redis.Message:
				id, log, _ := strings.Cut(m.Payload, " ")
				n.notify(log, id)
			case *redis.Subscription: // begun, or again after a lost connection: what was named before was missed
				n.notifyAll()
			}
		}
	}()
}

// close ends the subscription. A second close does nothing.
func (n *notifier) close() error {
	n.mu.Lock()
	first, sub := !n.closed, n.sub
	n.closed = true
	n.mu.Unlock()
	if !first || sub == nil {
		return nil
	}
	err := sub.Close()
	<-n.done
	return err
}
