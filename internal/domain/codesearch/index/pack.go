package index

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/klauspost/compress/s2"

	"countersign.dev/internal/domain/codesearch/pieces"
)

// Pack writes what was found in a file: for each chunk its lines, bytes, words and
// definitions, then its terms with their postings, so that a reader passes over those
// that it does not need. text is the file's, compressed.
func (e *Entry) Pack() (analysis, text []byte) {
	b := binary.AppendUvarint(nil, uint64(len(e.pieces)))
	lists := map[uint32]*termPosts{}
	var order []uint32
	from := 0
	for number, p := range e.pieces {
		for _, n := range []int32{p.Line, p.Last - p.Line, p.Start, p.End - p.Start, p.Words, int32(len(p.definitions))} {
			b = binary.AppendUvarint(b, uint64(n))
		}
		for _, d := range p.definitions {
			b = appendDefinition(b, d)
		}
		for _, post := range e.posts[from:p.posts] {
			l, ok := lists[post.term]
			if !ok {
				l = &termPosts{}
				lists[post.term], order = l, append(order, post.term)
			}
			l.bytes = append(binary.AppendUvarint(l.bytes, uint64(number-l.last)), byte(post.payload))
			l.last = number
		}
		from = p.posts
	}
	b = binary.AppendUvarint(b, uint64(len(order)))
	for _, term := range order {
		b = appendText(appendText(b, e.terms.text(term)), lists[term].bytes)
	}
	return s2.Encode(nil, b), e.text
}

// termPosts is the postings of a term while they are packed.
type termPosts struct {
	bytes []byte
	last  int // chunk
}

// termList is a termTable of an entry that was packed.
type termList [][]byte

func (l *termList) text(term uint32) []byte { return (*l)[term] }

// Unpack makes the entry of a file from what Pack wrote.
func Unpack(f File, analysis, text []byte) (Entry, error) {
	if size, err := pieces.Len(text); err != nil || size != f.Size {
		return Entry{}, ErrDamaged
	}
	e, err := unpack(f, analysis, func(string) bool { return true })
	e.text = text
	return e, err
}

// unpack makes an entry without a text, and of all terms with those alone that are
// wanted.
func unpack(f File, analysis []byte, wanted func(term string) bool) (e Entry, err error) {
	defer func() {
		if recover() != nil { // lengths that do not fit
			err = ErrDamaged
		}
	}()
	if size, err := s2.DecodedLen(analysis); err != nil || size > maxAnalysis {
		return Entry{}, ErrDamaged
	}
	b, err := s2.Decode(nil, analysis)
	if err != nil {
		return Entry{}, ErrDamaged
	}
	r := reader{b}
	e = Entry{File: f}
	for range r.atMost(len(b)) {
		e.unpackPiece(&r)
	}
	if e.chunks != len(e.pieces) {
		return Entry{}, ErrDamaged
	}
	if e.unpackPosts(&r, wanted); len(r.b) > 0 {
		return Entry{}, ErrDamaged
	}
	return e, nil
}

// maxAnalysis is how much what was found in a file may be, in bytes: many times what
// the largest one can have.
const maxAnalysis = 64 << 20

func (e *Entry) unpackPiece(r *reader) {
	p := piece{Chunk: Chunk{Line: int32(r.atMost(e.Size + 1))}}
	p.Last = p.Line + int32(r.atMost(e.Size))
	p.Start = int32(r.atMost(e.Size))
	p.End = p.Start + int32(r.atMost(e.Size-int(p.Start)))
	p.Words = int32(r.atMost(e.Size))
	for range r.atMost(len(r.b)) {
		p.definitions = append(p.definitions, r.definition())
	}
	e.pieces = append(e.pieces, p)
}

// unpackPosts reads the postings of the wanted terms and orders them by chunk.
func (e *Entry) unpackPosts(r *reader, wanted func(term string) bool) {
	var names termList
	in := make([][]post, len(e.pieces))
	for range r.atMost(len(r.b)) {
		name, list := r.bytes(r.int()), reader{r.bytes(r.int())}
		if !wanted(string(name)) {
			continue
		}
		at := 0
		for len(list.b) > 0 {
			at += list.atMost(len(in) - 1 - at)
			in[at] = append(in[at], post{uint32(len(names)), Payload(list.bytes(1)[0])})
		}
		names = append(names, bytes.Clone(name))
	}
	for i, posts := range in {
		e.posts = append(e.posts, posts...)
		e.pieces[i].posts = len(e.posts)
	}
	e.terms = &names
}

// atMost reads a number that must not be greater.
func (r *reader) atMost(most int) int {
	n := r.int()
	if n < 0 || n > most {
		panic(ErrDamaged)
	}
	return n
}

// definition reads what appendDefinition wrote.
func (r *reader) definition() Definition {
	d := Definition{Name: r.text(), Of: r.text(), Line: r.int()}
	d.Type = r.bytes(1)[0] == typeKind
	return d
}

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

func appendText[text string | []byte](b []byte, t text) []byte {
	return append(binary.AppendUvarint(b, uint64(len(t))), t...)
}

// ErrDamaged reports a file that is not as it was written.
var ErrDamaged = errors.New("the index file is damaged: build it again with `countersign index`")

// reader reads what merger appends.
type reader struct{ b []byte }

func (r *reader) int() int {
	n, size := binary.Uvarint(r.b)
	if size <= 0 {
		panic(ErrDamaged)
	}
	r.b = r.b[size:]
	return int(n)
}

func (r *reader) bytes(n int) (b []byte) {
	b, r.b = r.b[:n], r.b[n:]
	return b
}

func (r *reader) text() string { return string(r.bytes(r.int())) }
