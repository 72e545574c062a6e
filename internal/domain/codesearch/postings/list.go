package postings

import "encoding/binary"

// List walks over the places of a term, in order. P is what the byte of a place says.
type List[P ~uint8] struct {
	Chunk   int // whose number it is; -1 before the first
	Payload P

	all []byte
	at  int // of the next place in all
}

// Of returns the list of what [Append] wrote.
func Of[P ~uint8](all []byte) List[P] { return List[P]{Chunk: -1, all: all} }

// Append appends a place to a list whose last place is known; -1: it has none.
func Append(list []byte, last, at int, payload byte) []byte {
	return append(binary.AppendUvarint(list, uint64(at-last)), payload)
}

// MaxPosting is how many bytes a place takes at most.
const MaxPosting = binary.MaxVarintLen32 + 1

// Next goes to the next place, and reports whether there is one.
func (l *List[P]) Next() bool {
	if l.at >= len(l.all) {
		return false
	}
	delta, n := uint64(l.all[l.at]), 1
	if delta >= 0x80 {
		delta, n = binary.Uvarint(l.all[l.at:])
	}
	l.Chunk += int(delta)
	l.Payload = P(l.all[l.at+n])
	l.at += n + 1
	return true
}

// Posting is one place of a term.
type Posting[P ~uint8] struct {
	Chunk   int32
	Payload P
}

// Before reads the next places that are before a chunk, as many as there is room for, and returns how many it read. It
// is faster than [List.Next] for many, and leaves Payload as it is.
func (l *List[P]) Before(end int, into []Posting[P]) (n int) {
	all, at, chunk := l.all, l.at, l.Chunk
	for at < len(all) && n < len(into) {
		delta, size := int(all[at]), 1
		if delta >= 0x80 {
			long, bytes := binary.Uvarint(all[at:])
			delta, size = int(long), bytes
		}
		if chunk+delta >= end {
			break
		}
		chunk += delta
		into[n] = Posting[P]{int32(chunk), P(all[at+size])}
		n++
		at += size + 1
	}
	l.at, l.Chunk = at, chunk
	return n
}
