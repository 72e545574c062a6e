package metrics

import (
	"regexp"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

const (
	maxNames = 1000    // of tools and codes in one process
	other    = "other" // for the rest, and for what is no name
)

// nameShape is that of tools and codes.
var nameShape = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{0,63}$`)

// names bounds the values of labels that other servers choose: the first
// maxNames that look like a name are kept, all others are one.
type names struct {
	mu    sync.RWMutex
	known map[string]struct{}
}

func (n *names) bounded(name string) string {
	n.mu.RLock()
	_, known := n.known[name]
	n.mu.RUnlock()
	if known {
		return name
	}
	if !nameShape.MatchString(name) {
		return other
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.known) >= maxNames {
		return other
	}
	if n.known == nil {
		n.known = make(map[string]struct{})
	}
	n.known[name] = struct{}{}
	return name
}

// counts finds counters by their labels in one step, where the library bounds and hashes
// each label.
type counts[L comparable] struct {
	mu    sync.RWMutex
	known map[L]prometheus.Counter
}

// of returns the counter of labels. find has it, and says whether it may be kept: labels
// of which there is no bounded number are not.
func (c *counts[L]) of(labels L, find func() (counter prometheus.Counter, bounded bool)) prometheus.Counter {
	c.mu.RLock()
	counter := c.known[labels]
	c.mu.RUnlock()
	if counter != nil {
		return counter
	}
	counter, bounded := find()
	if bounded {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.known == nil {
			c.known = make(map[L]prometheus.Counter)
		}
		c.known[labels] = counter
	}
	return counter
}
