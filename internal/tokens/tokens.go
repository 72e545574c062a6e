// Package tokens counts the tokens of texts offline, as OpenAI's o200k_base
// vocabulary splits them. For the models that use it the count is exact; for any
// other vendor's it is an estimate, some per cent off in either direction.
//
// It knows no message and no model. Start with [Counter].
package tokens

import (
	"hash/maphash"
	"sync"
)

const (
	maxPiece  = 4 << 10 // bytes that are split at one time: blanks take quadratic time; a seam adds a token or two
	minCached = 64      // bytes; a shorter text is counted again
	maxCached = 8192    // texts whose count is remembered
)

// vocabulary takes 7 MB of the heap and some 20 ms, at the first text that is counted.
var vocabulary = sync.OnceValue(newWords)

// Counter counts tokens and remembers the counts of longer texts, by a hash of
// them. The zero value is ready, and safe for concurrent use.
type Counter struct {
	mu     sync.Mutex
	seed   maphash.Seed
	counts map[uint64]int
}

// Count returns the tokens of a text. It is never more than the text's bytes.
func (c *Counter) Count(text string) int {
	if len(text) < minCached {
		return count(text)
	}
	key, n, known := c.find(text)
	if known {
		return n
	}
	n = count(text)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.counts) >= maxCached {
		clear(c.counts)
	}
	c.counts[key] = n
	return n
}

func (c *Counter) find(text string) (key uint64, n int, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts == nil {
		c.seed, c.counts = maphash.MakeSeed(), make(map[uint64]int)
	}
	key = maphash.String(c.seed, text)
	n, known = c.counts[key]
	return key, n, known
}

func count(text string) (n int) {
	for len(text) > 0 {
		piece := text[:min(len(text), maxPiece)]
		n, text = n+vocabulary().count(piece), text[len(piece):]
	}
	return n
}
