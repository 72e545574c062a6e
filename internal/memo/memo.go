// Package memo keeps values that were read or worked out before, up to a bound.
package memo

import "sync"

// Memo keeps values by their keys. When it is full, it forgets all of them: what it
// keeps can be had again. It is safe for concurrent use.
type Memo[K comparable, V any] struct {
	most int

	mu     sync.Mutex
	values map[K]V
}

// New makes a memo of at most so many values.
func New[K comparable, V any](most int) *Memo[K, V] {
	return &Memo[K, V]{most: most, values: map[K]V{}}
}

// Get is the value of a key; the zero one when it is not known.
func (m *Memo[K, V]) Get(key K) V {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.values[key]
}

// Put keeps the value of a key.
func (m *Memo[K, V]) Put(key K, value V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.put(key, value)
}

func (m *Memo[K, V]) put(key K, value V) {
	if _, known := m.values[key]; !known && len(m.values) >= m.most {
		clear(m.values)
	}
	m.values[key] = value
}

// Of is the value of a key, which is made once.
func (m *Memo[K, V]) Of(key K, makes func() V) V {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, known := m.values[key]; !known {
		m.put(key, makes())
	}
	return m.values[key]
}
