package elastic

import (
	"sync"

	"countersign.dev/internal/domain/codesearch/index"
)

// cacheBytes is how much of what was read of files is kept, about.
const cacheBytes = 64 << 20

// cache keeps documents of files. It begins anew when it is full.
type cache struct {
	mu    sync.Mutex
	docs  map[fileID]stored
	bytes int
}

// find returns the documents that are kept, with their texts if those are asked for,
// and which are not.
func (c *cache) find(files []fileID, text bool) (known []stored, unknown []fileID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range files {
		if d, ok := c.docs[f]; ok && (!text || d.text != nil) {
			known = append(known, d)
			continue
		}
		unknown = append(unknown, f)
	}
	return known, unknown
}

func (c *cache) add(docs []stored) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range docs {
		size := len(d.Analysis) + len(d.text)
		if old, ok := c.docs[d.at]; ok {
			size -= len(old.Analysis) + len(old.text)
		}
		if c.docs == nil || c.bytes+size > cacheBytes {
			c.docs, c.bytes, size = map[fileID]stored{}, 0, len(d.Analysis)+len(d.text)
		}
		c.docs[d.at] = d
		c.bytes += size
	}
}

// fileID is the document of a file in an index.
type fileID struct{ index, id string }

// stored is a document of a file as it is read. Its text is read on request only: it is
// the larger part, and few files of those that are ranked are shown.
type stored struct {
	at fileID
	index.Packed
	text []byte
}
