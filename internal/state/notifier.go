package state

import (
	"context"
	"sync"

	"github.com/redis/go-redis/v9"
)

// notifier wakes the readers of a log. A reader that waits in Redis itself would
// hold a connection for as long as it waits; so one subscription per process
// receives the names of logs that grew, and the readers wait here.
type notifier struct {
	client  *redis.Client
	channel string // on which logs that grew are named

	mu      sync.Mutex
	waiting map[string]map[chan struct{}]struct{} // by log
	closed  bool
	sub     *redis.PubSub // nil until a reader waits
	done    chan struct{} // closed when the subscription's goroutine has ended
}

// watch returns a channel that receives when the log has grown, until leave is
// called.
func (n *notifier) watch(log string) (grown <-chan struct{}, leave func()) {
	own := make(chan struct{}, 1)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.waiting == nil {
		n.waiting = make(map[string]map[chan struct{}]struct{})
	}
	if n.waiting[log] == nil {
		n.waiting[log] = make(map[chan struct{}]struct{})
	}
	n.waiting[log][own] = struct{}{}
	return own, func() { n.leave(log, own) }
}

func (n *notifier) leave(log string, own chan struct{}) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.waiting[log], own)
	if len(n.waiting[log]) == 0 {
		delete(n.waiting, log)
	}
}

// notify never blocks: one pending notification is enough for a reader.
func (n *notifier) notify(log string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	wake(n.waiting[log])
}

// notifyAll wakes every reader.
func (n *notifier) notifyAll() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, readers := range n.waiting {
		wake(readers)
	}
}

func wake(readers map[chan struct{}]struct{}) {
	for grown := range readers {
		select {
		case grown <- struct{}{}:
		default:
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
				n.notify(m.Payload)
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
