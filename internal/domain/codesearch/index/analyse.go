package index

import (
	"crypto/sha256"
	"strings"

	"github.com/klauspost/compress/s2"

	"countersign.dev/internal/domain/codesearch/chunk"
	"countersign.dev/internal/domain/codesearch/words"
)

// entry is a file that was analysed, or taken from the index before.
type entry struct {
	File
	text   []byte // compressed
	pieces []piece
	posts  []post // of all pieces, in order
	terms  termTable
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
	numbers map[string]uint32
	names   []string
	known   map[string][]uint32 // terms by word as written

	payloads []Payload // by term, of the current chunk
	touched  []uint32
}

func newAnalyser() *analyser {
	return &analyser{numbers: map[string]uint32{}, known: map[string][]uint32{}}
}

func (a *analyser) text(term uint32) string { return a.names[term] }

func hashOf(src []byte) (h [hashSize]byte) {
	sum := sha256.Sum256(src)
	copy(h[:], sum[:])
	return h
}

// file analyses one file.
func (a *analyser) file(f File, src []byte) entry {
	f.Size, f.hash = len(src), hashOf(src)
	e := entry{File: f, text: s2.Encode(nil, src), terms: a}
	for _, c := range chunk.Of(f.Language, src) {
		p := piece{definitions: c.Definitions, Chunk: Chunk{Line: int32(c.Line), Last: int32(c.Last), Start: int32(c.Start), End: int32(c.End)}}
		p.Words = int32(a.words(src[c.Start:c.End], c.Doc))
		for _, d := range c.Definitions {
			a.mark(d.Name, InName)
			a.mark(d.Of, InOwner)
		}
		for _, term := range a.touched {
			e.posts = append(e.posts, post{term, a.payloads[term]})
			a.payloads[term] = 0
		}
		a.touched = a.touched[:0]
		p.posts = len(e.posts)
		e.pieces = append(e.pieces, p)
	}
	e.Lines = strings.Count(string(src), "\n")
	if len(src) > 0 && src[len(src)-1] != '\n' {
		e.Lines++
	}
	return e
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
	if terms, ok := a.known[string(word)]; ok {
		return terms
	}
	var numbers []uint32
	for _, term := range words.Terms(string(word)) {
		number, ok := a.numbers[term]
		if !ok {
			number = uint32(len(a.names))
			a.numbers[term] = number
			a.names = append(a.names, term)
			a.payloads = append(a.payloads, 0)
		}
		numbers = append(numbers, number)
	}
	a.known[string(word)] = numbers
	return numbers
}
