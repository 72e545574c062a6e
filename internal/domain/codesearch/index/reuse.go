package index

import (
	"time"

	"countersign.dev/internal/domain/codesearch/linguist"
)

// reusable is an index whose files an update may take over. A nil one has none.
type reusable struct {
	ix     *Index
	byPath map[string]int
	byHash map[[hashSize]byte]int
}

// quietTime is how long before the index a file must have been changed for its
// time and size to prove that it is the same: a change right after it was read can
// have the same time. A file that was put into the place of another may have the other's
// time and size, as those of archives have, but its own time of change.
const quietTime = 2 * time.Second

func reusableOf(ix *Index) *reusable {
	if ix == nil {
		return nil
	}
	r := &reusable{ix: ix, byPath: map[string]int{}, byHash: map[[hashSize]byte]int{}}
	for i := range ix.Files {
		r.byPath[ix.Files[i].Path] = i
		r.byHash[ix.Files[i].hash] = i
	}
	return r
}

// meta implements [former].
func (r *reusable) meta() Meta {
	if r == nil {
		return Meta{}
	}
	return r.ix.Meta
}

// unchanged finds a file by its path, time and size, where that or more is proof.
func (r *reusable) unchanged(f found, proof func(old *File) bool) (Entry, bool) {
	if r == nil {
		return Entry{}, false
	}
	i, ok := r.byPath[f.path]
	if !ok || !alike(&r.ix.Files[i], f) || !proof(&r.ix.Files[i]) {
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

// alike reports whether a file has the time and size of the one that was found.
func alike(old *File, f found) bool {
	return old.Size == int(f.size) && old.Modified.Equal(f.modified)
}

// proves reports whether an index of a time can prove by a file's latest time that the file is the same.
func proves(indexed, latest time.Time) bool { return latest.Add(quietTime).Before(indexed) }

// moveTo makes the file the one that was found elsewhere with the same text.
func (f *File) moveTo(to found) {
	f.Flags = f.Flags&^linguist.PathFlags(f.Path) | linguist.PathFlags(to.path) // what the text decides stays
	f.Path, f.Modified = to.path, to.modified
}

// take makes the entry of a file whose contents are those of one in the old index.
func (r *reusable) take(i int, f found) Entry {
	e := Entry{File: r.ix.Files[i], Kept: true, from: i}
	for _, c := range r.ix.Chunks[e.first : e.first+e.chunks] {
		e.words += int(c.Words)
	}
	if e.Path != f.path {
		e.moveTo(f)
	}
	e.Modified = f.modified
	return e
}

// fill fills the entries that were taken. Only an index that is written needs that, and
// it takes much longer than to see that nothing changed.
func (r *reusable) fill(entries []Entry) {
	if r == nil {
		return
	}
	posts := r.ix.posts()
	for i := range entries {
		e := &entries[i]
		if !e.Kept {
			continue
		}
		old := &r.ix.Files[e.from]
		e.Kept, e.text, e.terms = false, r.ix.packed(old), r.ix
		for c := old.first; c < old.first+old.chunks; c++ {
			e.posts = append(e.posts, posts[c]...)
			e.pieces = append(e.pieces, piece{Chunk: r.ix.Chunks[c], definitions: r.ix.Definitions(c), posts: len(e.posts)})
		}
	}
}

// posts are those of all words, by chunk.
func (ix *Index) posts() [][]post {
	all := make([][]post, len(ix.Chunks))
	for term := range ix.terms.Len() {
		if isWord(ix.text(uint32(term))) {
			for p := ix.Postings(term); p.Next(); {
				all[p.Chunk] = append(all[p.Chunk], post{uint32(term), p.Payload})
			}
		}
	}
	return all
}
