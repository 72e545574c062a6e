package state

import (
	"context"
	"sync"

	"github.com/redis/go-redis/v9"
)

// bells wakes the readers of a log. A reader that waits in Redis itself would
// take a connection for as long as it waits; so one subscription per process
// hears which logs grew, and the readers wait here.
type bells struct {
	mu sync.Mutex
	of map[string]map[chan struct{}]struct{}
}

// attend returns a bell that rings when the log has grown, until leave is called.
func (b *bells) attend(log string) (bell <-chan struct{}, leave func()) {
	own := make(chan struct{}, 1)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.of == nil {
		b.of = make(map[string]map[chan struct{}]struct{})
	}
	if b.of[log] == nil {
		b.of[log] = make(map[chan struct{}]struct{})
	}
	b.of[log][own] = struct{}{}
	return own, func() { b.leave(log, own) }
}

func (b *bells) leave(log string, own chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.of[log], own)
	if len(b.of[log]) == 0 {
		delete(b.of, log)
	}
}

// ring never waits: a bell that has not been heard yet need not ring twice.
func (b *bells) ring(log string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for bell := range b.of[log] {
		select {
		case bell <- struct{}{}:
		default:
		}
	}
}

// listener is the subscription; its goroutine ends with close.
type listener struct {
	sub  *redis.PubSub
	done chan struct{}
}

// listen begins to hear bells, once per Redis and not before somebody waits.
func (r *Redis) listen() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || r.listening != nil {
		return
	}
	l := &listener{sub: r.client.Subscribe(context.Background(), r.key(bellName)), done: make(chan struct{})}
	r.listening = l
	go func() {
		defer close(l.done)
		for m := range l.sub.Channel() {
			r.bells.ring(m.Payload)
		}
	}()
}

func (l *listener) close() error {
	if l == nil {
		return nil
	}
	err := l.sub.Close()
	<-l.done
	return err
}
