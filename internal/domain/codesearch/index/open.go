package index

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"sort"
	"strings"
	"time"

	"github.com/klauspost/compress/s2"
)

// Index is an open index. It is safe for concurrent use until it is closed.
type Index struct {
	Meta   Meta
	Files  []File
	Chunks []Chunk

	Sizes       []Size    // of the chunks
	FileLengths []float32 // words of files, in parts of the average

	data   []byte // the file
	unmap  func() error
	parts  [sections][]byte
	terms  []struct{} // as many as there are, for ranges
	stamp  os.FileInfo
	source string
}

// Size is what a search reads of each chunk that has a word: a chunk's other fields are
// farther apart in memory.
type Size struct {
	File   int32
	Length float32 // words, in parts of the average
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
	ix.terms = make([]struct{}, len(ix.parts[sectionTerms])/termSize)
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
		f.Flags = Flag(r.bytes(1)[0])
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

// measure computes the lengths that scores are divided by, in parts of the averages
// of the repository.
func (ix *Index) measure() {
	ix.Sizes, ix.FileLengths = make([]Size, len(ix.Chunks)), make([]float32, len(ix.Files))
	perChunk, perFile := float32(max(1, ix.Meta.Words))/float32(max(1, ix.Meta.Chunks)), float32(max(1, ix.Meta.Words))/float32(max(1, ix.Meta.Files))
	for i := range ix.Chunks {
		c := &ix.Chunks[i]
		ix.Sizes[i] = Size{c.File, float32(c.Words) / perChunk}
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
func (ix *Index) Text(f *File) ([]byte, error) { return s2.Decode(nil, ix.packed(f)) }

// ---- terms

func (ix *Index) term(i int) (text string) {
	table, texts := ix.parts[sectionTerms], ix.parts[sectionTexts]
	start := binary.LittleEndian.Uint32(table[i*termSize:])
	end := uint32(len(texts))
	if i+1 < len(ix.terms) {
		end = binary.LittleEndian.Uint32(table[(i+1)*termSize:])
	}
	return string(texts[start:end])
}

func (ix *Index) text(term uint32) string { return ix.term(int(term)) }

// Word finds a word's term.
func (ix *Index) Word(term string) (number int, ok bool) { return ix.find(term) }

// Defined finds the term of a name that is defined somewhere: see [words.Whole].
func (ix *Index) Defined(whole string) (number int, ok bool) { return ix.find(definedPrefix + whole) }

// PathWord finds the term of a part of paths. Its postings are numbers of files, with
// the payloads of paths: see [InFolder].
func (ix *Index) PathWord(term string) (number int, ok bool) { return ix.find(pathPrefix + term) }

func (ix *Index) find(text string) (number int, ok bool) {
	i := sort.Search(len(ix.terms), func(i int) bool { return ix.term(i) >= text })
	return i, i < len(ix.terms) && ix.term(i) == text
}

// Beginning returns the words that begin with a prefix, at most limit, in lexical order.
func (ix *Index) Beginning(prefix string, limit int) (numbers []int) {
	first := sort.Search(len(ix.terms), func(i int) bool { return ix.term(i) >= prefix })
	for i := first; i < len(ix.terms) && len(numbers) < limit && strings.HasPrefix(ix.term(i), prefix); i++ {
		numbers = append(numbers, i)
	}
	return numbers
}

// TermText returns the text of a term's number.
func (ix *Index) TermText(number int) string { return ix.term(number) }

// Frequency is how many chunks (for parts of paths: files) have a term.
func (ix *Index) Frequency(number int) int {
	return int(binary.LittleEndian.Uint32(ix.parts[sectionTerms][number*termSize+12:]))
}

// Postings walks over the places of a term, in order.
type Postings struct {
	Chunk   int // or file, for parts of paths
	Payload Payload

	all []byte
	at  int // of the next place in all
}

// Postings returns the places of a term.
func (ix *Index) Postings(number int) Postings {
	table, all := ix.parts[sectionTerms], ix.parts[sectionPostings]
	start := binary.LittleEndian.Uint64(table[number*termSize+4:])
	end := uint64(len(all))
	if number+1 < len(ix.terms) {
		end = binary.LittleEndian.Uint64(table[(number+1)*termSize+4:])
	}
	return Postings{Chunk: -1, all: all[start:end]}
}

// Next goes to the next place, and reports whether there is one.
func (p *Postings) Next() bool {
	if p.at >= len(p.all) {
		return false
	}
	delta, n := uint64(p.all[p.at]), 1
	if delta >= 0x80 {
		delta, n = binary.Uvarint(p.all[p.at:])
	}
	p.Chunk += int(delta)
	p.Payload = Payload(p.all[p.at+n])
	p.at += n + 1
	return true
}
