package intern

import (
	"encoding/binary"
	"hash/maphash"
	"math"
)

// Lists keeps a list of numbers for each of many texts. It has no pointers to them: every
// word of every file is looked up in one, millions of them are kept, and the garbage collector
// has nothing to follow. A text is beside its list, because what takes time is to wait for
// memory. The zero value is empty, and for one goroutine.
type Lists struct {
	slots   []slot // a power of two, at most half of them filled
	records []byte // the length of a text (u32), and of its list (u32), the list (u32 each), the text; little endian
	texts   int
	fetched uint32 // makes Fetch read what it fetches
}

// slot is where a text is found by its hash.
type slot struct {
	hash uint32
	at   uint32 // of its record; 0: free
}

// What records begin with: no text is at 0.
const (
	firstRecord = 1
	lengths     = 8 // bytes before a list
	minRecords  = 4 << 10
)

// Key is a text as it is looked up.
type Key struct {
	Text []byte
	hash uint32
}

var seed = maphash.MakeSeed()

// KeyOf makes the key of a text.
func KeyOf(text []byte) Key { return Key{text, uint32(maphash.Bytes(seed, text))} }

// List is the numbers of a text. It is not changed by what is added.
type List []byte

// Len is how many numbers there are.
func (l List) Len() int { return len(l) / 4 }

// At returns one of the numbers.
func (l List) At(i int) uint32 { return binary.LittleEndian.Uint32(l[4*i:]) }

// Batch is how many keys [Lists.Fetch] is best called with: what they need stays in the nearest cache.
const Batch = 64

// Fetch reads where the texts of several keys are, so that [Lists.Find] finds it in the
// nearest cache: a processor waits for many places of memory together, if it does not need one to know the next.
func (l *Lists) Fetch(keys []Key) {
	if l.texts == 0 {
		return
	}
	var at [Batch]uint32
	for len(keys) > 0 {
		n := min(len(keys), Batch)
		for i, key := range keys[:n] {
			at[i] = l.slots[int(key.hash)&(len(l.slots)-1)].at
		}
		for _, at := range at[:n] {
			l.fetched += uint32(l.records[at])
		}
		keys = keys[n:]
	}
}

// Find returns the list of a text, and whether it has one.
func (l *Lists) Find(key Key) (list List, ok bool) {
	if l.texts == 0 {
		return nil, false
	}
	mask := len(l.slots) - 1
	for i := int(key.hash) & mask; ; i = (i + 1) & mask {
		switch s := l.slots[i]; {
		case s.at == 0:
			return nil, false
		case s.hash == key.hash:
			if text, list := l.record(s.at); string(text) == string(key.Text) {
				return list, true
			}
		}
	}
}

// Add keeps the list of a text that has none, and returns it.
func (l *Lists) Add(key Key, numbers []uint32) List {
	_, list := l.record(l.add(key, numbers))
	return list
}

// add keeps the list of a text, and returns where.
func (l *Lists) add(key Key, numbers []uint32) (at uint32) {
	if 2*l.texts >= len(l.slots) {
		l.grow()
	}
	if uint64(len(l.records)) > math.MaxUint32 {
		panic("intern: texts of more than 4 GB")
	}
	l.reserve(lengths + 4*len(numbers) + len(key.Text))
	at = uint32(len(l.records))
	l.records = binary.LittleEndian.AppendUint32(l.records, uint32(len(key.Text)))
	l.records = binary.LittleEndian.AppendUint32(l.records, uint32(len(numbers)))
	for _, n := range numbers {
		l.records = binary.LittleEndian.AppendUint32(l.records, n)
	}
	l.records = append(l.records, key.Text...)
	l.texts++
	l.fill(slot{key.hash, at})
	return at
}

// reserve makes memory for a record of so many bytes. It doubles it, where append would add a
// quarter: most of its cost is the copy, and memory that was not used before.
func (l *Lists) reserve(bytes int) {
	if l.texts == 0 {
		l.records = make([]byte, firstRecord, minRecords)
	}
	if need := len(l.records) + bytes; need > cap(l.records) {
		grown := make([]byte, len(l.records), max(need, 2*cap(l.records)))
		copy(grown, l.records)
		l.records = grown
	}
}

// record reads what is kept of a text.
func (l *Lists) record(at uint32) (text []byte, list List) {
	r := l.records[at:]
	size, n := binary.LittleEndian.Uint32(r), binary.LittleEndian.Uint32(r[4:])
	r = r[lengths:]
	list, r = List(r[:4*n:4*n]), r[4*n:]
	return r[:size:size], list
}

// fill takes a free slot.
func (l *Lists) fill(s slot) {
	mask := len(l.slots) - 1
	i := int(s.hash) & mask
	for l.slots[i].at > 0 {
		i = (i + 1) & mask
	}
	l.slots[i] = s
}

// grow doubles the slots.
func (l *Lists) grow() {
	before := l.slots
	l.slots = make([]slot, max(1<<12, 2*len(before)))
	for _, s := range before {
		if s.at > 0 {
			l.fill(s)
		}
	}
}
