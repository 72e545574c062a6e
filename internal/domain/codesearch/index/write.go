package index

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"countersign.dev/internal/domain/codesearch/intern"
	"countersign.dev/internal/domain/codesearch/postings"
	"countersign.dev/internal/domain/codesearch/words"
)

// The format on disk: a header, then sections, all integers little endian.
//
//	magic [4]byte "CSIX", version u32, checksum u32 (CRC-32C of all that follows),
//	sections × (offset u64, length u64), then the sections in the order below
const (
	magic   = "CSIX"
	Version = 11

	sectionMeta     = iota - 2 // JSON of Meta
	sectionFiles               // per file: path, language, flags, lines, size, time, chunks, text, hashes
	sectionChunks              // per chunk: file, lines, bytes, words, definitions
	sectionDefined             // definitions
	sectionTerms               // the table of the terms: see package postings
	sectionTexts               // the terms' texts, in order
	sectionPostings            // per term: its list of chunks or files, with their payloads
	sectionSources             // compressed texts of the files: see package pieces
	sections

	headerSize = 12 + 16*sections
)

// Prefixes of terms that are no words: names that are defined, and parts of paths.
const (
	definedPrefix = "="
	pathPrefix    = "/"
)

func isWord(term string) bool { return term[0] != definedPrefix[0] && term[0] != pathPrefix[0] }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// merger collects the entries of all files.
type merger struct {
	meta    Meta
	files   []byte
	chunks  []byte
	defined []byte
	offset  int // of the next text

	terms   intern.Table
	lists   []list // by term
	chunk   int
	global  map[termTable][]int // of each table, the numbers of its terms, plus 1
	table   termTable           // the one of the last term
	known   []int               // and what global has of it
	texts   [][]byte
	block   []byte              // memory for short lists
	folders map[string][]string // the terms of their names
	wanted  map[string]bool     // terms; nil: all
}

// list is the postings of a term while they are collected.
type list struct {
	bytes []byte
	last  int
	n     uint32
}

// write writes the index of the entries and puts it into place.
func write(file string, meta Meta, entries []Entry) error {
	return Replace(file, merge(meta, entries).writeTo)
}

func newMerger(meta Meta) *merger {
	return &merger{meta: meta, global: map[termTable][]int{}, folders: map[string][]string{}}
}

func merge(meta Meta, entries []Entry) *merger {
	m := newMerger(meta)
	for i := range entries {
		m.add(i, &entries[i])
	}
	return m
}

// add adds the file of a number.
func (m *merger) add(number int, e *Entry) {
	b := m.files
	b = appendText(b, e.Path)
	b = appendText(b, e.Language)
	b = append(b, byte(e.Flags))
	for _, n := range []int{e.Lines, e.Size, int(e.Modified.UnixNano()), m.chunk, len(e.pieces), m.offset, len(e.text)} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	m.files = append(append(b, e.hash[:]...), e.blob[:]...)
	m.texts = append(m.texts, e.text)
	m.offset += len(e.text)
	m.path(number, e.Path)
	from := 0
	for i := range e.pieces {
		m.piece(number, e, &e.pieces[i], from)
		from = e.pieces[i].posts
	}
}

// piece adds a chunk.
func (m *merger) piece(file int, e *Entry, p *piece, from int) {
	b := m.chunks
	for _, n := range []int32{int32(file), p.Line, p.Last - p.Line, p.Start, p.End - p.Start, p.Words} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	m.chunks = binary.AppendUvarint(b, uint64(len(p.definitions)))
	for _, d := range p.definitions {
		m.define(d)
	}
	for _, post := range e.posts[from:p.posts] {
		m.post(m.numberIn(e.terms, post.term), m.chunk, post.payload)
	}
	m.chunk++
}

// define adds a definition of the current chunk.
func (m *merger) define(d Definition) {
	m.defined = appendDefinition(m.defined, d)
	m.postTerm(definedPrefix+words.Whole(d.Name), m.chunk, Payload(kindOf(d)))
}

// path adds the parts of a path: those of its folders, and those of its base.
func (m *merger) path(file int, name string) {
	folders, base := path.Split(name)
	parent := path.Base(folders)
	for folder := range strings.SplitSeq(folders, "/") {
		terms, known := m.folders[folder]
		if !known {
			terms = termsIn(folder)
			m.folders[folder] = terms
		}
		flag := InFolder
		if folder == parent {
			flag |= LastFolder | Payload(min(len(terms), maxParts))<<folderShift
		}
		for _, term := range terms {
			m.postTerm(pathPrefix+term, file, flag)
		}
	}
	terms := termsIn(strings.TrimSuffix(base, path.Ext(base)))
	for _, term := range terms {
		m.postTerm(pathPrefix+term, file, InBase|Payload(min(len(terms), maxParts))<<baseShift)
	}
}

// termsIn returns the terms of all words of a text.
func termsIn(text string) (all []string) {
	for i := 0; ; {
		start, end := words.Next([]byte(text), i)
		if start == len(text) {
			return all
		}
		i = end
		all = append(all, words.Terms(text[start:end])...)
	}
}

// number returns the number of a term, until terms are sorted.
func (m *merger) number(term string) int {
	n, known := m.terms.Number([]byte(term))
	if !known {
		m.lists = append(m.lists, list{last: -1})
	}
	return int(n)
}

// numberIn is number for a term of the entry's table, which is looked up once.
func (m *merger) numberIn(t termTable, term uint32) int {
	if t != m.table {
		m.global[m.table] = m.known
		m.table, m.known = t, m.global[t]
	}
	if int(term) >= len(m.known) {
		m.known = append(m.known, make([]int, int(term)+1-len(m.known)+1024)...)
	}
	if m.known[term] == 0 {
		m.known[term] = m.number(t.text(term)) + 1
	}
	return m.known[term] - 1
}

// postTerm adds a posting of a term, if it is wanted.
func (m *merger) postTerm(term string, position int, payload Payload) {
	if m.wanted == nil || m.wanted[term] {
		m.post(m.number(term), position, payload)
	}
}

// post adds a posting. Of two for the same position the payloads are joined.
func (m *merger) post(term, position int, payload Payload) {
	l := &m.lists[term]
	if l.last == position {
		l.bytes[len(l.bytes)-1] |= byte(payload)
		return
	}
	if cap(l.bytes)-len(l.bytes) < postings.MaxPosting {
		l.bytes = m.grown(l.bytes)
	}
	l.bytes = postings.Append(l.bytes, l.last, position, byte(payload))
	l.last = position
	l.n++
}

// What a list begins with, how long it is when it gets memory of its own, and how much
// memory lists share.
const (
	shortList  = 8
	sharedList = 1 << 10
	blockSize  = 64 << 10
)

// grown doubles the memory of a list. Most lists are short: they share blocks, and the
// garbage collector has little to look at.
func (m *merger) grown(b []byte) []byte {
	size := max(shortList, 2*cap(b))
	if size > sharedList {
		return slices.Grow(b, size-len(b))
	}
	if len(m.block) < size {
		m.block = make([]byte, blockSize)
	}
	larger := append(m.block[:0:size], b...)
	m.block = m.block[size:]
	return larger
}

// Replace writes a file in one step: beside the old one, which it then replaces. A process or
// a machine that ends at any point leaves one of them whole.
func Replace(file string, write func(*os.File) error) error {
	if err := replaced(file, write); err != nil {
		return fmt.Errorf("%s cannot be written: %w", file, plainPath(err)) // the temporary file has another name each time
	}
	return syncFolder(filepath.Dir(file))
}

func replaced(file string, write func(*os.File) error) error {
	f, err := temporary(file)
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails after the renaming
	if err = write(f); err == nil {
		err = f.Sync()
	}
	if err := cmp.Or(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), file)
}

// plainPath leaves the operation and its files out of an error.
func plainPath(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}

// syncFolder makes a renaming durable.
func syncFolder(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

func (m *merger) writeTo(f *os.File) error {
	terms, texts, lists := m.sorted()
	meta, err := json.Marshal(m.meta)
	if err != nil {
		return err
	}
	parts := [sections][][]byte{{meta}, {m.files}, {m.chunks}, {m.defined}, {terms}, {texts}, lists, m.texts}
	header := make([]byte, headerSize)
	copy(header, magic)
	binary.LittleEndian.PutUint32(header[4:], Version)
	offset := uint64(headerSize)
	for i, part := range parts {
		length := uint64(0)
		for _, b := range part {
			length += uint64(len(b))
		}
		binary.LittleEndian.PutUint64(header[12+16*i:], offset)
		binary.LittleEndian.PutUint64(header[20+16*i:], length)
		offset += length
	}
	sum := crc32.Update(0, castagnoli, header[12:])
	for _, part := range parts {
		for _, b := range part {
			sum = crc32.Update(sum, castagnoli, b)
		}
	}
	binary.LittleEndian.PutUint32(header[8:], sum)
	w := bufio.NewWriterSize(f, 1<<20)
	_, _ = w.Write(header) // a bufio.Writer keeps its first error for Flush
	for _, part := range parts {
		for _, b := range part {
			_, _ = w.Write(b)
		}
	}
	return w.Flush()
}

// sorted encodes the terms in lexical order.
func (m *merger) sorted() (table, texts []byte, lists [][]byte) {
	order := make([]uint32, len(m.lists))
	for n := range order {
		order[n] = uint32(n)
	}
	slices.SortFunc(order, func(a, b uint32) int { return strings.Compare(m.terms.Text(a), m.terms.Text(b)) })
	offset := uint64(0)
	table, lists = make([]byte, 0, postings.TermSize*len(order)), make([][]byte, 0, len(order))
	for _, n := range order {
		l := &m.lists[n]
		table = postings.AppendTerm(table, uint32(len(texts)), offset, l.n)
		texts = append(texts, m.terms.Text(n)...)
		lists = append(lists, l.bytes)
		offset += uint64(len(l.bytes))
	}
	return table, texts, lists
}

// temporary makes the file in which a new index is written before it replaces the old one.
func temporary(file string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return nil, err
	}
	removeLeftovers(file)
	return os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+".*.new")
}

// leftoverAge is how old the file of an unfinished index must be to be one that a
// killed process left, and not one that another process is writing.
const leftoverAge = time.Hour

func removeLeftovers(file string) {
	folder, base := filepath.Split(file)
	entries, _ := os.ReadDir(filepath.Clean(folder)) // they stay in one that cannot be read
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "."+base+".") || !strings.HasSuffix(e.Name(), ".new") {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > leftoverAge {
			_ = os.Remove(filepath.Join(folder, e.Name()))
		}
	}
}
