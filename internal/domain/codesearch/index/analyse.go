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
type termTable interface{ text(term uint32) []byte }

// analyser analyses files. It is for one goroutine: it keeps the terms of every
// word that it has seen.
type analyser struct {
	names intern.Table // terms
	known intern.Lists // words as written, and the numbers of their terms
	stems intern.Lists // parts of words, and the number of its term if it has one

	batch    [intern.Batch]intern.Key // words of the current chunk
	numbers  []uint32                 // of the terms of a new word
	parts    []string                 // of that
	payloads []Payload                // by term, of the current chunk
	touched  []uint32
	posts    []post // of the current file
	packed   []byte // its text, compressed

	texts
}

func (a *analyser) text(term uint32) []byte { return a.names.Text(term) }

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
	chunks := chunk.Of(f.Language, src)
	e.pieces = make([]piece, 0, len(chunks))
	for _, c := range chunks {
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
	doc = min(doc, len(src)) // blank lines at its end are left out
	n = a.count(src[:doc], InDoc)
	return n + a.count(src[doc:], 0)
}

// count counts the terms of a text, and flags them.
func (a *analyser) count(src []byte, flag Payload) (n int) {
	for at := 0; at < len(src); {
		keys := a.batch[:0]
		for at < len(src) && len(keys) < len(a.batch) {
			var start int
			if start, at = words.Next(src, at); start == at {
				break
			}
			n++
			if word := src[start:at]; words.HasTerms(word) {
				keys = append(keys, intern.KeyOf(word))
			}
		}
		a.known.Fetch(keys)
		for _, key := range keys {
			terms := a.termsOf(key)
			for i := range terms.Len() {
				p := a.payload(terms.At(i))
				if *p&countMask < maxCount {
					*p++
				}
				*p |= flag
			}
		}
	}
	return n
}

// mark flags the terms of a name.
func (a *analyser) mark(name string, flag Payload) {
	for i := 0; i < len(name); {
		start, end := words.Next([]byte(name), i)
		i = end
		if !words.HasTerms(name[start:end]) {
			continue
		}
		terms := a.termsOf(intern.KeyOf([]byte(name[start:end])))
		for i := range terms.Len() {
			*a.payload(terms.At(i)) |= flag
		}
	}
}

// payload is that of a term in the current chunk.
func (a *analyser) payload(term uint32) *Payload {
	p := &a.payloads[term]
	if *p == 0 {
		a.touched = append(a.touched, term)
	}
	return p
}

// termsOf returns the numbers of the terms that [words.Terms] has for a word that has some.
func (a *analyser) termsOf(word intern.Key) intern.List {
	if terms, known := a.known.Find(word); known {
		return terms
	}
	written := string(word.Text)
	a.parts, a.numbers = words.AppendSplit(a.parts[:0], written), a.numbers[:0]
	if len(a.parts) > 1 {
		a.numbers = append(a.numbers, a.number(words.Whole(written)))
	}
	for _, part := range a.parts {
		a.numbers = a.appendTerm(a.numbers, part)
	}
	return a.known.Add(word, a.numbers)
}

// appendTerm appends the number of a part's term, if it has one. There are fewer parts than
// words, and to find a stem takes longer than to find a part again.
func (a *analyser) appendTerm(numbers []uint32, part string) []uint32 {
	key := intern.KeyOf([]byte(part))
	stem, known := a.stems.Find(key)
	if !known {
		var list []uint32
		if term, ok := words.Term(part); ok {
			list = append(list, a.number(term))
		}
		stem = a.stems.Add(key, list)
	}
	for i := range stem.Len() {
		numbers = append(numbers, stem.At(i))
	}
	return numbers
}

// number is that of a term.
func (a *analyser) number(term string) uint32 {
	n, known := a.names.Number([]byte(term))
	if !known {
		a.payloads = append(a.payloads, 0)
	}
	return n
}
