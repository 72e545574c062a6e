// Package intern numbers texts, and keeps lists of numbers for them: the terms of a source,
// and for each of its words those that it is found by.
package intern

import "slices"

// Table numbers texts from 0 on, in the order in which they come first. The zero value is
// empty, and for one goroutine.
type Table struct {
	numbers Lists
	records []uint32 // of each text
}

// Number returns the number of a text, and whether it had one before.
func (t *Table) Number(text []byte) (n uint32, known bool) {
	key := KeyOf(text)
	if list, ok := t.numbers.Find(key); ok {
		return list.At(0), true
	}
	n = uint32(len(t.records))
	t.records = append(t.records, t.numbers.add(key, []uint32{n}))
	return n, false
}

// Text is the text of a number. It must not be changed.
func (t *Table) Text(n uint32) []byte {
	text, _ := t.numbers.record(t.records[n])
	return text
}

// Clone returns a table with the same texts, to which others can be added.
func (t *Table) Clone() Table {
	n := t.numbers
	n.slots, n.records = slices.Clone(n.slots), slices.Clip(n.records)
	return Table{n, slices.Clip(t.records)}
}

// Len is how many texts there are.
func (t *Table) Len() int { return len(t.records) }
