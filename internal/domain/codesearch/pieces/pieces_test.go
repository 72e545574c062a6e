package pieces

import (
	"bytes"
	"errors"
	"testing"
)

// FuzzText: a text is unpacked as it was packed, whole and in part, and no bytes make unpacking fail otherwise
// than with an error.
func FuzzText(f *testing.F) {
	long := bytes.Repeat([]byte("the first line is not the last\n"), 2000)
	for _, text := range [][]byte{nil, []byte("short"), long, long[:Size], long[:Size+1], long[:2*Size]} {
		f.Add(text, uint16(0), uint16(len(text)))
		f.Add(text, uint16(len(text)/2), uint16(len(text)/3))
		f.Add(Pack(nil, text), uint16(3), uint16(9))
	}
	f.Fuzz(func(t *testing.T, text []byte, from, length uint16) {
		packed := Pack(nil, text)
		if size, err := Len(packed); err != nil || size != len(text) {
			t.Fatalf("%d bytes are said to be %d (%v)", len(text), size, err)
		}
		a := min(int(from), len(text))
		b := min(a+int(length), len(text))
		got, err := Part(make([]byte, 7), packed, a, b)
		if err != nil || !bytes.Equal(got, text[a:b]) {
			t.Fatalf("%d to %d of %d: %d bytes, %v", a, b, len(text), len(got), err)
		}
		if got, err := Part(nil, packed, 0, len(text)+1); !errors.Is(err, ErrDamaged) {
			t.Fatalf("more than there is: %d bytes, %v", len(got), err)
		}
		if got, err := Part(got, text, a, b); err == nil && len(got) != b-a {
			t.Fatalf("any bytes: %d, not %d", len(got), b-a)
		}
	})
}
