// Package pieces compresses a text in pieces, so that a part of a long text is read without all that is before it. A
// packed text is its compressed pieces, each after its length (uvarint); an empty one has one.
package pieces

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/klauspost/compress/s2"
)

// Size is how many bytes of a text are compressed together.
const Size = 16 << 10

// ErrDamaged reports what [Pack] did not write.
var ErrDamaged = errors.New("a compressed text is damaged")

// Pack appends a packed text.
func Pack(packed, text []byte) []byte {
	for {
		piece := text[:min(len(text), Size)]
		text = text[len(piece):]
		packed = slices.Grow(packed, maxLength+s2.MaxEncodedLen(len(piece)))
		encoded := s2.Encode(packed[len(packed)+maxLength:cap(packed)], piece) // in the memory behind the length, before which it moves
		packed = append(binary.AppendUvarint(packed, uint64(len(encoded))), encoded...)
		if len(text) == 0 {
			return packed
		}
	}
}

// maxLength is how many bytes the length of a piece has at most.
const maxLength = binary.MaxVarintLen32

// next returns the first piece of a packed text, how long it is, and what is after it.
func next(packed []byte) (piece []byte, length int, rest []byte, err error) {
	size, n := binary.Uvarint(packed)
	if n <= 0 || size > uint64(len(packed)-n) {
		return nil, 0, nil, ErrDamaged
	}
	piece, rest = packed[n:n+int(size)], packed[n+int(size):]
	if length, err = s2.DecodedLen(piece); err != nil || length > Size {
		return nil, 0, nil, ErrDamaged
	}
	return piece, length, rest, nil
}

// Part returns the bytes of a packed text from one to before another, in the memory of a slice if that is enough.
func Part(memory, packed []byte, from, to int) ([]byte, error) {
	text, first := memory[:0], 0 // first is where what is in text begins
	for at := 0; at < to; {
		piece, length, rest, err := next(packed)
		if err != nil {
			return nil, err
		}
		if at+length > from {
			if len(text) == 0 {
				first = at
			}
			text = slices.Grow(text, length)
			if _, err := s2.Decode(text[len(text):len(text)+length], piece); err != nil {
				return nil, ErrDamaged
			}
			text = text[:len(text)+length]
		}
		at, packed = at+length, rest
	}
	if from >= to {
		return text[:0], nil
	}
	return text[:copy(text, text[from-first:to-first])], nil // all of the memory is used again
}

// Len is how many bytes a packed text has.
func Len(packed []byte) (n int, err error) {
	for len(packed) > 0 {
		_, length, rest, err := next(packed)
		if err != nil {
			return 0, err
		}
		n, packed = n+length, rest
	}
	return n, nil
}
