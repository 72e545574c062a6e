package index

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/klauspost/compress/s2"

	"countersign.dev/internal/domain/codesearch/linguist"
	"countersign.dev/internal/domain/codesearch/pieces"
	"countersign.dev/internal/domain/codesearch/postings"
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

// meta implements [former].
func (r *remote) meta() Meta { return r.Meta }

// unchanged implements [former].
func (r *remote) unchanged(f found, proof func(old *File) bool) (Entry, bool) {
	i, ok := r.byPath[f.path]
	if !ok || !alike(&r.Files[i], f) || !proof(&r.Files[i]) {
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
	Path     string        `json:"path"`
	Language string        `json:"language,omitempty"`
	Flags    linguist.Flag `json:"flags"`
	Lines    int           `json:"lines"`
	Size     int           `json:"size"`
	Modified int64         `json:"modified"` // nanoseconds since 1970
	Hash     string        `json:"hash"`
	Blob     string        `json:"blob"` // git's
	Chunks   int           `json:"chunks"`
	Words    int           `json:"words"`
}

// MarshalJSON writes all that is known of the file but its chunks.
func (e *Entry) MarshalJSON() ([]byte, error) {
	chunks, words := e.extent()
	return json.Marshal(fileJSON{e.Path, e.Language, e.Flags, e.Lines, e.Size, e.Modified.UnixNano(), hex.EncodeToString(e.hash[:]), hex.EncodeToString(e.blob[:]), chunks, words})
}

// UnmarshalJSON reads what the entry of a file wrote.
func (f *File) UnmarshalJSON(text []byte) error {
	var j fileJSON
	if err := json.Unmarshal(text, &j); err != nil {
		return err
	}
	if j.Size < 0 || j.Size > maxFileSize {
		return errors.New("a file's size cannot be right")
	}
	*f = File{Path: j.Path, Language: j.Language, Flags: j.Flags, Lines: j.Lines, Size: j.Size, Modified: time.Unix(0, j.Modified).UTC(), chunks: j.Chunks, words: j.Words}
	sum, err := hex.DecodeString(j.Hash)
	if err != nil || len(sum) != hashSize {
		return errors.New("a file's hash cannot be read")
	}
	copy(f.hash[:], sum)
	blob, err := hex.DecodeString(j.Blob)
	if err != nil || len(blob) != len(f.blob) {
		return errors.New("git's name of a file cannot be read")
	}
	copy(f.blob[:], blob)
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
				if !yield(string(e.terms.text(post.term)), post.payload) {
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

// memory is an index of some of a repository's files. Its lengths are in parts of the
// averages of the whole repository.
func (m *merger) memory(files int) *Index {
	terms, texts, lists := m.sorted()
	ix := &Index{Meta: m.meta, unmap: func() error { return nil }}
	ix.parts = [sections][]byte{nil, m.files, m.chunks, m.defined, terms, texts, slices.Concat(lists...), slices.Concat(m.texts...)}
	ix.read(files, m.chunk)
	return ix
}

// Packed is a file with what [Entry.Pack] found in it.
type Packed struct {
	File
	Analysis []byte
}

// Partial is an index for a few words and names: other terms are not in the index, and
// its files have no text until SetText gives them theirs.
func Partial(meta Meta, files []Packed, terms, names []string) (*Index, error) {
	m := newMerger(meta)
	m.wanted = map[string]bool{}
	for _, term := range terms {
		m.wanted[term], m.wanted[pathPrefix+term] = true, true
	}
	for _, name := range names {
		m.wanted[definedPrefix+name] = true
	}
	for i, f := range files {
		e, err := unpack(f.File, f.Analysis, func(term string) bool { return m.wanted[term] })
		if err != nil {
			return nil, err
		}
		m.add(i, &e)
	}
	return m.memory(len(files)), nil
}

// HasText reports whether a file has its text.
func (ix *Index) HasText(file int) bool { return ix.Files[file].packed > 0 }

// SetText gives a file its compressed text.
func (ix *Index) SetText(file int, text []byte) error {
	f := &ix.Files[file]
	if size, err := pieces.Len(text); err != nil || size != f.Size {
		return ErrDamaged
	}
	f.offset, f.packed = len(ix.parts[sectionSources]), len(text)
	ix.parts[sectionSources] = append(ix.parts[sectionSources], text...)
	return nil
}

// Dictionary counts the chunks of a repository by their words. It is for stores that do
// not hold all postings where the ranking runs.
type Dictionary map[string]int

// Add counts the chunks of a file; Remove takes them away again.
func (d Dictionary) Add(e *Entry) { d.count(e, 1) }

// Remove is described at Add.
func (d Dictionary) Remove(p Packed) error {
	e, err := unpack(p.File, p.Analysis, func(string) bool { return true })
	if err == nil {
		d.count(&e, -1)
	}
	return err
}

func (d Dictionary) count(e *Entry, n int) {
	for _, c := range e.Contents() {
		for term := range c.Terms {
			if d[term] += n; d[term] == 0 {
				delete(d, term)
			}
		}
	}
}

// Pack writes the words in order.
func (d Dictionary) Pack() []byte {
	b := binary.AppendUvarint(nil, uint64(len(d)))
	for _, word := range slices.Sorted(maps.Keys(d)) {
		b = binary.AppendUvarint(appendText(b, word), uint64(d[word]))
	}
	return s2.Encode(nil, b)
}

// UnpackDictionary reads what Pack wrote.
func UnpackDictionary(packed []byte) (Dictionary, error) {
	d := Dictionary{}
	err := eachWord(packed, func(word []byte, n int) { d[string(word)] = n })
	return d, err
}

// Words is an index that has no files, and of each word only how many chunks have it.
func Words(packed []byte) (*Index, error) {
	ix := &Index{unmap: func() error { return nil }}
	var table, texts []byte
	err := eachWord(packed, func(word []byte, n int) {
		table = postings.AppendTerm(table, uint32(len(texts)), 0, uint32(n))
		texts = append(texts, word...)
	})
	ix.parts[sectionTerms], ix.parts[sectionTexts] = slices.Clip(table), slices.Clip(texts)
	ix.read(0, 0)
	return ix, err
}

// maxDictionary is how many bytes the words of a repository have at most.
const maxDictionary = 1 << 30

func eachWord(packed []byte, fn func(word []byte, n int)) (err error) {
	defer func() {
		if recover() != nil { // lengths that do not fit
			err = ErrDamaged
		}
	}()
	if size, err := s2.DecodedLen(packed); err != nil || size > maxDictionary {
		return ErrDamaged
	}
	b, err := s2.Decode(nil, packed)
	if err != nil {
		return ErrDamaged
	}
	r := reader{b}
	for range r.atMost(len(b)) {
		word := r.bytes(r.int())
		fn(word, r.int())
	}
	if len(r.b) > 0 {
		return ErrDamaged
	}
	return nil
}
