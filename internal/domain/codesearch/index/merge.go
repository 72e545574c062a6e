package index

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"path"
	"slices"
	"strings"

	"countersign.dev/internal/domain/codesearch/intern"
	"countersign.dev/internal/domain/codesearch/postings"
	"countersign.dev/internal/domain/codesearch/words"
)

// Prefixes of terms that are no words: names that are defined, and parts of paths.
const (
	definedPrefix = "="
	pathPrefix    = "/"
)

func isWord(term []byte) bool { return term[0] != definedPrefix[0] && term[0] != pathPrefix[0] }

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
	global  map[termTable][]uint32 // of each table, the numbers of its terms, plus 1
	table   termTable              // the one of the last term
	known   []uint32               // and what global has of it
	numbers [intern.Batch]uint32   // of the terms of a chunk, some at a time
	fetched byte                   // makes fetch read what it fetches
	texts   [][]byte
	block   []byte              // memory for short lists
	term    []byte              // that is looked up
	folders map[string][]string // the terms of their names
	wanted  map[string]bool     // terms; nil: all
}

// list is the postings of a term while they are collected.
type list struct {
	bytes []byte
	next  int // after the last place
	n     uint32
}

func newMerger(meta Meta) *merger {
	return &merger{meta: meta, global: map[termTable][]uint32{}, folders: map[string][]string{}}
}

// merge merges entries. Of a large repository that takes seconds: it stops when the context ends.
func merge(ctx context.Context, meta Meta, entries []Entry) (*merger, error) {
	m := newMerger(meta)
	m.takeOver(entries)
	for i := range entries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		m.add(i, &entries[i])
	}
	return m, nil
}

// takeOver begins with the terms of an analyser, so that these are not looked up again.
func (m *merger) takeOver(entries []Entry) {
	for i := range entries {
		if a, ok := entries[i].terms.(*analyser); ok {
			m.terms, m.lists = a.names.Clone(), make([]list, a.names.Len())
			m.table, m.known = a, make([]uint32, a.names.Len())
			for n := range m.known {
				m.known[n] = uint32(n) + 1
			}
			return
		}
	}
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
	for posts := range slices.Chunk(e.posts[from:p.posts], len(m.numbers)) {
		numbers := m.numbers[:len(posts)]
		for i, post := range posts {
			numbers[i] = m.numberIn(e.terms, post.term)
		}
		m.fetch(numbers)
		for i, post := range posts {
			m.post(numbers[i], m.chunk, post.payload)
		}
	}
	m.chunk++
}

// fetch reads the ends of lists, so that what is appended to them finds these in the nearest
// cache: see [intern.Lists.Fetch].
func (m *merger) fetch(lists []uint32) {
	for _, n := range lists {
		if b := m.lists[n].bytes; len(b) > 0 {
			m.fetched += b[len(b)-1]
		}
	}
}

// define adds a definition of the current chunk.
func (m *merger) define(d Definition) {
	m.defined = appendDefinition(m.defined, d)
	m.postTerm(definedPrefix, words.Whole(d.Name), m.chunk, Payload(kindOf(d)))
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
			m.postTerm(pathPrefix, term, file, flag)
		}
	}
	terms := termsIn(strings.TrimSuffix(base, path.Ext(base)))
	for _, term := range terms {
		m.postTerm(pathPrefix, term, file, InBase|Payload(min(len(terms), maxParts))<<baseShift)
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
func (m *merger) number(term []byte) uint32 {
	n, known := m.terms.Number(term)
	if !known {
		m.lists = append(m.lists, list{})
	}
	return n
}

// numberIn is number for a term of the entry's table, which is looked up once.
func (m *merger) numberIn(t termTable, term uint32) uint32 {
	if t != m.table {
		m.global[m.table] = m.known
		m.table, m.known = t, m.global[t]
	}
	if int(term) >= len(m.known) {
		m.known = append(m.known, make([]uint32, int(term)+1-len(m.known)+1024)...)
	}
	if m.known[term] == 0 {
		m.known[term] = m.number(t.text(term)) + 1
	}
	return m.known[term] - 1
}

// postTerm adds a posting of a term with a prefix, if it is wanted.
func (m *merger) postTerm(prefix, term string, position int, payload Payload) {
	m.term = append(append(m.term[:0], prefix...), term...)
	if m.wanted == nil || m.wanted[string(m.term)] {
		m.post(m.number(m.term), position, payload)
	}
}

// post adds a posting. Of two for the same position the payloads are joined.
func (m *merger) post(term uint32, position int, payload Payload) {
	l := &m.lists[term]
	if l.next == position+1 {
		l.bytes[len(l.bytes)-1] |= byte(payload)
		return
	}
	if cap(l.bytes)-len(l.bytes) < postings.MaxPosting {
		l.bytes = m.grown(l.bytes)
	}
	l.bytes = postings.Append(l.bytes, l.next-1, position, byte(payload))
	l.next = position + 1
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

// sorted encodes the terms in lexical order.
func (m *merger) sorted() (table, texts []byte, lists [][]byte) {
	type term struct {
		head   uint64 // most of what decides the order, without a look at the text
		number uint32
	}
	order := make([]term, 0, len(m.lists))
	for n := range m.lists {
		if m.lists[n].n > 0 { // it is the term of a word in the index
			order = append(order, term{postings.Head(m.terms.Text(uint32(n))), uint32(n)})
		}
	}
	slices.SortFunc(order, func(a, b term) int {
		if a.head != b.head {
			return cmp.Compare(a.head, b.head)
		}
		return bytes.Compare(m.terms.Text(a.number), m.terms.Text(b.number))
	})
	offset := uint64(0)
	table, lists = make([]byte, 0, postings.TermSize*len(order)), make([][]byte, 0, len(order))
	for _, t := range order {
		l := &m.lists[t.number]
		table = postings.AppendTerm(table, uint32(len(texts)), offset, l.n)
		texts = append(texts, m.terms.Text(t.number)...)
		lists = append(lists, l.bytes)
		offset += uint64(len(l.bytes))
	}
	return table, texts, lists
}
