package index

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"maps"
	"slices"
	"strings"

	"countersign.dev/internal/domain/codesearch/chunk"
	"countersign.dev/internal/domain/codesearch/intern"
	"countersign.dev/internal/domain/codesearch/pieces"
	"countersign.dev/internal/domain/codesearch/words"
)

// Entry is a file that was analysed, or taken from the index before.
type Entry struct {
	File
	Kept bool // its contents are those of a file in the index before: nothing below is filled

	text   []byte // compressed
	pieces []piece
	posts  []post // of all pieces, in order
	terms  termTable

	from int // the number of that file
}

// extent is the number of the file's chunks, and of the words in them.
func (e *Entry) extent() (chunks, words int) {
	if e.Kept {
		return e.chunks, e.words
	}
	for _, p := range e.pieces {
		words += int(p.Words)
	}
	return len(e.pieces), words
}

// total counts what the files of an index have together.
func (m *Meta) total(entries []Entry) {
	lines := map[string]int{} // by language
	m.Files = len(entries)
	for i := range entries {
		chunks, words := entries[i].extent()
		m.Lines += entries[i].Lines
		m.Words += words
		m.Chunks += chunks
		lines[entries[i].Language] += entries[i].Lines
	}
	delete(lines, "")
	m.Languages = slices.SortedFunc(maps.Keys(lines), func(a, b string) int {
		return cmp.Or(cmp.Compare(lines[b], lines[a]), strings.Compare(a, b))
	})
}

type piece struct {
	Chunk
	definitions []Definition
	posts       int // the end of its posts in those of the file
}

// post is a term in a chunk, by its number in the entry's table of terms.
type post struct {
	term    uint32
	payload Payload
}

// termTable says which term has a number.
type termTable interface{ text(term uint32) string }

// analyser analyses files. It is for one goroutine: it keeps the terms of every
// word that it has seen.
type analyser struct {
	names intern.Table // terms
	known intern.Table // words as written
	terms []uint32     // of all these, one after the other
	ends  []int        // of each, where its terms end

	payloads []Payload // by term, of the current chunk
	touched  []uint32
	posts    []post // of the current file
	packed   []byte // its text, compressed

	rules
	texts
}

func (a *analyser) text(term uint32) string { return a.names.Text(term) }

func hashOf(src []byte) (h [hashSize]byte) {
	sum := sha256.Sum256(src)
	copy(h[:], sum[:])
	return h
}

// file analyses one file.
func (a *analyser) file(f File, src []byte) Entry {
	f.Size, f.hash = len(src), hashOf(src)
	e := Entry{File: f, text: a.compressed(src), terms: a}
	a.posts = a.posts[:0]
	for _, c := range chunk.Of(f.Language, src) {
		p := piece{definitions: c.Definitions, Chunk: Chunk{Line: int32(c.Line), Last: int32(c.Last), Start: int32(c.Start), End: int32(c.End)}}
		p.Words = int32(a.words(src[c.Start:c.End], c.Doc))
		for _, d := range c.Definitions {
			a.mark(d.Name, InName)
			a.mark(d.Of, InOwner)
		}
		for _, term := range a.touched {
			a.posts = append(a.posts, post{term, a.payloads[term]})
			a.payloads[term] = 0
		}
		a.touched = a.touched[:0]
		p.posts = len(a.posts)
		e.pieces = append(e.pieces, p)
	}
	e.posts = slices.Clone(a.posts)
	e.Lines = bytes.Count(src, []byte("\n"))
	if len(src) > 0 && src[len(src)-1] != '\n' {
		e.Lines++
	}
	return e
}

// compressed is a text in as much memory as it needs.
func (a *analyser) compressed(src []byte) []byte {
	a.packed = pieces.Pack(a.packed[:0], src)
	return bytes.Clone(a.packed)
}

// words counts the terms of a chunk and returns the number of its words. The
// first doc bytes are the comment of its declaration.
func (a *analyser) words(src []byte, doc int) (n int) {
	for i := 0; ; {
		start, end := words.Next(src, i)
		if start == len(src) {
			return n
		}
		i = end
		n++
		for _, term := range a.termsOf(src[start:end]) {
			p := &a.payloads[term]
			if *p == 0 {
				a.touched = append(a.touched, term)
			}
			if *p&countMask < maxCount {
				*p++
			}
			if start < doc {
				*p |= InDoc
			}
		}
	}
}

// mark flags the terms of a name.
func (a *analyser) mark(name string, flag Payload) {
	for i := 0; i < len(name); {
		start, end := words.Next([]byte(name), i)
		i = end
		for _, term := range a.termsOf([]byte(name[start:end])) {
			if a.payloads[term] == 0 {
				a.touched = append(a.touched, term)
			}
			a.payloads[term] |= flag
		}
	}
}

// termsOf returns the numbers of a word's terms.
func (a *analyser) termsOf(word []byte) []uint32 {
	if len(word) > words.MaxWord {
		return nil
	}
	n, known := a.known.Number(word)
	if !known {
		for _, term := range words.Terms(string(word)) {
			number, known := a.names.Number([]byte(term))
			if !known {
				a.payloads = append(a.payloads, 0)
			}
			a.terms = append(a.terms, number)
		}
		a.ends = append(a.ends, len(a.terms))
	}
	first := 0
	if n > 0 {
		first = a.ends[n-1]
	}
	return a.terms[first:a.ends[n]]
}
