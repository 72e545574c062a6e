package index

import (
	"time"
)

// reusable is an index whose files an update may take over. A nil one has none.
type reusable struct {
	ix     *Index
	byPath map[string]int
	byHash map[[hashSize]byte]int
	posts  [][]post // by chunk
}

// quietTime is how long before the index a file must have been changed for its
// time and size to prove that it is the same: a change right after it was read can
// have the same time.
const quietTime = 2 * time.Second

func reusableOf(ix *Index) *reusable {
	if ix == nil {
		return nil
	}
	r := &reusable{ix: ix, byPath: map[string]int{}, byHash: map[[hashSize]byte]int{}, posts: make([][]post, ix.Meta.Chunks)}
	for i := range ix.Files {
		r.byPath[ix.Files[i].Path] = i
		r.byHash[ix.Files[i].hash] = i
	}
	for term := range ix.terms {
		if isWord(ix.text(uint32(term))) {
			for p := ix.Postings(term); p.Next(); {
				r.posts[p.Chunk] = append(r.posts[p.Chunk], post{uint32(term), p.Payload})
			}
		}
	}
	return r
}

// unchanged finds a file by its path, time and size, without reading it.
func (r *reusable) unchanged(f found) (Entry, bool) {
	if r == nil {
		return Entry{}, false
	}
	i, ok := r.byPath[f.path]
	if !ok {
		return Entry{}, false
	}
	if !untouched(&r.ix.Files[i], f, r.ix.Meta.Indexed) {
		return Entry{}, false
	}
	return r.take(i, f), true
}

// same finds a file by its text, under any path with the same language.
func (r *reusable) same(f found, language string, src []byte) (Entry, bool) {
	if r == nil {
		return Entry{}, false
	}
	i, ok := r.byHash[hashOf(src)]
	if !ok || r.ix.Files[i].Language != language {
		return Entry{}, false
	}
	return r.take(i, f), true
}

// untouched reports whether a file that was indexed at a time is the one that was
// found there, by its time and size alone.
func untouched(old *File, f found, indexed time.Time) bool {
	return old.Size == int(f.size) && old.Modified.Equal(f.modified) && f.modified.Add(quietTime).Before(indexed)
}

// moveTo makes the file the one that was found elsewhere with the same text.
func (f *File) moveTo(to found) {
	var r rules
	f.Flags = f.Flags&^r.pathFlags(f.Path) | r.pathFlags(to.path) // what the text decides stays
	f.Path, f.Modified = to.path, to.modified
}

// take makes the entry of a file from the old index.
func (r *reusable) take(i int, f found) Entry {
	old := r.ix.Files[i]
	e := Entry{File: old, text: r.ix.packed(&old), terms: r.ix}
	e.moveTo(f)
	for c := old.first; c < old.first+old.chunks; c++ {
		e.posts = append(e.posts, r.posts[c]...)
		e.pieces = append(e.pieces, piece{Chunk: r.ix.Chunks[c], definitions: r.ix.Definitions(c), posts: len(e.posts)})
	}
	return e
}
