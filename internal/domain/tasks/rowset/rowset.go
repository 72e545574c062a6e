// Package rowset has sets of the rows of a table, by their numbers, which are joined
// and counted without reading a row. A set is stored in spans, each one a value of a
// row of its own. It knows no store. Start with [Set].
package rowset

import (
	"encoding/binary"
	"maps"
	"math/bits"
	"slices"
)

// SpanRows is how many numbers of rows a span has. The store's schema has it as 14 bits.
const SpanRows = 16384

// span is which rows of a span are in a set, a bit for each.
type span [SpanRows / 64]uint64

// Set is a set of rows, by their numbers: the spans that have any of them.
type Set map[int64]*span

// Add adds a row.
func (s Set) Add(id int64) {
	at := id / SpanRows
	if s[at] == nil {
		s[at] = new(span)
	}
	s[at].put(int(id % SpanRows))
}

// Unpack adds the rows of a stored span, which is the one with a number.
func (s Set) Unpack(at int64, packed []byte) {
	if len(packed) == 0 {
		return
	}
	if s[at] == nil {
		s[at] = new(span)
	}
	s[at].unpack(packed)
}

// Packed is the stored span with a number; of an empty one it is nil.
func (s Set) Packed(at int64) []byte {
	if s[at] == nil {
		return nil
	}
	return s[at].pack()
}

// Join adds the rows of another set.
func (s Set) Join(other Set) {
	for at, theirs := range other {
		if s[at] == nil {
			s[at] = new(span)
		}
		for i := range theirs {
			s[at][i] |= theirs[i]
		}
	}
}

// Take removes the rows that another set has, and returns them.
func (s Set) Take(other Set) Set {
	taken := Set{}
	for at, ours := range s {
		theirs := other[at]
		if theirs == nil {
			continue
		}
		both, some, left := new(span), uint64(0), uint64(0)
		for i := range ours {
			both[i] = ours[i] & theirs[i]
			ours[i] &^= theirs[i]
			some |= both[i]
			left |= ours[i]
		}
		if some != 0 {
			taken[at] = both
		}
		if left == 0 {
			delete(s, at)
		}
	}
	return taken
}

// Len is how many rows it has.
func (s Set) Len() (rows int) {
	for _, ours := range s {
		rows += ours.len()
	}
	return rows
}

// Last returns rows from the greatest number down, without the first skip of them.
func (s Set) Last(skip, limit int) (ids []int64) {
	for _, at := range slices.Backward(slices.Sorted(maps.Keys(s))) {
		if n := s[at].len(); skip >= n {
			skip -= n
			continue
		}
		for _, row := range slices.Backward(s[at].rows()) {
			if skip--; skip >= 0 {
				continue
			}
			if ids = append(ids, at*SpanRows+int64(row)); len(ids) == limit {
				return ids
			}
		}
	}
	return ids
}

func (s *span) put(row int) { s[row/64] |= 1 << (row % 64) }

func (s *span) len() (rows int) {
	for _, some := range s {
		rows += bits.OnesCount64(some)
	}
	return rows
}

func (s *span) rows() (rows []int) {
	for i, some := range s {
		for ; some != 0; some &= some - 1 {
			rows = append(rows, 64*i+bits.TrailingZeros64(some))
		}
	}
	return rows
}

// A span is stored as the list of its rows, two bytes each, or as its bits when that is
// shorter.

func (s *span) pack() []byte {
	if s.len() < SpanRows/16 {
		return packList(s.rows())
	}
	packed := make([]byte, 0, SpanRows/8)
	for _, some := range s {
		packed = binary.LittleEndian.AppendUint64(packed, some)
	}
	return packed
}

func packList(rows []int) []byte {
	if len(rows) == 0 {
		return nil
	}
	packed := make([]byte, 0, 2*len(rows))
	for _, row := range rows {
		packed = binary.LittleEndian.AppendUint16(packed, uint16(row))
	}
	return packed
}

// Pack is the stored span of some rows; of none it is nil.
func Pack(rows []int) []byte {
	slices.Sort(rows)
	if rows = slices.Compact(rows); len(rows) < SpanRows/16 {
		return packList(rows)
	}
	var s span
	for _, row := range rows {
		s.put(row)
	}
	return s.pack()
}

// unpack adds the rows of a stored span.
func (s *span) unpack(packed []byte) {
	if len(packed) == SpanRows/8 {
		for i := range s {
			s[i] |= binary.LittleEndian.Uint64(packed[8*i:])
		}
		return
	}
	for ; len(packed) > 1; packed = packed[2:] {
		s.put(int(binary.LittleEndian.Uint16(packed) % SpanRows))
	}
}

// Put adds a row to a stored span; nil is an empty one.
func Put(packed []byte, row int) []byte {
	var s span
	s.unpack(packed)
	s.put(row)
	return s.pack()
}

// Cut removes a row from a stored span. What is left of the last one is nil.
func Cut(packed []byte, row int) []byte {
	var s span
	s.unpack(packed)
	s[row/64] &^= 1 << (row % 64)
	return s.pack()
}

// Less is what is in a stored span and not in another one. What is left of the last row
// is nil.
func Less(packed, other []byte) []byte {
	var s, less span
	s.unpack(packed)
	less.unpack(other)
	for i := range s {
		s[i] &^= less[i]
	}
	return s.pack()
}

// Join is what is in one of two stored spans.
func Join(packed, other []byte) []byte {
	var s span
	s.unpack(packed)
	s.unpack(other)
	return s.pack()
}
