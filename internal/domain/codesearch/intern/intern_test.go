package intern

import (
	"fmt"
	"testing"
)

// TestTextsKeepTheirNumbers while the table grows, and whatever their hashes have in common.
func TestTextsKeepTheirNumbers(t *testing.T) {
	var table Table
	text := func(i int) string { return fmt.Sprintf("%d", i*i) }
	const texts = 20_000
	for _, again := range []bool{false, true} {
		for i := range texts {
			if n, known := table.Number([]byte(text(i))); int(n) != i || known != again {
				t.Fatalf("%s: %d, %t", text(i), n, known)
			}
		}
	}
	if len(table.ends) != texts || table.Text(0) != "0" || table.Text(texts-1) != text(texts-1) {
		t.Errorf("%d texts, %q, %q", len(table.ends), table.Text(0), table.Text(texts-1))
	}
	if n, known := table.Number(nil); int(n) != texts || known || table.Text(n) != "" {
		t.Errorf("the empty text: %d, %t", n, known)
	}
}

// TestNumbersAreOfTextsNotOfHashes: in one slot after another, texts with the same part of a hash differ.
func TestNumbersAreOfTextsNotOfHashes(t *testing.T) {
	var table Table
	table.grow()
	first := table.slot(7, []byte("one"))
	table.all.WriteString("one")
	table.ends = append(table.ends, table.all.Len())
	*first = slot{0, 1}
	if table.slot(7, []byte("one")) != first {
		t.Error("a text is not found by its hash")
	}
	if other := table.slot(7, []byte("two")); other == first || other.after != 0 {
		t.Errorf("%+v: another text has the slot", other)
	}
}
