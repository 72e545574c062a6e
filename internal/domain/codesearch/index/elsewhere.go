package index

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"time"

	"countersign.dev/internal/domain/codesearch/words"
)

// Before is an index that is kept elsewhere than in a file.
type Before struct {
	Meta  Meta
	Files []File                    // as their JSON has them
	Take  func(File) (Entry, error) // reads one of them: see [Unpack]
}

// Scan analyses what changed in a source since it was indexed before. Entries are in
// the order of the files of an index. Those of files that are as before are only
// marked as kept.
func Scan(ctx context.Context, src Source, before Before, o Options) (Report, []Entry, error) {
	began := time.Now()
	old := &remote{Before: before, byPath: map[string]int{}, byHash: map[[hashSize]byte]int{}}
	for i := range before.Files {
		old.byPath[before.Files[i].Path] = i
		old.byHash[before.Files[i].hash] = i
	}
	r, entries, err := scan(ctx, src, old, o)
	r.Took = time.Since(began)
	return r, entries, err
}

// remote is the former index of a scan.
type remote struct {
	Before
	byPath map[string]int
	byHash map[[hashSize]byte]int
}

// unchanged implements [former].
func (r *remote) unchanged(f found) (Entry, bool) {
	i, ok := r.byPath[f.path]
	if !ok || !untouched(&r.Files[i], f, r.Meta.Indexed) {
		return Entry{}, false
	}
	return Entry{File: r.Files[i], Kept: true}, true
}

// same implements [former]. A file that cannot be taken is analysed.
func (r *remote) same(f found, language string, src []byte) (Entry, bool) {
	i, ok := r.byHash[hashOf(src)]
	if !ok || r.Files[i].Language != language {
		return Entry{}, false
	}
	e, err := r.Take(r.Files[i])
	if err != nil {
		return Entry{}, false
	}
	e.moveTo(f)
	return e, true
}

// fileJSON is a file as other stores keep it.
type fileJSON struct {
	Path     string `json:"path"`
	Language string `json:"language,omitempty"`
	Flags    Flag   `json:"flags"`
	Lines    int    `json:"lines"`
	Size     int    `json:"size"`
	Modified int64  `json:"modified"` // nanoseconds since 1970
	Hash     string `json:"hash"`
	Chunks   int    `json:"chunks"`
	Words    int    `json:"words"`
}

// MarshalJSON writes all that is known of the file but its chunks.
func (e *Entry) MarshalJSON() ([]byte, error) {
	chunks, words := e.extent()
	return json.Marshal(fileJSON{e.Path, e.Language, e.Flags, e.Lines, e.Size, e.Modified.UnixNano(), hex.EncodeToString(e.hash[:]), chunks, words})
}

// UnmarshalJSON reads what the entry of a file wrote.
func (f *File) UnmarshalJSON(text []byte) error {
	var j fileJSON
	if err := json.Unmarshal(text, &j); err != nil {
		return err
	}
	*f = File{Path: j.Path, Language: j.Language, Flags: j.Flags, Lines: j.Lines, Size: j.Size, Modified: time.Unix(0, j.Modified).UTC(), chunks: j.Chunks, words: j.Words}
	sum, err := hex.DecodeString(j.Hash)
	if err != nil || len(sum) != hashSize {
		return errors.New("a file's hash cannot be read")
	}
	copy(f.hash[:], sum)
	return nil
}

// Contents are what a chunk is found by.
type Contents struct {
	Terms   iter.Seq2[string, Payload]
	Defined []string // names, as [words.Whole] writes them
}

// Contents returns what each chunk of an entry is found by.
func (e *Entry) Contents() (all []Contents) {
	from := 0
	for _, p := range e.pieces {
		posts := e.posts[from:p.posts]
		from = p.posts
		c := Contents{Terms: func(yield func(string, Payload) bool) {
			for _, post := range posts {
				if !yield(e.terms.text(post.term), post.payload) {
					return
				}
			}
		}}
		for _, d := range p.definitions {
			c.Defined = append(c.Defined, words.Whole(d.Name))
		}
		all = append(all, c)
	}
	return all
}

// Memory makes an index of some of a repository's files. Its lengths are in parts of
// the averages of the whole repository, which meta describes.
func Memory(meta Meta, entries []Entry) *Index {
	m := merge(meta, entries)
	terms, texts, postings := m.sorted()
	ix := &Index{Meta: meta, unmap: func() error { return nil }}
	ix.parts = [sections][]byte{nil, m.files, m.chunks, m.defined, terms, texts, slices.Concat(postings...), slices.Concat(m.texts...)}
	ix.read(len(entries), m.chunk)
	return ix
}
