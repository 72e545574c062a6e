package index

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"time"

	"countersign.dev/internal/domain/codesearch/linguist"
	"countersign.dev/internal/domain/codesearch/pieces"
	"countersign.dev/internal/domain/codesearch/postings"
)

// Index is an open index. It is safe for concurrent use until it is closed.
type Index struct {
	Meta   Meta
	Files  []File
	Chunks []Chunk

	Lengths     []uint16  // words of the chunks, as many as fit
	Average     float32   // of them, in the whole repository
	FileLengths []float32 // words of files, in parts of the average
	InFile      []int32   // the file of each chunk

	data   []byte // the file
	unmap  func() error
	parts  [sections][]byte
	terms  postings.Table
	stamp  os.FileInfo
	source string
}

// ErrVersion reports an index of another version of the format.
var ErrVersion = errors.New("the index has another version")

// Open opens an index file. Its error for another version says what to do.
func Open(file string) (*Index, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() < headerSize {
		return nil, ErrDamaged
	}
	data, unmap, err := mapFile(f, int(info.Size()))
	if err != nil {
		return nil, err
	}
	ix := &Index{data: data, unmap: unmap, stamp: info, source: file}
	if err := ix.load(); err != nil {
		_ = unmap()
		return nil, err
	}
	return ix, nil
}

// Close releases the file. Nothing of the index may be in use.
func (ix *Index) Close() error { return ix.unmap() }

// Current reports whether the file is still the one that was opened.
func (ix *Index) Current() bool {
	now, err := os.Stat(ix.source)
	return err != nil || os.SameFile(now, ix.stamp)
}

// Checksum is that of the file: indexes with the same one are the same.
func (ix *Index) Checksum() uint32 { return binary.LittleEndian.Uint32(ix.data[8:]) }

func (ix *Index) load() (err error) {
	defer func() {
		if recover() != nil { // lengths that do not fit, in spite of the checksum
			err = ErrDamaged
		}
	}()
	if string(ix.data[:4]) != magic {
		return ErrDamaged
	}
	if v := binary.LittleEndian.Uint32(ix.data[4:]); v != Version {
		return fmt.Errorf("%w: %d, and this program reads %d. Build it again with `countersign index`", ErrVersion, v, Version)
	}
	if crc32.Checksum(ix.data[12:], castagnoli) != binary.LittleEndian.Uint32(ix.data[8:]) {
		return ErrDamaged
	}
	for i := range ix.parts {
		offset, length := binary.LittleEndian.Uint64(ix.data[12+16*i:]), binary.LittleEndian.Uint64(ix.data[20+16*i:])
		ix.parts[i] = ix.data[offset : offset+length : offset+length]
	}
	if err := json.Unmarshal(ix.parts[sectionMeta], &ix.Meta); err != nil {
		return ErrDamaged
	}
	ix.read(ix.Meta.Files, ix.Meta.Chunks)
	return nil
}

// read reads what searches need in memory from the sections.
func (ix *Index) read(files, chunks int) {
	ix.terms = postings.NewTable(ix.parts[sectionTerms], ix.parts[sectionTexts], ix.parts[sectionPostings])
	ix.loadFiles(files)
	ix.loadChunks(chunks)
	ix.measure()
}

func (ix *Index) loadFiles(n int) {
	r := reader{ix.parts[sectionFiles]}
	ix.Files = make([]File, n)
	languages := map[string]string{} // one string for each
	for i := range ix.Files {
		f := &ix.Files[i]
		f.Path = r.text()
		language := r.bytes(r.int())
		known, ok := languages[string(language)]
		if !ok {
			known = string(language)
			languages[known] = known
		}
		f.Language = known
		f.Flags = linguist.Flag(r.bytes(1)[0])
		f.Lines, f.Size = r.int(), r.int()
		f.Modified = time.Unix(0, int64(r.int())).UTC()
		f.first, f.chunks, f.offset, f.packed = r.int(), r.int(), r.int(), r.int()
		copy(f.hash[:], r.bytes(hashSize))
		copy(f.blob[:], r.bytes(len(f.blob)))
	}
}

func (ix *Index) loadChunks(n int) {
	r, d := reader{ix.parts[sectionChunks]}, reader{ix.parts[sectionDefined]}
	ix.Chunks = make([]Chunk, n)
	for i := range ix.Chunks {
		c := &ix.Chunks[i]
		c.File, c.Line = int32(r.int()), int32(r.int())
		c.Last = c.Line + int32(r.int())
		c.Start = int32(r.int())
		c.End = c.Start + int32(r.int())
		c.Words, c.definitions = int32(r.int()), -1
		defined := r.int()
		if defined > 0 {
			c.definitions = int32(len(ix.parts[sectionDefined]) - len(d.b))
		}
		for range defined {
			d.skip()
		}
	}
}

// measure computes what a search reads of all chunks. It is apart from their other fields, because to wait for
// memory is most of what a search does.
func (ix *Index) measure() {
	ix.Lengths, ix.InFile, ix.FileLengths = make([]uint16, len(ix.Chunks)), make([]int32, len(ix.Chunks)), make([]float32, len(ix.Files))
	ix.Average = float32(max(1, ix.Meta.Words)) / float32(max(1, ix.Meta.Chunks))
	perFile := float32(max(1, ix.Meta.Words)) / float32(max(1, ix.Meta.Files))
	for i := range ix.Chunks {
		c := &ix.Chunks[i]
		ix.Lengths[i], ix.InFile[i] = uint16(min(c.Words, math.MaxUint16)), c.File
		ix.FileLengths[c.File] += float32(c.Words) / perFile
	}
}

// skip passes a definition.
func (r *reader) skip() {
	r.bytes(r.int())
	r.bytes(r.int())
	r.int()
	r.bytes(1)
}

// Definitions returns the names that a chunk declares.
func (ix *Index) Definitions(number int) (all []Definition) {
	start := ix.Chunks[number].definitions
	if start < 0 {
		return nil
	}
	end := int32(len(ix.parts[sectionDefined]))
	for _, c := range ix.Chunks[number+1:] {
		if c.definitions >= 0 {
			end = c.definitions
			break
		}
	}
	for r := (reader{ix.parts[sectionDefined][start:end]}); len(r.b) > 0; {
		all = append(all, r.definition())
	}
	return all
}

// packed is the compressed text of a file.
func (ix *Index) packed(f *File) []byte {
	return ix.parts[sectionSources][f.offset : f.offset+f.packed]
}

// Text returns the text of a file as it was indexed.
func (ix *Index) Text(f *File) ([]byte, error) { return ix.TextOf(nil, f, 0, f.Size) }

// TextOf returns the bytes of a file's text from one to before another, in the memory of a slice if that is enough. A
// part of a long text takes less time than all of it.
func (ix *Index) TextOf(memory []byte, f *File, from, to int) ([]byte, error) {
	text, err := pieces.Part(memory, ix.packed(f), from, to)
	if err != nil {
		return nil, ErrDamaged
	}
	return text, nil
}

// ---- terms

func (ix *Index) text(term uint32) []byte { return ix.terms.Text(int(term)) }

// Word finds a word's term.
func (ix *Index) Word(term string) (number int, ok bool) { return ix.find(term) }

// Defined finds the term of a name that is defined somewhere: see [words.Whole].
func (ix *Index) Defined(whole string) (number int, ok bool) { return ix.find(definedPrefix + whole) }

// PathWord finds the term of a part of paths. Its postings are numbers of files, with
// the payloads of paths: see [InFolder].
func (ix *Index) PathWord(term string) (number int, ok bool) { return ix.find(pathPrefix + term) }

func (ix *Index) find(text string) (number int, ok bool) { return ix.terms.Find(text) }

// Beginning returns the words that begin with a prefix, at most limit, in lexical order.
func (ix *Index) Beginning(prefix string, limit int) (numbers []int) {
	return ix.terms.Beginning(prefix, limit)
}

// TermText returns the text of a term's number.
func (ix *Index) TermText(number int) string { return string(ix.terms.Text(number)) }

// Frequency is how many chunks (for parts of paths: files) have a term.
func (ix *Index) Frequency(number int) int { return ix.terms.Frequency(number) }

// Postings walks over the places of a term, in order, and Posting is one of them.
type (
	Postings = postings.List[Payload]
	Posting  = postings.Posting[Payload]
)

// Postings returns the places of a term.
func (ix *Index) Postings(number int) Postings { return postings.Of[Payload](ix.terms.List(number)) }
