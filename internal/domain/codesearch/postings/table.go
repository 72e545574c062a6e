package postings

import (
	"bytes"
	"encoding/binary"
	"slices"
	"sort"
)

// TermSize is how many bytes of the table a term has: the offset of its text (u32) and of its list (u64), and how many
// places it is at (u32), little endian.
const TermSize = 16

// Table is the terms of an index.
type Table struct {
	table, texts, lists []byte
	heads               []uint64 // of every so many terms
}

// headed is of how many terms one has its head in memory: to look a term up among all would wait for memory too often.
const headed = 32

// NewTable reads a table. The slices must not change.
func NewTable(table, texts, lists []byte) Table {
	t := Table{table: table, texts: texts, lists: lists}
	for i := 0; i < t.Len(); i += headed {
		t.heads = append(t.heads, Head(t.Text(i)))
	}
	return t
}

// AppendTerm appends the row of a term to a table.
func AppendTerm(table []byte, text uint32, list uint64, places uint32) []byte {
	table = binary.LittleEndian.AppendUint32(table, text)
	table = binary.LittleEndian.AppendUint64(table, list)
	return binary.LittleEndian.AppendUint32(table, places)
}

// Len is how many terms there are.
func (t *Table) Len() int { return len(t.table) / TermSize }

// Text returns the text of a term. It must not be changed.
func (t *Table) Text(number int) []byte {
	end := uint32(len(t.texts))
	if number+1 < t.Len() {
		end = binary.LittleEndian.Uint32(t.table[(number+1)*TermSize:])
	}
	return t.texts[binary.LittleEndian.Uint32(t.table[number*TermSize:]):end]
}

// Frequency is at how many places a term is.
func (t *Table) Frequency(number int) int {
	return int(binary.LittleEndian.Uint32(t.table[number*TermSize+12:]))
}

// List returns the places of a term: see [Of].
func (t *Table) List(number int) []byte {
	end := uint64(len(t.lists))
	if number+1 < t.Len() {
		end = binary.LittleEndian.Uint64(t.table[(number+1)*TermSize+4:])
	}
	return t.lists[binary.LittleEndian.Uint64(t.table[number*TermSize+4:]):end]
}

// Find finds a term by its text.
func (t *Table) Find(text string) (number int, ok bool) {
	number = t.from(text)
	return number, number < t.Len() && string(t.Text(number)) == text
}

// Beginning returns the terms that begin with a prefix, at most limit, in lexical order.
func (t *Table) Beginning(prefix string, limit int) (numbers []int) {
	for i := t.from(prefix); i < t.Len() && len(numbers) < limit && bytes.HasPrefix(t.Text(i), []byte(prefix)); i++ {
		numbers = append(numbers, i)
	}
	return numbers
}

// from returns the first term that is not before a text.
func (t *Table) from(text string) int {
	head := Head(text)
	above, _ := slices.BinarySearch(t.heads, head)
	below := above - 1 // before the text, because its head is
	for above < len(t.heads) && t.heads[above] == head {
		above++
	}
	first, end := max(0, below*headed), min(above*headed, t.Len())
	return first + sort.Search(end-first, func(i int) bool { return string(t.Text(first+i)) >= text })
}

// Head is the beginning of a text as a number: of two texts with different heads, the one with the lesser head is first.
func Head[text string | []byte](of text) (head uint64) {
	for i := range 8 {
		head <<= 8
		if i < len(of) {
			head |= uint64(of[i])
		}
	}
	return head
}
