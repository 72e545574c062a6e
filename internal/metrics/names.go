package metrics

import (
	"regexp"
	"sync"
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
