package index

import (
	"encoding/binary"
	"errors"

	"github.com/klauspost/compress/s2"
)

// Pack writes what was found in a file: its terms, and for each chunk its lines,
// bytes, words, definitions and postings. text is the file's, compressed.
func (e *Entry) Pack() (analysis, text []byte) {
	var b []byte
	numbers, from := map[uint32]int{}, 0
	var names []byte
	for _, p := range e.posts {
		if _, ok := numbers[p.term]; !ok {
			numbers[p.term] = len(numbers)
			names = appendText(names, e.terms.text(p.term))
		}
	}
	b = append(binary.AppendUvarint(b, uint64(len(numbers))), names...)
	b = binary.AppendUvarint(b, uint64(len(e.pieces)))
	for _, p := range e.pieces {
		for _, n := range []int32{p.Line, p.Last - p.Line, p.Start, p.End - p.Start, p.Words, int32(len(p.definitions)), int32(p.posts - from)} {
			b = binary.AppendUvarint(b, uint64(n))
		}
		for _, d := range p.definitions {
			b = appendDefinition(b, d)
		}
		for _, post := range e.posts[from:p.posts] {
			b = append(binary.AppendUvarint(b, uint64(numbers[post.term])), byte(post.payload))
		}
		from = p.posts
	}
	return s2.Encode(nil, b), e.text
}

// termList is a termTable of an entry that was packed.
type termList []string

func (l *termList) text(term uint32) string { return (*l)[term] }

// Unpack makes the entry of a file from what Pack wrote.
func Unpack(f File, analysis, text []byte) (e Entry, err error) {
	defer func() {
		if recover() != nil { // lengths that do not fit
			err = errDamaged
		}
	}()
	if size, err := s2.DecodedLen(text); err != nil || size != f.Size {
		return Entry{}, errDamaged
	}
	if size, err := s2.DecodedLen(analysis); err != nil || size > maxAnalysis {
		return Entry{}, errDamaged
	}
	b, err := s2.Decode(nil, analysis)
	if err != nil {
		return Entry{}, errDamaged
	}
	r := reader{b}
	e = Entry{File: f, text: text}
	names := make(termList, r.atMost(len(b)))
	for i := range names {
		names[i] = r.text()
	}
	e.terms = &names
	for range r.atMost(len(b)) {
		e.unpackPiece(&r, len(names))
	}
	if len(r.b) > 0 || e.chunks != len(e.pieces) {
		return Entry{}, errDamaged
	}
	return e, nil
}

// maxAnalysis is how much what was found in a file may be, in bytes: many times what
// the largest one can have.
const maxAnalysis = 64 << 20

func (e *Entry) unpackPiece(r *reader, terms int) {
	p := piece{Chunk: Chunk{Line: int32(r.atMost(e.Size + 1))}}
	p.Last = p.Line + int32(r.atMost(e.Size))
	p.Start = int32(r.atMost(e.Size))
	p.End = p.Start + int32(r.atMost(e.Size-int(p.Start)))
	p.Words = int32(r.atMost(e.Size))
	definitions, posts := r.atMost(len(r.b)), r.atMost(len(r.b))
	for range definitions {
		p.definitions = append(p.definitions, r.definition())
	}
	for range posts {
		term := r.atMost(terms - 1)
		e.posts = append(e.posts, post{uint32(term), Payload(r.bytes(1)[0])})
	}
	p.posts = len(e.posts)
	e.pieces = append(e.pieces, p)
}

// atMost reads a number that must not be greater.
func (r *reader) atMost(most int) int {
	n := r.int()
	if n < 0 || n > most {
		panic(errDamaged)
	}
	return n
}

// definition reads what appendDefinition wrote.
func (r *reader) definition() Definition {
	d := Definition{Name: r.text(), Of: r.text(), Line: r.int()}
	d.Type = r.bytes(1)[0] == typeKind
	return d
}

// The kinds of definitions: their payloads, too.
const (
	otherKind = 1
	typeKind  = 2
)

func appendDefinition(b []byte, d Definition) []byte {
	b = appendText(appendText(b, d.Name), d.Of)
	b = binary.AppendUvarint(b, uint64(d.Line))
	return append(b, kindOf(d))
}

func kindOf(d Definition) byte {
	if d.Type {
		return typeKind
	}
	return otherKind
}

func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// errDamaged reports a file that is not as it was written.
var errDamaged = errors.New("the index file is damaged: build it again with `countersign index`")

// reader reads what merger appends.
type reader struct{ b []byte }

func (r *reader) int() int {
	n, size := binary.Uvarint(r.b)
	if size <= 0 {
		panic(errDamaged)
	}
	r.b = r.b[size:]
	return int(n)
}

func (r *reader) bytes(n int) (b []byte) {
	b, r.b = r.b[:n], r.b[n:]
	return b
}

func (r *reader) text() string { return string(r.bytes(r.int())) }
