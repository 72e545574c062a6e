// Package intern numbers texts: words of sources, and terms that these are found by.
package intern

import (
	"hash/maphash"
	"strings"
)

// Table numbers texts from 0 on, in the order in which they come first. It has no
// pointers to them: every word of every file is looked up in one, millions of them are
// kept, and the garbage collector has nothing to follow. The zero value is empty, and for
// one goroutine.
type Table struct {
	slots []slot // a power of two, at most half of them filled
	ends  []int  // of each text, where it ends in all
	all   strings.Builder
}

// slot has most of a text's hash, so that other texts are seldom read for a comparison.
type slot struct {
	hash  uint32
	after uint32 // the number, plus 1; 0: free
}

var seed = maphash.MakeSeed()

// Number returns the number of a text, and whether it had one before.
func (t *Table) Number(text []byte) (n uint32, known bool) {
	if 2*len(t.ends) >= len(t.slots) {
		t.grow()
	}
	h := maphash.Bytes(seed, text)
	s := t.slot(h, text)
	if s.after > 0 {
		return s.after - 1, true
	}
	t.all.Write(text)
	t.ends = append(t.ends, t.all.Len())
	*s = slot{uint32(h >> 32), uint32(len(t.ends))}
	return s.after - 1, false
}

// slot is that of a text, or the free one where it belongs.
func (t *Table) slot(h uint64, text []byte) *slot {
	mask, high := len(t.slots)-1, uint32(h>>32)
	for i := int(h) & mask; ; i = (i + 1) & mask {
		if s := &t.slots[i]; s.after == 0 || s.hash == high && t.Text(s.after-1) == string(text) {
			return s
		}
	}
}

// Text is the text of a number.
func (t *Table) Text(n uint32) string {
	first := 0
	if n > 0 {
		first = t.ends[n-1]
	}
	return t.all.String()[first:t.ends[n]]
}

// grow doubles the slots.
func (t *Table) grow() {
	t.slots = make([]slot, max(1<<12, 2*len(t.slots)))
	mask := len(t.slots) - 1
	for n := range t.ends {
		h := maphash.String(seed, t.Text(uint32(n)))
		i := int(h) & mask
		for t.slots[i].after > 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = slot{uint32(h >> 32), uint32(n + 1)}
	}
}
