package checkout

import (
	"encoding/binary"
	"errors"
)

// errObject reports an object that is not there, or not as git writes it.
var errObject = errors.New("git's object cannot be read")

const maxObject = 64 << 20 // bytes

// patched makes an object of another one and a difference.
func patched(from, delta []byte) (to []byte, err error) {
	defer func() {
		if recover() != nil { // lengths that do not fit
			to, err = nil, errObject
		}
	}()
	r := difference{delta}
	if r.number() != len(from) {
		return nil, errObject
	}
	size := r.number()
	for len(r.rest) > 0 && len(to) <= size && size <= maxObject {
		code := r.bytes(1)[0]
		if code&0x80 == 0 {
			to = append(to, r.bytes(int(code))...)
			continue
		}
		var number [8]byte // four bytes of where, three of how much
		for i := range 7 {
			if code>>i&1 != 0 {
				number[i] = r.bytes(1)[0]
			}
		}
		at, n := int(binary.LittleEndian.Uint32(number[:])), int(binary.LittleEndian.Uint32(number[4:]))
		if n == 0 {
			n = 0x10000
		}
		to = append(to, from[at:at+n]...)
	}
	if len(to) != size {
		return nil, errObject
	}
	return to, nil
}

// difference is what is left of one while it is read.
type difference struct{ rest []byte }

func (d *difference) bytes(n int) (b []byte) {
	b, d.rest = d.rest[:n], d.rest[n:]
	return b
}

// number reads a size; one that is none is too large.
func (d *difference) number() int {
	n, read := binary.Uvarint(d.rest)
	if read <= 0 || n > maxObject {
		return maxObject + 1
	}
	d.rest = d.rest[read:]
	return int(n)
}
